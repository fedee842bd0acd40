"""What the engine writes, as values: one class for each record kind of the output topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Process, Source

ENTRIES_PER_PART = 126
"""So many entries with the longest names and one gate each stay below the limit of 512 KiB."""

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

    ``successor``: the client that gets it in the same decision and waits for the release; None:
    nobody yet. ``linger_ms``: so long the member works on before it stops.
    """

    queue: MessageQueue
    epoch: Epoch
    successor: str | None = None
    linger_ms: int = 0


@dataclass(frozen=True, slots=True)
class Add:
    """Start at ``position`` once everything in ``after`` is released.

    The same epoch with a shorter list opens gates. ``identity`` is that of the topic; the member
    names it with every position that it reports.
    """

    queue: MessageQueue
    epoch: Epoch
    position: Position
    why: str
    after: tuple[After, ...]
    identity: str | None = None
    former: bool = False
    """Its member held the queue already when the engine took the group over: it goes on."""


@dataclass(frozen=True, slots=True)
class Holding:
    """One entry of a member's whole set; only gated entries have the fields after ``state``."""

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

    ``kind`` is a word of the protocol's list, ``at`` its record; ``client_id``, ``topic`` and
    ``queue`` say whom it concerns. A rule also has its name, ``group`` if it is for all groups
    (``*``), ``removed``, ``by`` whom, and ``because`` of what.
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
    """Everything that one member needs: the change and its whole set.

    It has ``parts`` records; ``parts_before`` is their number last time, and the rest get a null.
    Part i has the entries from ``i * ENTRIES_PER_PART`` on of ``drop``, ``add`` and ``assigned``.
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
    standby: Literal["follow", "freeze"] | None = None
    """What a member does that stands by: it has no grants. None: it has those of ``assigned``."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A member is gone: delete the parts of its assignment, and its notice if it has one."""

    group: str
    member: MemberKey
    parts: int = 1
    notice: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to a member that is no assignment.

    ``reason``: in a notice ``waiting``, why it has less than it wants, in one word; None: that
    reason is over.
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
"""The stage of one queue in its handover."""


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
    """An add that does not wait for a member that may still be working."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A topic whose allocation failed and keeps its last assignment."""

    topic: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A group's phase and counts after a decision."""

    phase: str
    queues: int
    unassigned: int
    in_handover: int
    pending: int
    unsafe: int = 0
    """Queues that may have two owners, as nobody waits for one of them."""
    footing: str | None = None
    """Who shares the queues out, a word of the protocol; None: the engine always did."""
    exclusive: bool = True
    """False: the engine cannot tell that no queue has two owners: others share them out too."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The beginning of a shard's state after a loss: its driver, and where that began to read.

    ``begin`` has the partitions that it did not read from their first record.
    """

    generation: int
    begin: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """What a batch with a decision had read: its driver, the number of cuts, end positions."""

    generation: int
    shard: int
    step: int
    positions: Mapping[str, Mapping[int, int]]
    """topic -> partition -> next offset to read."""
    begin: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    """The positions before the batch; batches without a decision lie between two cuts."""
    origin: Origin | None = None
    """None: the state began with the first driver."""

    def end_of(self, topic: str, partition: int) -> int:
        """Return the offset up to which a partition was read; 0: nothing of it."""
        return self.positions.get(topic, {}).get(partition, 0)


@dataclass(frozen=True, slots=True)
class Decision:
    """The audit record of everything that one step of one group writes."""

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


What = Literal["route", "offsets", "retry", "forgotten", "members", "unlock"]
"""The kinds of requests to bridges.

``retry``: the route of the group's own retry topic, which the bridge creates if it is missing.
``forgotten``: the group is gone, and its retry topic has no reader. ``members``: whom the data
plane lists as the group's members; the bridge goes on telling that. ``unlock``: a member has lapsed
for which a broker may keep queues locked.
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What the group needs of a bridge; ``queues`` None: all of the topic.

    ``consumer``: whose locks are to be freed, by its id at the brokers.
    """

    group: str
    what: What
    topic: str
    queues: tuple[MessageQueue, ...] | None
    consume_timestamp_ms: int | None
    consumer: str | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A valid record that the state of its group refuses."""

    source: Source
    reason: str
    field: str | None
    detail: str
    remedy: str


Output = Assignment | Gone | Notice | Decision | Request | Rejection
