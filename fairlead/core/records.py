"""What the engine reads, as values: one class for each record kind of the input topics.

A record is what its sender claims, no fact yet. An :class:`Arrival` is a record with its place in
the log and the shard's clock at that place.
"""

from dataclasses import dataclass
from typing import Any, Literal

from fairlead.core.model import (
    Epoch,
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
    Route,
    Source,
    Subscription,
)
from fairlead.core.standby_records import Former, MembersLook, StandbyState

__all__ = [
    "ALL_GROUPS",
    "CONF_AUTHOR",
    "Arrival",
    "BridgeSign",
    "BridgeState",
    "Claim",
    "Claims",
    "DriverSettings",
    "Generation",
    "GroupRecord",
    "Heartbeat",
    "Leave",
    "OffsetsKnown",
    "Progress",
    "QueueOffsets",
    "QueueProgress",
    "Record",
    "Release",
    "Reset",
    "RouteChanged",
    "RuleSet",
    "Tick",
    "TopicAbsent",
]


ALL_GROUPS = "*"
"""The group name in a rule for all groups; its record stands in every partition."""
CONF_AUTHOR = "conf"
"""Who sets a rule that stands in the settings: the engine, at its start."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A member is alive, and says who it is, what it wants and (as a digest) what it holds.

    ``decide``: it asks for a decision now, whatever the rule ``react`` says. ``standby``: what a
    member does that can follow another strategy; None: it cannot.
    """

    group: str
    member: MemberKey
    process: Process
    incarnations: int
    sequence: int
    generation: int
    profile: MemberProfile
    subscriptions: tuple[Subscription, ...]
    applied: Epoch | None
    digest: int
    decide: bool = False
    standby: StandbyState | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """A member is about to leave: it is no target any more, and releases what it holds.

    ``last_started``: the newest epoch under which it started anything (0.0: none); it starts
    nothing newer. None: it does not say.
    """

    group: str
    member: MemberKey
    sequence: int
    last_started: Epoch | None = None


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """The contiguous processed position of one queue under one epoch.

    ``end`` is the next offset to be written, as the member's last fetch saw it. ``identity`` is the
    topic's, as the grant said. ``idle_ms``: how long ago the member last tried to pull the queue
    under this epoch. Each is None if the member does not say it.
    """

    queue: MessageQueue
    epoch: Epoch
    position: Position
    end: int | None = None
    identity: str | None = None
    idle_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The positions of a member in queues that it works on."""

    group: str
    member: MemberKey
    queues: tuple[QueueProgress, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One queue that a member ever started: still running, or stopped for good at ``position``.

    ``identity`` is the topic's, as the grant said; None: the member does not say it.
    """

    queue: MessageQueue
    epoch: Epoch
    position: Position
    running: bool
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Claims:
    """One part of a member's acknowledgement of a generation."""

    group: str
    member: MemberKey
    generation: int
    part: int
    parts: int
    queues: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """A member has stopped work on a queue at ``position``.

    None: it never started this epoch and never will. ``last_started`` is as in :class:`Leave`: the
    member leaves; None: it stays, or does not say. ``identity`` is the topic's, as the grant said;
    None: the member does not say it.
    """

    group: str
    member: MemberKey
    queue: MessageQueue
    epoch: Epoch
    position: Position | None
    last_started: Epoch | None = None
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """An operator (or ``conf/``, through the driver) sets or removes one rule.

    Group ``*`` means every group.

    ``subject`` names the client (id) or queue (topic, broker name, queue id in digits) of a rule
    for one client or queue, else it is empty. ``value`` None removes the rule. ``by`` says who set
    it (empty in a null record), and ``because`` why.
    """

    group: str
    rule: str
    subject: tuple[str, ...]
    value: Any | None
    by: str = ""
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """An operator moves the start of one queue; ``by`` says who, and ``because`` why.

    ``identity``: that of the topic to which it belongs; None: the present one when the engine reads
    it.
    """

    group: str
    queue: MessageQueue
    offset: int
    by: str = ""
    because: str | None = None
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class RouteChanged:
    """A bridge publishes a topic's whole route; None: the topic was deleted."""

    topic: str
    route: Route | None


@dataclass(frozen=True, slots=True)
class QueueOffsets:
    """What a bridge knows of one queue: first offset, next offset to be written, the commit."""

    queue: MessageQueue
    min_offset: int
    max_offset: int
    committed: Position | None
    for_time: tuple[int, int] | None
    """(timestamp_ms, offset) or None."""


@dataclass(frozen=True, slots=True)
class OffsetsKnown:
    """A bridge answers a request for offsets of one topic on behalf of one group."""

    group: str
    topic: str
    identity: str
    queues: tuple[QueueOffsets, ...]


@dataclass(frozen=True, slots=True)
class TopicAbsent:
    """A bridge answers a group that asked about a topic: its cluster does not have it."""

    group: str
    topic: str
    cluster: str


BridgeState = Literal["running", "look_ups_fail", "stopped"]
"""What a bridge says of itself: it works, its cluster does not answer, or it ends in order."""


@dataclass(frozen=True, slots=True)
class BridgeSign:
    """A bridge says that it runs, or that it ends.

    ``bridge`` is a uuid of this start; the next sign comes within ``every_ms``, unless it ends.
    """

    cluster: str
    bridge: str
    state: BridgeState
    every_ms: int


@dataclass(frozen=True, slots=True)
class Tick:
    """The driver of a generation is alive; the clock moves.

    The first tick of a driver is its marker. It also says up to where control of the same partition
    must be read before it counts, and whether unread records were lost. ``secret`` proves that the
    driver wrote it; None: it has none.
    """

    generation: int
    control_end: int = 0
    input_lost: bool = False
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class DriverSettings:
    """The settings of a driver that no other record says; a replay needs them.

    ``tick_ms`` is the period of its ticks; ``strategies`` are the names of all that it has, sorted;
    the others are those of :class:`fairlead.core.rules.group_rules.EngineRules`. ``switch_ms`` and
    the limits of all groups are 0 where the record does not say them.
    """

    tick_ms: int
    auto_create: bool
    evict_after_ms: int
    chain_cap: int
    strategies: tuple[str, ...]
    switch_ms: int = 0
    groups_max: int = 0
    new_groups_per_second: int = 0
    heartbeat_bytes_per_second: int = 0
    state_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """A driver's claim; its generation is the record's offset + 1.

    ``settings`` None: the claim does not say them. ``seals``: for each heartbeats partition in
    order, the hash of the secret in the driver's first tick there; none: its ticks need no secret.
    """

    driver: str
    started_ms: int
    version: str
    settings: DriverSettings | None = None
    seals: tuple[str, ...] = ()


GroupRecord = (
    Heartbeat
    | Leave
    | Progress
    | Claims
    | Release
    | RuleSet
    | Reset
    | RouteChanged
    | OffsetsKnown
    | TopicAbsent
    | Former
    | MembersLook
)
Record = GroupRecord | Tick | Generation | BridgeSign


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record at its place in the log. ``clock_ms`` is the shard's clock at that place."""

    source: Source
    clock_ms: int
    record: GroupRecord


Outcome = Literal["applied", "duplicate", "stale", "rejected"]
