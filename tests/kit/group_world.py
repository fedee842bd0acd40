"""A small world around one group.

It words records, keeps the clock, steps the core and checks every invariant.

Clients are named by one letter and share one topic unless told otherwise. Nothing in here decides
anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fairlead.core.invariants import check
from fairlead.core.model import (
    Epoch,
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
    Route,
    RouteBroker,
    Source,
    Subscription,
)
from fairlead.core.moment import Moment
from fairlead.core.outputs import Add, Assignment, Decision, Output, Request
from fairlead.core.publishing.digest import digest
from fairlead.core.publishing.resync import entries_by_member
from fairlead.core.records import (
    Arrival,
    Claim,
    Claims,
    GroupRecord,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    QueueOffsets,
    QueueProgress,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
)
from fairlead.core.rules.group_rules import CHAIN_CAP, EngineRules, GroupRules
from fairlead.core.standby_records import StandbyState
from fairlead.core.state import GroupState
from fairlead.core.step import StepResult, step
from strategies.registry import STRATEGIES

GROUP = "orders"
KIND_ORDER = ("control", "routes", "offsets", "releases", "heartbeats")


def queue_of(number: int, topic: str = "orders") -> MessageQueue:
    """Return the queue of this number on the broker ``main``."""
    return MessageQueue(topic, "main", number)


def key_of(client: str, life: int = 1) -> MemberKey:
    """Return a client's member key in one of its lives."""
    return MemberKey(client, f"{client}-{life}")


def position_of(offset: int | Position) -> Position:
    """Return the position at an offset; one that follows a reset is named itself."""
    return offset if isinstance(offset, Position) else Position(0, offset)


def route_of(
    queues: int,
    topic: str = "orders",
    identity: str = "one",
    perm: int = 6,
    zones: tuple[str, ...] | None = None,
) -> Route:
    """Return a route of one broker; ``zones`` says where the leader of each queue stands."""
    return Route(topic, identity, (RouteBroker("main", perm, queues, queues, zones=zones),))


@dataclass(slots=True)
class GroupWorld:
    """One group, its log and its clock."""

    chain_cap: int = CHAIN_CAP
    switch_ms: int = 0
    generation: int = 1
    marker: int = 1
    clock_ms: int = 1_000
    auto_create: bool = True
    recovering: bool = False
    state: GroupState | None = None
    outputs: tuple[Output, ...] = ()
    step_number: int = 0
    strategies: dict[str, object] = field(default_factory=lambda: dict(STRATEGIES))
    waiting: list[Arrival] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    sequences: dict[MemberKey, int] = field(default_factory=dict)
    bridges: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Cluster -> when its bridge last told of itself, and what."""

    @property
    def rules(self) -> EngineRules:
        """The rules of the driver that runs now."""
        return EngineRules(
            self.generation,
            self.strategies,  # type: ignore[arg-type]  # tests put strategies of their own in
            # RocketMQ's numbers: blocks that a reader can tell without running anything.
            GroupRules(strategy="AVG"),
            auto_create=self.auto_create,
            chain_cap=self.chain_cap,
            switch_ms=self.switch_ms,
        )

    def add(self, topic: str, record: GroupRecord) -> None:
        """Append a record to a topic at the present clock."""
        offset = self.offsets.get(topic, 0)
        self.offsets[topic] = offset + 1
        self.waiting.append(Arrival(Source(topic, 0, offset, self.clock_ms), self.clock_ms, record))

    def beat(
        self,
        client: str,
        *,
        life: int = 1,
        topics: Sequence[str | Subscription] = ("orders",),
        process: tuple[int, str] | None = None,
        held: int | None = None,
        applied: Epoch | None = None,
        profile: MemberProfile | None = None,
        decide: bool = False,
        standby: StandbyState | None = None,
    ) -> None:
        """A client heartbeats, with the digest that the engine expects unless ``held`` is given.

        It has read the newest epoch unless ``applied`` is given.
        """
        key = key_of(client, life)
        sequence = self.sequences[key] = self.sequences.get(key, 0) + 1
        expected = 0
        if self.state is not None:
            expected = digest(entries_by_member(self.state).get(key, ()))
            applied = applied or self.state.epoch
        self.add(
            "heartbeats",
            Heartbeat(
                GROUP,
                key,
                Process(*(process or (1, client))),
                life,
                sequence,
                self.generation,
                profile or MemberProfile(consume_from="first_offset"),
                tuple(Subscription(topic) if isinstance(topic, str) else topic for topic in topics),
                applied,
                expected if held is None else held,
                decide,
                standby,
            ),
        )

    def leave(self, client: str, life: int = 1, last_started: Epoch | None = None) -> None:
        """A client leaves; None: it does not tell what it started last."""
        key = key_of(client, life)
        sequence = self.sequences[key] = self.sequences.get(key, 0) + 1
        self.add("heartbeats", Leave(GROUP, key, sequence, last_started))

    def route(
        self,
        queues: int | None,
        topic: str = "orders",
        identity: str = "one",
        zones: tuple[str, ...] | None = None,
    ) -> None:
        """A bridge publishes the topic's route; None: the topic was deleted."""
        route = None if queues is None else route_of(queues, topic, identity, zones=zones)
        self.add("routes", RouteChanged(topic, route))

    def bounds(
        self,
        queues: int,
        topic: str = "orders",
        *,
        identity: str = "one",
        first: int = 0,
        last: int = 100,
        committed: Position | None = None,
    ) -> None:
        """A bridge tells the bounds of queues 0 to ``queues`` - 1."""
        known = tuple(
            QueueOffsets(queue_of(number, topic), first, last, committed, None)
            for number in range(queues)
        )
        self.add("offsets", OffsetsKnown(GROUP, topic, identity, known))

    def publish(self, queues: int, *topics: str) -> None:
        """Step the group, publish routes and bounds of the topics (or orders), step it again."""
        self.run()
        for topic in topics or ("orders",):
            self.route(queues, topic)
            self.bounds(queues, topic)
        self.run()

    def release(
        self,
        client: str,
        number: int,
        epoch: Epoch,
        offset: int | Position | None,
        *,
        life: int = 1,
        last_started: Epoch | None = None,
        identity: str | None = None,
    ) -> None:
        """A client releases a queue at an offset; None: it never started it.

        One that leaves may tell what it started last.
        """
        position, key = None if offset is None else position_of(offset), key_of(client, life)
        released = Release(
            GROUP, key, queue_of(number), epoch, position, last_started, identity=identity
        )
        self.add("releases", released)

    def progress(
        self,
        client: str,
        number: int,
        epoch: Epoch,
        offset: int | Position,
        *,
        life: int = 1,
        end: int | None = None,
        identity: str | None = None,
        idle_ms: int | None = None,
    ) -> None:
        """A client tells how far it has come, and perhaps where the queue ends, and how idle."""
        where = queue_of(number), epoch, position_of(offset)
        made = QueueProgress(*where, end, identity, idle_ms)
        self.add("heartbeats", Progress(GROUP, key_of(client, life), (made,)))

    def claims(
        self,
        client: str,
        *claims: tuple[int, Epoch, int | Position, bool],
        life: int = 1,
        identity: str | None = None,
    ) -> None:
        """A client acknowledges the driver's generation: (queue, epoch, offset, running)."""
        held = tuple(
            Claim(queue_of(number), epoch, position_of(offset), running, identity)
            for number, epoch, offset, running in claims
        )
        self.add("heartbeats", Claims(GROUP, key_of(client, life), self.generation, 0, 1, held))

    def rule(
        self,
        rule: str,
        value: object,
        *subject: str,
        by: str = "alice",
        because: str | None = None,
    ) -> None:
        """An operator sets a rule of the group, or of the client or queue that it is for."""
        self.add("control", RuleSet(GROUP, rule, subject, value, by, because))

    def reset(self, number: int, offset: int, identity: str | None = None) -> None:
        """An operator moves the start of a queue, in the life of its topic that is named."""
        self.add("control", Reset(GROUP, queue_of(number), offset, "alice", identity=identity))

    def pass_time(self, milliseconds: int) -> None:
        """The shard's clock moves."""
        self.clock_ms += milliseconds

    def driver(self, generation: int, *, marked: bool = True) -> None:
        """Another driver runs the group from now on."""
        self.generation = generation
        if marked:
            self.marker = generation

    def lose(self, generation: int, *, marked: bool = True) -> None:
        """The state is lost; another driver begins without it, and recovers."""
        self.state = None
        self.recovering = True
        self.driver(generation, marked=marked)

    def run(self, unread: str = "") -> StepResult:
        """Step the group over everything appended since the last run, and check every invariant.

        ``unread``: a topic whose records a later run reads.
        """
        arrivals = sorted(
            (entry for entry in self.waiting if entry.source.topic != unread),
            key=lambda entry: (KIND_ORDER.index(entry.source.topic), entry.source),
        )
        self.waiting = [entry for entry in self.waiting if entry.source.topic == unread]
        moment = Moment(
            self.clock_ms,
            self.clock_ms,
            self.marker,
            0,
            self.step_number + 1,
            recovering=self.recovering,
            bridges=self.bridges,
        )
        again = step(self.state, arrivals, moment, self.rules)
        result = step(self.state, arrivals, moment, self.rules)
        assert again == result, "the same step gave two results"
        self.state, self.outputs = result.state, result.outputs
        if self.outputs:
            self.step_number += 1
        if self.state is not None:
            check(self.state, self.rules)
        return result

    def told(self, client: str, life: int = 1) -> Assignment:
        """Return the assignment that the last run wrote for a client."""
        return next(
            output
            for output in self.outputs
            if isinstance(output, Assignment) and output.member == key_of(client, life)
        )

    def adds(self, client: str, life: int = 1) -> list[Add]:
        """Return the adds that the last run wrote for a client."""
        return [
            add
            for output in self.outputs
            if isinstance(output, Assignment) and output.member == key_of(client, life)
            for add in output.add
        ]

    def requests(self) -> list[Request]:
        """Return what the last run has asked bridges for."""
        return [output for output in self.outputs if isinstance(output, Request)]

    @property
    def decision(self) -> Decision:
        """The audit record of the last run."""
        return next(output for output in self.outputs if isinstance(output, Decision))

    def owned(self, client: str, life: int = 1) -> list[int]:
        """Return the queue ids that a client holds in the engine's view."""
        assert self.state is not None
        return sorted(
            queue.queue_id
            for queue, value in self.state.queues.items()
            for grant in value.chain
            if grant.member == key_of(client, life) and not grant.dropped
        )

    def epoch_of(self, number: int) -> Epoch:
        """Return the epoch of a queue's newest grant."""
        assert self.state is not None
        return self.state.queues[queue_of(number)].chain[-1].epoch


def settled(*clients: str, queues: int = 4, chain_cap: int = CHAIN_CAP) -> GroupWorld:
    """Return a world in which the clients share the queues and everything is settled."""
    world = GroupWorld(chain_cap=chain_cap)
    for client in clients:
        world.beat(client)
    world.publish(queues)
    return world
