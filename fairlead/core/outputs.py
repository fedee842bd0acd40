"""What the engine writes, as values: one class for each record kind of the output topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Process, Source

ENTRIES_PER_PART = 126
"""So many entries of the longest names, each with one gate, stay below the limit of 512 KiB."""

__all__ = [
    "ENTRIES_PER_PART",
    "Add",
    "After",
    "Assignment",
    "Cause",
    "Cut",
    "Decision",
    "Drop",
    "Failure",
    "Gone",
    "GroupSummary",
    "Holding",
    "Move",
    "Notice",
    "Origin",
    "Output",
    "Rejection",
    "Request",
    "Stage",
    "What",
]


@dataclass(frozen=True, slots=True)
class After:
    """A grant that may still be worked on: its successor waits for this release."""

    member: MemberKey
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class Drop:
    """Stop work on this queue, then release it.

    ``successor``: the client id of who is granted it in the same decision and waits for that
    release; None: nobody yet. ``linger_ms``: so long the member works on before it stops.
    """

    queue: MessageQueue
    epoch: Epoch
    successor: str | None = None
    linger_ms: int = 0


@dataclass(frozen=True, slots=True)
class Add:
    """Start at ``position`` once everything in ``after`` is released.

    The same epoch with a shorter list is a grant. ``identity``: the life of its topic that
    ``position`` is of; its member says it with every position that it tells.
    """

    queue: MessageQueue
    epoch: Epoch
    position: Position
    why: str
    after: tuple[After, ...]
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """One entry of a member's whole set.

    ``position``, ``why``, ``after`` and ``identity`` stand only in gated entries.
    """

    queue: MessageQueue
    epoch: Epoch
    state: Literal["held", "draining", "gated"]
    position: Position | None = None
    why: str | None = None
    after: tuple[After, ...] = ()
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """An event that led to a decision.

    ``kind`` is a word of the protocol's list, ``at`` the record that told it; ``client_id``,
    ``topic`` and ``queue`` say whom it concerns. Of a rule also: its name, ``group`` if it is a
    rule of every group (``*``), whether it was ``removed``, ``by`` whom, and ``because`` of what.
    """

    kind: str
    client_id: str | None = None
    topic: str | None = None
    at: Source | None = None
    queue: MessageQueue | None = None
    rule: str | None = None
    group: str | None = None
    removed: bool = False
    by: str | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """Everything one member needs: the change and its whole set.

    ``parts`` is how many records it is cut into, ``parts_before`` how many its previous one had:
    the rest get a null. Part i holds entries ``i * ENTRIES_PER_PART`` and following of each of
    ``drop``, ``add`` and ``assigned``.
    """

    group: str
    member: MemberKey
    generation: int
    epoch: Epoch
    drop: tuple[Drop, ...]
    add: tuple[Add, ...]
    assigned: tuple[Holding, ...]
    cause: tuple[Cause, ...]
    at_ms: int
    parts: int = 1
    parts_before: int = 0


@dataclass(frozen=True, slots=True)
class Gone:
    """A member is no more.

    Its assignment record, which has so many parts, and its notice (if told) are deleted.
    """

    group: str
    member: MemberKey
    parts: int = 1
    notice: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a member must be told that is no assignment.

    ``reason``: of a notice ``waiting`` why it has less than it wants, in one word; None: nothing
    keeps it any more.
    """

    group: str
    member: MemberKey
    generation: int
    code: str
    message: str
    winner: Process | None
    at_ms: int
    reason: str | None = None


Stage = Literal["dropped", "gated", "granted", "resolved"]
"""How far one queue has come in its handover."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step of one queue's handover inside a decision."""

    queue: MessageQueue
    stage: Stage
    member: MemberKey
    epoch: Epoch
    position: Position | None = None
    why: str | None = None
    unsafe: bool = False
    """An add for which somebody is not waited who may still be working."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A topic whose allocation failed and keeps its last assignment."""

    topic: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """Where a group stands after a decision."""

    phase: str
    queues: int
    unassigned: int
    in_handover: int
    pending: int
    unsafe: int = 0
    """Queues that may have two owners: somebody is not waited for."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a shard's state began after a loss: by which driver, and from where it read.

    ``begin`` names the partitions that were not read from their first record.
    """

    generation: int
    begin: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """What had been read: by which generation, after how many cuts with a decision.

    Up to which end positions.
    """

    generation: int
    shard: int
    step: int
    positions: Mapping[str, Mapping[int, int]]
    """topic -> partition -> next offset to read."""
    begin: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """The same before the batch; batches without a decision lie between two cuts."""
    origin: Origin | None = None
    """None: the state began with the first driver."""

    def end_of(self, topic: str, partition: int) -> int:
        """Return the offset up to which a partition had been read; 0: nothing of it."""
        return self.positions.get(topic, {}).get(partition, 0)


@dataclass(frozen=True, slots=True)
class Decision:
    """The audit record of everything that one step of one group wrote."""

    group: str
    epoch: Epoch
    previous_epoch: Epoch
    triggers: tuple[str, ...]
    cause: tuple[Cause, ...]
    strategy: str
    members: tuple[str, ...]
    moves: tuple[Move, ...]
    state: GroupSummary
    failures: tuple[Failure, ...]
    alarms: tuple[str, ...]
    clock_ms: int
    at_ms: int
    cut: Cut


What = Literal["route", "offsets", "retry", "forgotten"]
"""What bridges are asked for, or told.

``retry``: the route of the group's own retry topic, which is made if it is not there.
``forgotten``: the group is no more; its retry topic has no reader.
"""


@dataclass(frozen=True, slots=True)
class Request:
    """The group needs a route or offsets that no bridge has told it, or its retry topic.

    ``queues`` None means all of the topic.
    """

    group: str
    what: What
    topic: str
    queues: tuple[MessageQueue, ...] | None
    consume_timestamp_ms: int | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that was understood but is refused by the state of its group."""

    source: Source
    reason: str
    field: str | None
    detail: str
    remedy: str


Output = Assignment | Gone | Notice | Decision | Request | Rejection
