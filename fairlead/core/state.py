"""What the engine remembers of one group, as one value.

Nothing here decides anything. The mappings are treated as immutable outside
:mod:`fairlead.core.step`, which works on a shallow copy (:meth:`GroupState.copy`) and returns that
copy; the entries themselves never change.
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
from fairlead.core.rules.queue_weights import Measure
from fairlead.core.records import Claim

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
    "Settling",
    "Spoken",
    "Told",
    "Tombstone",
    "Trait",
    "TraitValue",
]


RESET = "reset"
"""Why a queue starts where it does: an operator said so."""


class Spoken(NamedTuple):
    """When words in the name of a member were read: the clock then, and when they were appended."""

    clock_ms: int
    append_ms: int


@dataclass(frozen=True, slots=True)
class Member:
    """What rarely changes of a member.

    ``leaving``: its leave was read, its grants are not all resolved.
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
    """How many parts its newest assignment record has; 0: it was never told anything."""
    joined_ms: int = 0
    """The clock at its first heartbeat."""
    told_rival: bool = False
    """It was told that a lesser process uses its client id."""
    told_odd: tuple[str, ...] = ()
    """Of what, with which own value, it was told that its group has another; oldest first."""
    spoken: Spoken | None = None
    """A queue was released in its name although nobody had asked for it; None: nothing was."""
    told_waiting: tuple[str, ...] = ()
    """Why it has less than it wants, as it was told last; (): it was told nothing, or the end.

    The generation that told it, the reason, and a hash of what it is of.
    """

    @property
    def topics(self) -> frozenset[str]:
        """The topics that the member subscribes to."""
        return frozenset(subscription.topic for subscription in self.subscriptions)

    @property
    def shares(self) -> bool:
        """Whether the member shares queues: one of the broadcasting model reads them all."""
        return self.profile.message_model == "clustering"


@dataclass(frozen=True, slots=True)
class Liveness:
    """What changes with each heartbeat, in milliseconds of the shard's clock."""

    seen_ms: int
    sequence: int
    disagrees_since_ms: int | None = None
    """Since when the member's digest has differed from the engine's view; None: it agrees."""
    heals: int = 0
    """How often in a row its record was sent again for that."""
    healed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A member that lapsed or left.

    Its late records are refused until the clock passes ``until_ms``.
    """

    until_ms: int
    lapsed: bool
    told: bool = False
    """Whether it was told so, after it heartbeat again."""
    closed: bool = False
    """Whether it was told that it holds nothing, after it left and still held something."""
    spoken: Spoken | None = None
    """Of a member that left: its last words. None: it lapsed."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """A client that is gone and may come back: its share is kept for it.

    ``since_ms``: the clock at its leave, or at its last heartbeat.
    """

    member: Member
    since_ms: int


@dataclass(frozen=True, slots=True)
class Settling:
    """Changes of who consumes what, which are shared out together when their window is over.

    ``opened_ms``: the clock at the first of them; ``changes``: kind of cause -> how many.
    """

    opened_ms: int
    changes: Mapping[str, int]


class Trait(NamedTuple):
    """Something that the members of a group are meant to agree on: of a topic, or of all of them.

    ``name`` is a word of :mod:`fairlead.core.membership.member_disagreement`; ``topic`` is empty if
    it is of no topic.
    """

    name: str
    topic: str = ""


TraitValue = tuple[str | int | bool | None, ...]
"""One value of a trait, as what compares equal if and only if members agree."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One unresolved grant of a queue: this member may be working on it under this epoch."""

    member: MemberKey
    epoch: Epoch
    dropped: bool = False
    dropped_ms: int | None = None
    """The clock at its drop; None: it was not dropped, or that is not known."""
    mute: bool = False
    """Its member heartbeats and has not answered the drop in time; that was told."""


DoubtKind = Literal["release", "progress", "claim"]


class Doubt(NamedTuple):
    """A word whose position lies beyond the known end of its queue: a bridge is asked.

    ``source`` is the record that told it, None where several did in a barrier. ``contradicted_ms``
    is when an answer was appended by which a bridge told a lower end; 0: none has done so.
    """

    member: MemberKey
    epoch: Epoch
    position: Position
    kind: DoubtKind
    source: Source | None
    contradicted_ms: int = 0


@dataclass(frozen=True, slots=True)
class QueueState:
    """One queue of a group: its unresolved grants, oldest first, and the best known start position.

    Invariants: epochs in ``chain`` strictly increase; every grant but the newest has ``dropped``
    set; ``chain`` is no longer than the chain cap; a queue with a grant has a ``base``. ``void`` is
    the newest epoch whose positions mean nothing any more (the topic was made anew), so a release
    under it or older resolves its grant but moves no base. ``overtaken`` are the unresolved grants
    that nobody waits for, in a group that hands over eagerly or takes queues from mute members:
    while there are any, the queue may have two owners. ``asked`` is a reset that came before
    anything was known of the queue: it may have been carried out already. ``identity`` is the life
    of its topic that all this is of, where no route tells it; ``set_aside`` is a reset that was
    asked for another life than the known one: (its identity, position). ``grown``: it was added to
    the only life of its topic that the group has known, and has no base yet; what is committed in
    it is its own, although clients may tell positions of a queue of its name in a former life.
    """

    base: Position | None = None
    why: str = ""
    chain: tuple[Grant, ...] = ()
    late: bool = False
    """It appeared after the group already shared its topic.

    With nothing known it starts at its minimum.
    """
    void: Epoch = NOTHING
    overtaken: tuple[Grant, ...] = ()
    asked: Position | None = None
    identity: str | None = None
    set_aside: tuple[str, Position] | None = None
    grown: bool = False
    end: int | None = None
    """The greatest end that was believed: a bridge told it, or a fetch of its holder saw it."""
    doubts: tuple[Doubt, ...] = ()
    """Words that wait until a bridge tells the bounds, in the order of their records."""

    @property
    def waits_for_its_reset(self) -> bool:
        """Whether an operator's reset is known of which nobody has worked on from there yet."""
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


class Told(NamedTuple):
    """How far a queue is in one life of its topic, as was told while a barrier lasted.

    ``epoch`` is the newest grant that anything was told of, ``why`` who told the position.
    """

    epoch: Epoch
    position: Position
    why: str


@dataclass(frozen=True, slots=True)
class Barrier:
    """The group waits until every live member has acknowledged ``generation``.

    ``releases`` are the releases with a position that were read meanwhile: (queue, member) ->
    newest (epoch, position; None if it is in ``told``). ``told`` are the positions of which it was
    said in which life of the topic they are: (queue, identity) -> what was told. ``recovering``:
    nobody knows who may be working, so the group also waits for lease and margin; ``waited``: that
    is over.
    """

    generation: int
    started_ms: int
    marked_ms: int | None = None
    """The clock at the marker's own record; None: the marker was not read yet."""
    releases: Mapping[tuple[MessageQueue, MemberKey], tuple[Epoch, Position | None]] = field(
        default_factory=dict
    )
    mute_told: bool = False
    recovering: bool = False
    waited: bool = False
    told: Mapping[tuple[MessageQueue, str], Told] = field(default_factory=dict)

    @property
    def counted_from_ms(self) -> int | None:
        """The clock from which its waits are counted: the later of start and marker."""
        return None if self.marked_ms is None else max(self.started_ms, self.marked_ms)


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request whose answer is missing or lacks something: when it was last sent, how often.

    ``unanswered`` is the clock at the first of those to which no bridge has said anything; None:
    one has answered the last one, though not with what is needed.
    """

    asked_ms: int
    times: int
    unanswered: int | None = None


@dataclass(slots=True)
class GroupState:
    """Everything the engine remembers of one group.

    ``generation`` is the newest whose barrier the group passed.
    """

    group: str
    created_ms: int
    generation: int
    number: int = 0
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
    """The measured weights in force; a queue that is not named weighs 1."""
    late_topics: tuple[str, ...] = ()
    """Topics that were shared at the end of a recovery, sorted: their queues are late.

    Also those that come later, to a route that is known: it may have hidden them for a while.
    """
    awaited: dict[str, Awaited] = field(default_factory=dict)
    """Client id -> a client whose queues wait for it to come back."""
    settling: Settling | None = None
    established: dict[Trait, TraitValue] = field(default_factory=dict)
    """What the members are meant to agree on -> the value that the group keeps."""
    growing_since_ms: int | None = None
    """The clock at which a route brought queues whose bounds are waited for; None: none did."""
    remade: tuple[str, ...] = ()
    """Topics of which the group has known another life than the present one, sorted.

    A commit that names no life may be of that one, in whichever queue it is.
    """
    absent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Topic that is lacking -> the clusters of which a bridge said that they lack it, sorted."""

    @property
    def epoch(self) -> Epoch:
        """The epoch of the newest decision."""
        return Epoch(self.generation, self.number)

    @property
    def recovering(self) -> bool:
        """Whether the group rebuilds its state from what its members claim."""
        return self.barrier is not None and self.barrier.recovering

    def identity_of(self, topic: str) -> str | None:
        """Return the identity of a topic's present life; None: no route of it is known."""
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
