"""A live group, from what stands in Fairlead's topics: members, what they hold, rules and routes.

Decides what of it is sure. Members are those whose heartbeats the engine counts; owners are those
of the newest assignment records. A queue on its way from one member to another is planned from
where it goes to, whether or not it was released; what is unusual is told in words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.allocation import Strategy
from fairlead.core.apply import apply_record
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.queue_measures import weigh_queues
from fairlead.core.records import Arrival, Progress
from fairlead.core.routes import has_closed_queues
from fairlead.core.rules import EngineRules
from fairlead.core.state import Grant, QueueState
from fairlead.engine.context import ShardContext
from fairlead.engine.parsed_row import Line
from fairlead.engine.reading import read_rows
from fairlead.observed.core_group import CoreGroup, core_group
from fairlead.observed.engine_life import EngineLife
from fairlead.observed.forecast import forecast
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.ownership import Share
from fairlead.observed.planned_group import SOMEWHERE, Picture
from fairlead.observed.reading import observe_group
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.assignment_sets import ToldSet
from fairlead.wire.limits import INT64_MAX
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.partition import partition_of_group

__all__ = ["LiveGroup", "Passing", "UnknownGroupError", "live_group", "read_live_group"]

_MEASURED_MS_MAX: Final = 600_000
"""Progress is read for no longer than this, whatever window the rule ``weighing`` has."""


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
        observed: everything that is known of it.
        picture: every queue where it is or goes to.
        in_force: its rules, and where they come from.
        core: who is in it, as the core knows it.
        passing: the queues on their way.
        newest_ms: when the newest heartbeats record of its partition was appended.
        measured_ms: for how long progress was read to know what queues weigh; 0: it was not.
        others: other groups that records name.
    """

    observed: ObservedGroup
    picture: Picture
    in_force: RulesInForce
    core: CoreGroup
    passing: tuple[Passing, ...]
    newest_ms: int | None
    measured_ms: int = 0
    others: frozenset[str] = frozenset()

    @property
    def told(self) -> Mapping[MemberKey, ToldSet]:
        """What each member was told to hold."""
        return self.observed.told.sets

    def engine(self, now_ms: int) -> EngineLife:
        """Return whether an engine runs for the group; ``now_ms``: up to when silence counts."""
        return self.observed.around.engine(self.observed.name, self.core.rules, now_ms)


def read_live_group(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int = LEASE_MS_MAX,
    measured: bool = False,
    forgotten: bool = False,
) -> LiveGroup:
    """Return a group as its topics say it is now.

    Args:
        source: the topics.
        group: its name.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        history_ms: decisions are read from so long ago.
        measured: find out what queues weigh although the group's rules do not ask for it.
        forgotten: return a group without members, sets and rules too: an empty one.

    Raises:
        UnknownGroupError: no record is of this group.
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    groups = observe_group(source, group, strategies, tick_ms, history_ms=history_ms)
    observed, others = groups.fold(group), frozenset(groups.other_groups)
    core = core_group(observed)
    if not forgotten and not (observed.told.sets or core.state.members or core.state.rules):
        raise UnknownGroupError(group, others)
    measured_ms, newest_ms = _measured_for_ms(core, measured=measured), observed.newest_beat_ms

    def weighed(picture: Picture) -> Picture:
        if not measured_ms or newest_ms is None:
            return picture
        return _weighed(picture, source, group, tick_ms, newest_ms - measured_ms)

    return replace(live_group(observed, core, weighed), measured_ms=measured_ms, others=others)


def live_group(
    observed: ObservedGroup,
    core: CoreGroup | None = None,
    weighed: Callable[[Picture], Picture] = lambda picture: picture,
) -> LiveGroup:
    """Return a group as everything that was observed of it says it is now.

    Args:
        observed: that.
        core: the group as the core knows it, if that is known already.
        weighed: finds out what queues weigh, which decides where they go.
    """
    core, shares = core or core_group(observed), observed.shares()
    in_force = observed.around.ruled.of(observed.name)
    picture = weighed(_picture(core, in_force, shares))
    calm = _calm(picture, shares, observed.told.sets)
    passing = tuple(_passing(picture, calm, shares))
    return LiveGroup(observed, calm, in_force, core, passing, observed.newest_beat_ms)


def _measured_for_ms(core: CoreGroup, *, measured: bool) -> int:
    """Return for how long progress must be read to know what queues weigh; 0: it decides nothing.

    A window, and two periods of the trigger: one until a queue counts, one to be in force.
    """
    rules, state = core.rules, core.state
    shared = {topic for member in state.members.values() for topic in member.topics}
    closed = any(
        has_closed_queues(route) for topic, route in state.routes.items() if topic in shared
    )
    if rules.weighing.by == "count" and not closed and not measured:
        return 0
    return min(rules.weighing.over_ms + 2 * rules.trigger_ms, _MEASURED_MS_MAX)


_Shares = Mapping[MessageQueue, list[Share]]
"""Per queue, everybody who has anything to do with it, oldest grant first; at least one."""


def _picture(core: CoreGroup, in_force: RulesInForce, shares: _Shares) -> Picture:
    """Return the group with every grant of its members that is not known to have ended."""
    state = core.state
    for queue in sorted(shares, key=queue_order):
        newest = shares[queue][-1]
        if newest.member not in state.members:
            continue
        grant = Grant(newest.member, newest.epoch, dropped=newest.state == "draining")
        state.queues[queue] = QueueState(base=SOMEWHERE, chain=(grant,))
    return Picture(state, core.engine, in_force.values_of_all, core.clock_ms)


def _weighed(
    picture: Picture, source: TopicSource, group: str, tick_ms: int, since_ms: int
) -> Picture:
    """Return the group with its queues weighed by the engine's own functions.

    The engine has measured for longer, and changes a weight in force only if it is far off: its
    weights are near these, and not always the same.
    """
    shard = partition_of_group(group, source.partitions.shards)
    engine = EngineRules(INT64_MAX, picture.engine.strategies)
    context = ShardContext(engine, shard, source.partitions, source.names, tick_ms)
    key = group.encode()
    rows = [
        # Of another group: it moves the clock and no more.
        row if row.key in (key, None) else row._replace(value=None)
        for row in source.read("heartbeats", [shard], since_ms)
    ]
    batch = read_rows(None, rows, context)
    draft = replace(picture, clock_ms=batch.clock.clock_ms).draft()
    for arrival in _progress(batch.lines.get(group, ())):
        apply_record(draft, arrival)
    weigh_queues(draft, batch.clock.clock_ms)
    state = replace(picture.state, measures=draft.state.measures, weights=draft.state.weights)
    return replace(picture, state=state)


def _progress(lines: Iterable[Line]) -> Iterator[Arrival]:
    for line in lines:
        if isinstance(line.record, Progress):
            yield line.arrival


def _calm(picture: Picture, shares: _Shares, told: Mapping[MemberKey, ToldSet]) -> Picture:
    """Return the group when what is under way is over.

    A group at rest is left as it is, so that what the engine holds is not second-guessed. Where a
    queue is on its way, or a member waits, the engine decides again: it is taken at its word. In a
    paused group it decides nothing, so everything is with whom it is.
    """
    if picture.rules.pause:
        return picture.owned(picture.owners)
    held, goes_to = picture.owners, forecast(picture).picture.owners
    waits = any(member.key not in told for member in picture.members.values())
    moving = any(
        queue not in held and (queue in shares or queue in goes_to) for queue in picture.queues
    )
    return picture.owned(goes_to if waits or moving else held)


def _passing(picture: Picture, calm: Picture, shares: _Shares) -> Iterator[Passing]:
    held, goes_to = picture.owners, calm.owners
    for queue in picture.queues:
        successor, of_queue = goes_to.get(queue), shares.get(queue, [])
        holder = of_queue[-1].member.client_id if of_queue else None
        stays = queue in held and held[queue] == successor
        if len(of_queue) > 1 and of_queue[-1].state == "gated":
            holder, stays = of_queue[-2].member.client_id, False
        if not stays and (holder is not None or successor is not None):
            yield Passing(queue, holder, successor)
