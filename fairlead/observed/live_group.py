"""A live group, from what stands in Fairlead's topics: members, what they hold, rules and routes.

Decides what of it is sure. Members are those whose heartbeats the engine counts; owners are those
of the newest assignment records. A queue on its way from one member to another is planned from
where it goes to, whether or not it was released; what is unusual is told in words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fairlead.control.rules_in_force import RulesInForce, rules_in_force
from fairlead.core.allocation import Strategy
from fairlead.core.apply import apply_record
from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.queue_measures import weigh_queues
from fairlead.core.records import Release
from fairlead.core.routes import has_closed_queues
from fairlead.core.rules import EngineRules
from fairlead.core.state import Grant, QueueState
from fairlead.engine.context import ShardContext
from fairlead.observed.engine_life import EngineLife
from fairlead.observed.forecast import forecast
from fairlead.observed.live_members import RollCall, call_roll
from fairlead.observed.planned_group import SOMEWHERE, Picture
from fairlead.observed.sets import Sets, holders_before, newest_entries, read_sets
from fairlead.sources.decision_log import claimed_generation
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.assignment_records import HeldEntry
from fairlead.wire.assignment_sets import ToldSet
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import INT64_MAX, WireLimits
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["LiveGroup", "Passing", "Released", "UnknownGroupError", "read_live_group"]

_TICKS_BESIDE: Final = 5
"""So many ticks beside lease and margin are read: a record may come a little late."""
_MEASURED_MS_MAX: Final = 600_000
"""Progress is read for no longer than this, whatever window the rule ``weighing`` has."""
_BESIDE_MS: Final = 60_000
"""A release is looked for from so long before the record that asked for it."""


Released = tuple[MessageQueue, MemberKey, Epoch]
"""A grant of which the release stands in the log."""


class UnknownGroupError(LookupError):
    """No record is of this group; ``known`` are groups of which there are some."""

    def __init__(self, group: str, known: frozenset[str]) -> None:
        super().__init__(group)
        self.group = group
        self.known = known


@dataclass(frozen=True, slots=True)
class Passing:
    """A queue on its way. ``holder`` None: nobody holds it; ``successor`` None: nobody gets it."""

    queue: MessageQueue
    holder: str | None
    successor: str | None


@dataclass(frozen=True, slots=True)
class LiveGroup:
    """A group as it is now.

    Attributes:
        picture: every queue where it is or goes to.
        in_force: its rules, and where they come from.
        roll: who is in it.
        told: what each member was told to hold.
        passing: the queues on their way.
        newest_ms: when the newest heartbeats record of its partition was appended.
        measured_ms: for how long progress was read to know what queues weigh; 0: it was not.
        released: grants that were to be given up and have been.
        claimed: the newest generation that a driver has claimed; 0: none.
    """

    picture: Picture
    in_force: RulesInForce
    roll: RollCall
    told: Mapping[MemberKey, ToldSet]
    passing: tuple[Passing, ...]
    newest_ms: int | None
    measured_ms: int
    released: frozenset[Released]
    claimed: int

    def engine(self, tick_ms: int, now_ms: int) -> EngineLife:
        """Return whether an engine runs, as far as the last lease and margin tell."""
        patience_ms = self.roll.rules.lease_ms + self.roll.rules.margin_ms
        since_ms = None if self.newest_ms is None else self.newest_ms - patience_ms
        ticked_ms, newest_ms = self.roll.ticked_ms, self.newest_ms
        return EngineLife(
            ticked_ms, newest_ms, since_ms, now_ms, tick_ms, patience_ms, self.claimed
        )


def read_live_group(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    measured: bool = False,
    forgotten: bool = False,
) -> LiveGroup:
    """Return a group as its topics say it is now.

    Args:
        source: the topics.
        group: its name.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        measured: find out what queues weigh although the group's rules do not ask for it.
        forgotten: return a group without members, sets and rules too: an empty one.

    Raises:
        UnknownGroupError: no record is of this group.
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    shard = partition_of_group(group, source.partitions.shards)
    context = ShardContext(
        EngineRules(INT64_MAX, strategies), shard, source.partitions, source.names, tick_ms
    )
    sets = read_sets(source.read("assignments", range(source.partitions.assignments)), group)
    control = source.read("control", [shard])
    in_force = rules_in_force(control, group, source.partitions.shards, strategies)
    newest_ms = source.newest_ms("heartbeats", shard)
    caller = _Caller(source, group, context, in_force, claimed_generation(source))
    roll = caller.call(sets, newest_ms, measured=measured)
    if not forgotten and not sets.told and not roll.state.members and not roll.state.rules:
        raise UnknownGroupError(group, sets.groups | roll.groups)
    newest = newest_entries(sets.told)
    waited_for = holders_before(sets.told, newest)
    released = _released(source, sets, (*newest.values(), *waited_for.values()), shard)
    granted, before = _unreleased(newest, released), _unreleased(waited_for, released)
    picture = _picture(roll, in_force, granted)
    if caller.measured_ms:
        picture = _weighed(picture, roll)
    calm = _calm(picture, granted, sets)
    passing = tuple(_passing(picture, calm, granted, before))
    return LiveGroup(
        calm,
        in_force,
        roll,
        sets.told,
        passing,
        newest_ms,
        caller.measured_ms,
        released,
        caller.claimed,
    )


@dataclass(slots=True)
class _Caller:
    """Calls the roll by the last heartbeats, and by more where these leave something open."""

    source: TopicSource
    group: str
    context: ShardContext
    in_force: RulesInForce
    claimed: int
    measured_ms: int = 0

    def call(self, sets: Sets, newest_ms: int | None, *, measured: bool) -> RollCall:
        """Return who is in the group."""
        routes = self.source.read("routes", [0])
        roll = self._called(routes)
        if newest_ms is None:
            return roll
        self.measured_ms = _measured_for_ms(roll, measured=measured)
        beside_ms = roll.rules.margin_ms + _TICKS_BESIDE * self.context.tick_ms
        heard_ms = max(roll.rules.lease_ms, roll.rules.restart_grace_ms) + beside_ms
        since_ms = newest_ms - max(heard_ms, self.measured_ms)
        roll = self._called(routes, since_ms)
        open_since = list(_open_since(roll, sets, newest_ms - LEASE_MS_MAX - beside_ms))
        return self._called(routes, min([since_ms, *open_since])) if open_since else roll

    def _called(self, routes: list[RawRecord], since_ms: int | None = None) -> RollCall:
        shard = self.context.shard
        beats = [] if since_ms is None else self.source.read("heartbeats", [shard], since_ms)
        rows = [*routes, *beats]
        return call_roll(self.group, rows, self.in_force, self.context, self.claimed)


def _measured_for_ms(roll: RollCall, *, measured: bool) -> int:
    """Return for how long progress must be read to know what queues weigh; 0: it decides nothing.

    A window, and two periods of the trigger: one until a queue counts, one to be in force.
    """
    rules = roll.rules
    closed = any(has_closed_queues(route) for route in roll.state.routes.values())
    if rules.weighing.by == "count" and not closed and not measured:
        return 0
    return min(rules.weighing.over_ms + 2 * rules.trigger_ms, _MEASURED_MS_MAX)


def _open_since(roll: RollCall, sets: Sets, longest_ago_ms: int) -> Iterable[int]:
    """Yield from when on heartbeats must be read to be sure of a member."""
    for member, held in sets.told.items():
        if member not in roll.state.members and member not in roll.lapsed:
            # Silent, or it keeps a longer lease than its group's rule.
            yield longest_ago_ms
        elif held.entries and all(entry.state == "draining" for entry in held.entries):
            # It gives everything up: perhaps because of a leave that it wrote before it was told.
            yield min(longest_ago_ms, held.at_ms - LEASE_MS_MAX)


_Granted = Mapping[MessageQueue, tuple[MemberKey, HeldEntry]]


def _picture(roll: RollCall, in_force: RulesInForce, granted: _Granted) -> Picture:
    """Return the group with every grant of its members that is not known to have ended."""
    state = roll.state
    for queue in sorted(granted, key=queue_order):
        member, entry = granted[queue]
        if member not in state.members:
            continue
        grant = Grant(member, entry.epoch, dropped=entry.state == "draining")
        state.queues[queue] = QueueState(base=SOMEWHERE, chain=(grant,))
    return Picture(state, roll.engine, in_force.values_of_all, roll.clock_ms)


def _weighed(picture: Picture, roll: RollCall) -> Picture:
    """Return the group with its queues weighed by the engine's own functions.

    The engine has measured for longer, and changes a weight in force only if it is far off: its
    weights are near these, and not always the same.
    """
    draft = picture.draft()
    for arrival in roll.progress:
        apply_record(draft, arrival)
    weigh_queues(draft, picture.clock_ms)
    state = replace(picture.state, measures=draft.state.measures, weights=draft.state.weights)
    return replace(picture, state=state)


def _unreleased(grants: _Granted, released: frozenset[Released]) -> _Granted:
    return {
        queue: (member, entry)
        for queue, (member, entry) in grants.items()
        if (queue, member, entry.epoch) not in released
    }


def _released(
    source: TopicSource,
    sets: Sets,
    grants: Iterable[tuple[MemberKey, HeldEntry]],
    shard: int,
) -> frozenset[Released]:
    """Return which of these grants were to be given up and have been.

    A member's record is not written again when it has given up what it was told to.
    """
    draining = {member for member, entry in grants if entry.state == "draining"}
    if not draining:
        return frozenset()
    since_ms = min(sets.told[member].at_ms for member in draining) - _BESIDE_MS
    limits = WireLimits(source.partitions.shards)
    found = set()
    for row in source.read("releases", [shard], since_ms):
        try:
            record = decode("releases", row, limits)
        except WireError:
            # The engine refuses it as well.
            continue
        if isinstance(record, Release):
            found.add((record.queue, record.member, record.epoch))
    return frozenset(found)


def _calm(picture: Picture, granted: _Granted, sets: Sets) -> Picture:
    """Return the group when what is under way is over.

    A group at rest is left as it is, so that what the engine holds is not second-guessed. Where a
    queue is on its way, or a member waits, the engine decides again: it is taken at its word. In a
    paused group it decides nothing, so everything is with whom it is.
    """
    if picture.rules.pause:
        return picture.owned(picture.owners)
    held, goes_to = picture.owners, forecast(picture).picture.owners
    waits = any(member.key not in sets.told for member in picture.members.values())
    moving = any(
        queue not in held and (queue in granted or queue in goes_to) for queue in picture.queues
    )
    return picture.owned(goes_to if waits or moving else held)


def _passing(
    picture: Picture,
    calm: Picture,
    granted: _Granted,
    before: _Granted,
) -> Iterable[Passing]:
    held, goes_to = picture.owners, calm.owners
    for queue in picture.queues:
        successor = goes_to.get(queue)
        holder = granted[queue][0].client_id if queue in granted else None
        stays = queue in held and held[queue] == successor
        if queue in before:
            holder, stays = before[queue][0].client_id, False
        if not stays and (holder is not None or successor is not None):
            yield Passing(queue, holder, successor)
