"""What the records of one shard prove, read in the engine's order (ADR 0113).

This is a second, simpler reading of the protocol: no chain, no targets, only facts. The member of
an issued grant may work until a record proves that it does not; the judge keeps that proof.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.positions.bounds import OUT_OF_BOUNDS
from fairlead.core.records import (
    ALL_GROUPS,
    Claims,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Record,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
    Tick,
)
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.standby_records import Former
from fairlead.engine.clock import TICKS_PER_MOVE, ShardClock
from fairlead.verify.grant_facts import GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.position_facts import PositionFacts
from fairlead.verify.verdicts import Evidence, evidence_of
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["RouteFacts", "ShardFacts", "order_of"]

_ORDER: Final = {"control": 0, "routes": 1, "offsets": 2, "releases": 3, "heartbeats": 4}
_ABOVE: Final = Epoch(2**63, 0)
"""Above every epoch."""
_STILL_TICKS: Final = 5
"""A driver that has not ticked for this many periods does not run."""
_READ: Final = 4
"""RocketMQ's read bit of a broker's permission."""


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """What consumers need of a topic's route: how many queues of each broker are readable."""

    identity: str
    readable: Mapping[str, int]

    def has(self, queue: MessageQueue) -> bool:
        """Tell whether the route has this queue as a readable one."""
        return queue.queue_id < self.readable.get(queue.broker_name, 0)


@dataclass(slots=True)
class ShardFacts:
    """Everything that the rows of one shard prove.

    Attributes:
        shards: how many there are.
        tick_ms: the period of the ticks of the driver that reads.
        clock: the log clock, computed again.
        ticks: per generation, the clock at the first and at the newest tick of its driver.
        still_ms: how long in all no driver ticked: none ran, or it stood still.
        groups: by name.
        routes: by topic; a deleted topic has no queues.
        identities: by topic, the identity in its newest route.
        otherwise: the rules of a group for which the log has none.
        defaults: the rules of all groups.
        refused: why the engine rejected rows, by their places. The judge ignores such rows; if the
            reason is an impossible position, it ignores only that position (rule H30).
        wrote: tells whether a driver may have written a tick, after ticks up to a generation.
        malformed: places of rows that break the protocol's format, and why.
        speakers: the group of each of the newest rows.
    """

    shards: int
    tick_ms: int
    refused: Mapping[tuple[str, int, int], str]
    wrote: Callable[[Tick, int], bool]
    otherwise: GroupRules = field(default_factory=GroupRules)
    clock: ShardClock = field(init=False)
    ticks: dict[int, tuple[int, int]] = field(default_factory=dict)
    still_ms: int = 0
    groups: dict[str, GroupFacts] = field(default_factory=dict)
    routes: dict[str, RouteFacts] = field(default_factory=dict)
    identities: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    malformed: dict[tuple[str, int, int], str] = field(default_factory=dict)
    speakers: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with a clock at zero."""
        self.clock = ShardClock(TICKS_PER_MOVE * self.tick_ms)

    def group(self, name: str) -> GroupFacts:
        """Return what is known of a group."""
        if name not in self.groups:
            positions = PositionFacts(self.identities)
            self.groups[name] = GroupFacts(
                name, self.clock, self.defaults, self.otherwise, positions=positions
            )
        return self.groups[name]

    def read_row(self, suffix: str, row: RawRecord) -> None:
        """Read one row. Rows of a batch come in the order of ``order_of``."""
        if suffix == "heartbeats":
            self.clock.advance(row.append_ms)
        try:
            record = decode(suffix, row, WireLimits(self.shards))
        except WireError as error:
            self._take_malformed(row, error)
            return
        place = (row.topic, row.partition, row.offset)
        if isinstance(record, Tick):
            # An engine that had already ended refused no tick.
            if place not in self.refused and self.wrote(record, self.clock.marker):
                self._tick(record)
            return
        group = getattr(record, "group", None)
        if group is not None:
            self.speakers[place] = group
        if place not in self.refused or isinstance(record, Heartbeat):
            self._take(record, row)
        elif self.refused[place] == OUT_OF_BOUNDS and isinstance(record, Release | Progress):
            self.group(record.group).take_unbelieved(record, row)

    def _tick(self, record: Tick) -> None:
        generation, clock_ms = record.generation, self.clock.clock_ms
        started = generation > self.clock.marker
        self.clock.tick(generation)
        silent_ms = clock_ms - self.ticked_ms
        if silent_ms > _STILL_TICKS * self.tick_ms:
            self.still_ms += silent_ms
        first_ms, _ = self.ticks.setdefault(generation, (clock_ms, clock_ms))
        self.ticks[generation] = first_ms, clock_ms
        for group in self.groups.values() if started else ():
            group.count_drops_anew()

    @property
    def ticked_ms(self) -> int:
        """The clock at the newest tick; no driver shows itself after it."""
        return max((last_ms for _, last_ms in self.ticks.values()), default=0)

    def _take_malformed(self, row: RawRecord, error: WireError) -> None:
        self.malformed[row.topic, row.partition, row.offset] = str(error.reason)
        sender = error.sender
        if sender is not None and sender.heartbeat:
            # It still renews its sender's lease (rule H10).
            member = self.group(sender.group).members.get(sender.member)
            if member is not None:
                member.seen_ms, member.seen = self.clock.clock_ms, row

    def _take(self, record: Record, row: RawRecord) -> None:
        match record:
            case Heartbeat():
                self.group(record.group).beat(record, row, self.clock.clock_ms)
            case Leave():
                self.group(record.group).leave(record, row)
            case Former():
                self.group(record.group).positions.former(record)
            case Progress():
                self.group(record.group).progress(record, row)
            case Claims():
                self.group(record.group).claims(record, row)
            case Release():
                self.group(record.group).release(record, row)
            case Reset():
                self.group(record.group).positions.reset(record, row, self.clock.clock_ms)
            case RuleSet():
                self._take_rule(record)
            case RouteChanged():
                self._take_route(record)
            case OffsetsKnown():
                self._take_offsets(record, row)

    def _take_rule(self, record: RuleSet) -> None:
        rules = self.defaults
        if record.group != ALL_GROUPS:
            rules = self.group(record.group).rules
        name = "/".join((record.rule, *record.subject))
        if record.value is None:
            rules.pop(name, None)
        else:
            rules[name] = record.value

    def _take_offsets(self, record: OffsetsKnown, row: RawRecord) -> None:
        route = self.routes.get(record.topic)
        if route is None or route.identity == record.identity:
            self.group(record.group).positions.offsets(record, row)

    def _take_route(self, record: RouteChanged) -> None:
        route, known = record.route, self.routes.get(record.topic)
        if route is None:
            if known is not None:
                self.routes[record.topic] = RouteFacts(known.identity, {})
            return
        readable = {
            broker.broker_name: broker.read_queue_nums
            for broker in route.brokers
            if broker.perm & _READ
        }
        self.routes[record.topic] = RouteFacts(route.identity, readable)
        if known is not None and known.identity == route.identity:
            return
        self.identities[record.topic] = route.identity
        for group in self.groups.values():
            if known is not None:
                group.start_anew(record.topic)
            group.positions.live(record.topic)

    def lapse(self, group: GroupFacts) -> Iterator[MemberFacts]:
        """Mark as lapsed, and yield, the members that were silent for too long at this place."""
        for member in list(group.members.values()):
            silent_ms = self.clock.clock_ms - member.seen_ms
            if not member.lapsed and silent_ms > group.patience_ms(member):
                member.lapsed = True
                text = f"silent for {silent_ms} ms on the log clock"
                group.lapse(member.key, Evidence(_place(member.seen), text))
                yield member

    def forget_unread(self, group: GroupFacts) -> None:
        """Forget the positions of topics that no member of the group subscribes to any more.

        The engine forgets them too; a later subscriber starts where the data plane says. The judge
        keeps a queue that its topic's route hides: it comes back with its old position.
        """
        alive = [each for each in group.members.values() if each.shares and not each.gone]
        if not alive:
            return
        topics = frozenset(topic for member in alive for topic in member.topics)
        # A topic that nobody read was forgotten: its new subscriber waits for the route.
        still_read, group.subscribed = topics & group.subscribed, topics
        for queue in list(group.positions.reached):
            if queue.topic not in still_read and not group.open_grants(queue, _ABOVE):
                del group.positions.reached[queue]

    def silence(self, group: GroupFacts, grant: GrantFacts) -> Evidence:
        """Return how long the member of an unresolved grant was silent, as evidence."""
        member = None if grant.member is None else group.members.get(grant.member)
        if member is None:
            return Evidence(_place(grant.issued), f"{grant.client_id} sent no heartbeat")
        silent_ms = self.clock.clock_ms - member.seen_ms
        limit_ms = group.patience_ms(member)
        text = f"its newest heartbeat, {silent_ms} ms before; it lapses after {limit_ms} ms"
        return Evidence(_place(member.seen), text)


def order_of(suffix: str) -> int:
    """Return the rank of an input topic: the engine applies topics of lower rank first."""
    return _ORDER[suffix]


def _place(row: RawRecord) -> str:
    return evidence_of(row, "").place
