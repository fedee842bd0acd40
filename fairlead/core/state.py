"""What the engine remembers of one group, as one value. Nothing here decides anything.

Only :mod:`fairlead.core.step` changes mappings: it works on a shallow copy
(:meth:`GroupState.copy`) and returns that copy. The entries themselves never change.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from fairlead.core.model import (
    NOTHING,
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
from fairlead.core.outputs import Failure, What
from fairlead.core.records import Claim
from fairlead.core.rules.queue_weights import Measure
from fairlead.core.standing import Standing

__all__ = [
    "RESET",
    "Awaited",
    "Barrier",
    "ClaimSet",
    "Doubt",
    "DoubtKind",
    "Grant",
    "GroupState",
    "Liveness",
    "Member",
    "PendingRequest",
    "QueueState",
    "ReportedPosition",
    "Settling",
    "Spoken",
    "Tombstone",
    "Trait",
    "TraitValue",
]


RESET = "reset"
"""Why a queue starts where it does: an operator said so."""


class Spoken(NamedTuple):
    """When the shard read words in a member's name, and when the broker appended them."""

    clock_ms: int
    append_ms: int


@dataclass(frozen=True, slots=True)
class Member:
    """What rarely changes of a member.

    ``leaving``: the engine has read its leave, and not all of its grants are resolved.
    """

    key: MemberKey
    process: Process
    incarnations: int
    profile: MemberProfile
    subscriptions: tuple[Subscription, ...]
    generation_acked: int = 0
    leaving: bool = False
    told_duplicate: bool = False
    parts: int = 0
    """How many parts its newest assignment record has; 0: it never got one."""
    joined_ms: int = 0
    """The clock at its first heartbeat."""
    told_rival: bool = False
    """It got the notice that a lesser process uses its client id."""
    told_odd: tuple[str, ...] = ()
    """The marks of its values that differ from the group's, as notices told it; oldest first."""
    spoken: Spoken | None = None
    """When a queue was released in its name although no drop had asked for that; None: never."""
    told_waiting: tuple[str, ...] = ()
    """Why it has less than it wants, by its last notice: (generation, reason, hash of details).

    Empty: it got no notice, or one that nothing keeps its queues from it any more.
    """

    @property
    def topics(self) -> frozenset[str]:
        """The topics that the member subscribes to."""
        return frozenset(subscription.topic for subscription in self.subscriptions)

    @property
    def shares(self) -> bool:
        """Whether the member shares queues; a broadcasting member reads them all."""
        return self.profile.message_model == "clustering"


@dataclass(frozen=True, slots=True)
class Liveness:
    """What changes with each heartbeat, in milliseconds of the shard's clock."""

    seen_ms: int
    sequence: int
    disagrees_since_ms: int | None = None
    """Since when the member's digest has differed from the engine's view; None: it agrees."""
    heals: int = 0
    """How often in a row the engine has sent its record again for that."""
    healed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A member that lapsed or left: its late records are refused until ``until_ms`` has passed."""

    until_ms: int
    lapsed: bool
    notified: bool = False
    """Whether a notice told it so, after it heartbeat again."""
    closed: bool = False
    """Whether it got an empty assignment, since it left and still held something."""
    spoken: Spoken | None = None
    """When its leave was read. None: it lapsed."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A client that is gone and may come back: the group keeps its share.

    ``since_ms``: the clock at its leave, or at its last heartbeat.
    """

    member: Member
    since_ms: int


@dataclass(frozen=True, slots=True)
class Settling:
    """Changes of members and subscriptions that wait for the end of their common window.

    ``opened_ms``: the clock at the first of them; ``changes``: kind of cause -> how many.
    """

    opened_ms: int
    changes: Mapping[str, int]


class Trait(NamedTuple):
    """Something that the members of a group should agree on.

    ``name`` is a word of :mod:`fairlead.core.membership.member_disagreement`; ``topic`` is empty if
    the trait belongs to no topic.
    """

    name: str
    topic: str = ""


TraitValue = tuple[str | int | bool | None, ...]
"""One value of a trait: two are equal if and only if their members agree."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One unresolved grant of a queue: this member may be working on it under this epoch."""

    member: MemberKey
    epoch: Epoch
    dropped: bool = False
    dropped_ms: int | None = None
    """The clock at its drop; None: it was not dropped, or the engine does not know when."""
    mute: bool = False
    """Its member heartbeats and has not answered the drop in time; an alarm has said so."""


DoubtKind = Literal["release", "progress", "claim"]


class Doubt(NamedTuple):
    """A report whose position lies beyond the known end of its queue: a bridge is asked.

    ``source`` is its record, None where several said it in a barrier. ``contradicted_ms`` is the
    append time of a bridge's answer with a lower end; 0: there is none.
    """

    member: MemberKey
    epoch: Epoch
    position: Position
    kind: DoubtKind
    source: Source | None
    contradicted_ms: int = 0


@dataclass(frozen=True, slots=True)
class QueueState:
    """One queue of a group: who may be working on it, and where the next owner starts.

    Invariants: epochs in ``chain`` strictly increase; every grant but the newest is dropped;
    ``chain`` is no longer than the chain cap; a queue with a grant has a ``base``.
    """

    base: Position | None = None
    """The best known start position."""
    why: str = ""
    """Who told the base: a word of the protocol."""
    chain: tuple[Grant, ...] = ()
    """The unresolved grants, oldest first."""
    late: bool = False
    """It appeared after the group shared its topic: without a position it starts at its minimum."""
    void: Epoch = NOTHING
    """The newest epoch of a former identity of the topic: positions up to it count no more."""
    overtaken: tuple[Grant, ...] = ()
    """Unresolved grants that nobody waits for: while there are any, two members may own it."""
    asked: Position | None = None
    """A reset from before anything was known of the queue: somebody may have followed it."""
    identity: str | None = None
    """The identity of the topic that all this belongs to, where no route says it."""
    set_aside: tuple[str, Position] | None = None
    """A reset for another identity of the topic than the known one: (identity, position)."""
    grown: bool = False
    """It was added to the only known identity and has no base: what is committed in it is its own.

    Clients may still report positions of a queue of its name under a former identity.
    """
    end: int | None = None
    """The greatest end that a bridge told, or that a fetch of its holder saw and was believed."""
    doubts: tuple[Doubt, ...] = ()
    """Reports that wait until a bridge tells the bounds, in the order of their records."""

    @property
    def grants(self) -> tuple[Grant, ...]:
        """All unresolved grants: those overtaken, then those in the chain."""
        return (*self.overtaken, *self.chain)

    @property
    def has_pending_reset(self) -> bool:
        """Whether a reset is pending: accepted, and no work has started from it."""
        return self.asked is not None or self.set_aside is not None or self.why == RESET


@dataclass(frozen=True, slots=True)
class ClaimSet:
    """A member's acknowledgement of a generation, as far as its parts were read."""

    generation: int
    parts: int
    read: Mapping[int, tuple[Claim, ...]]

    @property
    def complete(self) -> bool:
        """Whether every part was read."""
        return len(self.read) == self.parts


class ReportedPosition(NamedTuple):
    """How far a queue is under one identity of its topic, as members reported in a barrier.

    ``epoch`` is the newest grant in any report, ``why`` the kind of report of the position.
    """

    epoch: Epoch
    position: Position
    why: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """The group waits until every live member has acknowledged ``generation``.

    ``releases`` are those with a position that came meanwhile: (queue, member) -> newest (epoch,
    position; None if it stands in ``reported``). ``reported`` are the positions that name an
    identity: (queue, identity) -> position. ``recovering``: nobody knows who may be working, so the
    group also waits for lease and margin; ``waited``: that wait is over.
    """

    generation: int
    started_ms: int
    marked_ms: int | None = None
    """The clock at the marker's own record; None: the marker is unread."""
    releases: Mapping[tuple[MessageQueue, MemberKey], tuple[Epoch, Position | None]] = field(
        default_factory=dict
    )
    mute_told: bool = False
    recovering: bool = False
    waited: bool = False
    reported: Mapping[tuple[MessageQueue, str], ReportedPosition] = field(default_factory=dict)

    @property
    def counted_from_ms(self) -> int | None:
        """The clock from which its waits count: the later of start and marker."""
        return None if self.marked_ms is None else max(self.started_ms, self.marked_ms)


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request whose answer is missing or lacks something: when it was last sent, how often.

    ``unanswered`` is the clock at the first request without any answer; None: a bridge has answered
    the last one, but not with what is needed.
    """

    asked_ms: int
    times: int
    unanswered: int | None = None


@dataclass(slots=True)
class GroupState:
    """Everything the engine remembers of one group."""

    group: str
    created_ms: int
    generation: int
    """The newest whose barrier the group has passed."""
    number: int = 0  # of the newest decision
    members: dict[MemberKey, Member] = field(default_factory=dict)
    liveness: dict[MemberKey, Liveness] = field(default_factory=dict)
    tombstones: dict[MemberKey, Tombstone] = field(default_factory=dict)
    routes: dict[str, Route] = field(default_factory=dict)
    queues: dict[MessageQueue, QueueState] = field(default_factory=dict)
    targets: dict[MessageQueue, str] = field(default_factory=dict)
    """Queue -> client id of the newest successful allocation of its topic."""
    failures: dict[str, Failure] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    """Rule name -> value, as set for this group by control records (plain JSON values)."""
    claims: dict[MemberKey, ClaimSet] = field(default_factory=dict)
    barrier: Barrier | None = None
    requests: dict[tuple[What, str], PendingRequest] = field(default_factory=dict)
    """(what, topic) -> the open request."""
    recomputed_ms: int = 0
    """The clock at the last computation; a trigger is each multiple of its period after that."""
    empty_since_ms: int | None = None
    allocated_by: str = ""
    """Strategy, options and slots of the newest allocation, as one text: a change repeats it."""
    measures: dict[MessageQueue, Measure] = field(default_factory=dict)
    weights: dict[MessageQueue, float] = field(default_factory=dict)
    """The measured weights in force; a queue without one weighs 1."""
    late_topics: tuple[str, ...] = ()
    """Topics that were shared at the end of a recovery, sorted: their queues are late.

    So are queues that come later to a known route: it may have hidden them for a while.
    """
    awaited: dict[str, Awaited] = field(default_factory=dict)
    """Client id -> a client whose queues wait for its return."""
    settling: Settling | None = None
    established: dict[Trait, TraitValue] = field(default_factory=dict)
    """Trait -> the value that the group keeps of it."""
    growing_since_ms: int | None = None
    """The clock at which a route brought queues whose bounds are unknown; None: none waits."""
    remade: tuple[str, ...] = ()
    """Topics that the group has known under another identity than the present one, sorted.

    A commit that names no identity may belong to that one, in any of their queues.
    """
    absent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Missing topic -> the clusters that lack it, as their bridges say, sorted."""
    standing: Standing | None = None
    """Who shares the queues out; None: the engine, and no member reads RocketMQ."""

    @property
    def epoch(self) -> Epoch:
        """The epoch of the newest decision."""
        return Epoch(self.generation, self.number)

    @property
    def recovering(self) -> bool:
        """Whether the group rebuilds its state from what its members claim."""
        return self.barrier is not None and self.barrier.recovering

    def identity_of(self, topic: str) -> str | None:
        """Return the present identity of a topic; None: no route of it is known."""
        route = self.routes.get(topic)
        return None if route is None else route.identity

    def copy(self) -> "GroupState":
        """Return a copy whose mappings can be changed without changing this state's."""
        return replace(
            self,
            members=dict(self.members),
            liveness=dict(self.liveness),
            tombstones=dict(self.tombstones),
            routes=dict(self.routes),
            queues=dict(self.queues),
            targets=dict(self.targets),
            failures=dict(self.failures),
            rules=dict(self.rules),
            claims=dict(self.claims),
            requests=dict(self.requests),
            measures=dict(self.measures),
            weights=dict(self.weights),
            awaited=dict(self.awaited),
            established=dict(self.established),
            absent=dict(self.absent),
        )
