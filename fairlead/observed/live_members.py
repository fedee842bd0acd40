"""Who is in a group, and under which rules: as the engine finds it in the same records.

The functions are the engine's own, and so is the clock: the log's, as far as it was read.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.apply import apply_record
from fairlead.core.draft import Draft
from fairlead.core.membership import lapse_members
from fairlead.core.model import MemberKey
from fairlead.core.records import Arrival, Heartbeat, Leave, Progress, RouteChanged
from fairlead.core.restart_grace import give_up_the_absent
from fairlead.core.rules import EngineRules, GroupRules, Moment, rules_of
from fairlead.core.state import GroupState
from fairlead.engine.context import ShardContext
from fairlead.engine.defaults import rules_for_all
from fairlead.engine.group_step import dated
from fairlead.engine.parsed_row import Line
from fairlead.engine.reading import read_rows
from fairlead.observed.engine_life import newest_tick_ms
from fairlead.observed.planned_group import empty_group
from fairlead.wire.raw import RawRecord

__all__ = ["RollCall", "call_roll"]


@dataclass(frozen=True, slots=True)
class RollCall:
    """Members, rules and routes of a group; what members hold stands elsewhere.

    Attributes:
        state: the group, without any queue.
        engine: the engine's rules with those of all groups.
        rules: in force.
        lapsed: members that were heard and have been silent for longer than their lease.
        groups: every group that the records name.
        ticked_ms: when the newest tick was appended; None: there was none.
        clock_ms: the clock after the last record, from 0 at the first heartbeats record read.
        progress: what members told of their queues, in order.
    """

    state: GroupState
    engine: EngineRules
    rules: GroupRules
    lapsed: frozenset[MemberKey]
    groups: frozenset[str]
    ticked_ms: int | None
    clock_ms: int
    progress: tuple[Arrival, ...]


def call_roll(
    group: str,
    rows: Sequence[RawRecord],
    in_force: RulesInForce,
    context: ShardContext,
    claimed: int,
) -> RollCall:
    """Return who is in a group by the records of routes and heartbeats.

    Args:
        group: its name.
        rows: every route, and of the group's partition of heartbeats those of the last lease and
            margin, or more.
        in_force: the rules of the group and of all groups.
        context: the shard, the strategies, and the period of the ticks. Its generation is above
            every generation.
        claimed: the newest generation that a driver has claimed: ticks of others are not believed.

    Raises:
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    batch = read_rows(None, [_as_read(row, group, context) for row in rows], context)
    lines = batch.lines.get(group, ())
    engine = rules_for_all(in_force.values_of_all, context.rules)
    clock = batch.clock
    state = empty_group(group)
    state.rules = dict(in_force.own_values)
    moment = Moment(clock.clock_ms, batch.newest_ms, clock.marker)
    draft = Draft(state, moment, engine, rules_of(state.rules, engine))
    for line in lines:
        if _is(line, Heartbeat, Leave):
            apply_record(draft, line.arrival)
    heard = dated(draft.state, batch.beats.get(group, ()))
    assert heard is not None, "there was a group"
    draft.state = heard
    draft.state.routes = {
        changed.topic: changed.route
        for told in batch.routes.values()
        if isinstance(changed := told[-1].record, RouteChanged) and changed.route is not None
    }
    lapse_members(draft)
    give_up_the_absent(draft)
    return RollCall(
        state=draft.state,
        engine=engine,
        rules=draft.rules,
        lapsed=frozenset(key for key, stone in draft.state.tombstones.items() if stone.lapsed),
        groups=frozenset(_groups(rows, context)),
        ticked_ms=newest_tick_ms((row for row in rows if _is_heartbeat(row, context)), claimed),
        clock_ms=clock.clock_ms,
        progress=tuple(line.arrival for line in lines if _is(line, Progress)),
    )


def _is(line: Line, *kinds: type) -> bool:
    return isinstance(line.record, kinds)


def _as_read(row: RawRecord, group: str, context: ShardContext) -> RawRecord:
    """Return a row; without its value if it is of another group: it moves the clock and no more."""
    of_another = row.key is not None and row.key != group.encode()
    return row._replace(value=None) if of_another and _is_heartbeat(row, context) else row


def _groups(rows: Sequence[RawRecord], context: ShardContext) -> Iterator[str]:
    for row in rows:
        if row.key is not None and row.value is not None and _is_heartbeat(row, context):
            yield row.key.decode(errors="replace")


def _is_heartbeat(row: RawRecord, context: ShardContext) -> bool:
    return row.topic == context.topics.name("heartbeats")
