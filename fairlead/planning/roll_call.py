"""Who is in a group, and under which rules: as the engine finds it in the same records.

The functions are the engine's own, and so is the clock: the log's, as far as it was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairlead.core.apply import apply_record
from fairlead.core.draft import Draft
from fairlead.core.membership import lapse_members
from fairlead.core.model import MemberKey
from fairlead.core.outputs import Rejection
from fairlead.core.records import Arrival, Heartbeat, Leave, Progress, RouteChanged, RuleSet
from fairlead.core.rules import EngineRules, GroupRules, Moment
from fairlead.core.state import GroupState
from fairlead.engine.attempt import dated
from fairlead.engine.context import ShardContext
from fairlead.engine.defaults import rules_for_all, set_defaults
from fairlead.engine.line import Line
from fairlead.engine.reading import Batch, read_rows
from fairlead.planning.picture import empty_group
from fairlead.wire.raw import RawRecord

__all__ = ["RefusedRule", "RollCall", "call_roll"]


@dataclass(frozen=True, slots=True)
class RefusedRule:
    """The newest record of a rule, which the engine refuses.

    ``kept``: the log still has the value that is in force in its place.
    """

    rule: RuleSet
    rejection: Rejection
    kept: bool


@dataclass(frozen=True, slots=True)
class RollCall:
    """Members, rules and routes of a group; what members hold stands elsewhere.

    Attributes:
        state: the group, without any queue.
        engine: the engine's rules with those of all groups.
        of_all: those of all groups alone.
        rules: in force.
        lapsed: members that were heard and have been silent for longer than their lease.
        refused: rules that are not in force although they were set last.
        groups: every group that the records name.
        ticked_ms: when the newest tick was appended; None: there was none.
        clock_ms: the clock after the last record, from 0 at the first heartbeats record read.
        progress: what members told of their queues, in order.
    """

    state: GroupState
    engine: EngineRules
    of_all: Mapping[str, Any]
    rules: GroupRules
    lapsed: frozenset[MemberKey]
    refused: tuple[RefusedRule, ...]
    groups: frozenset[str]
    ticked_ms: int | None
    clock_ms: int
    progress: tuple[Arrival, ...]


def call_roll(group: str, rows: Sequence[RawRecord], context: ShardContext) -> RollCall:
    """Return who is in a group by the records of control, routes and heartbeats.

    Args:
        group: its name.
        rows: of the group's partitions and of every route; of heartbeats those of the last lease
            and margin, or more.
        context: the shard, the strategies, and the period of the ticks. Its generation is above
            every generation.

    Raises:
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    batch = read_rows(None, rows, context)
    lines = batch.lines.get(group, ())
    defaults, verdicts = set_defaults({}, batch.defaults, context.rules)
    engine = rules_for_all(defaults, context.rules)
    clock = batch.clock
    moment = Moment(clock.clock_ms, batch.newest_ms, clock.marker)
    draft = Draft(empty_group(group), moment, engine, engine.defaults)
    verdicts += [(line, _applied(draft, line)) for line in lines if _is(line, RuleSet)]
    for line in lines:
        if _is(line, Heartbeat, Leave):
            _applied(draft, line)
    heard = dated(draft.state, batch.beats.get(group, ()))
    assert heard is not None, "there was a group"
    draft.state = heard
    draft.state.routes = {
        changed.topic: changed.route
        for told in batch.routes.values()
        if isinstance(changed := told[-1].record, RouteChanged) and changed.route is not None
    }
    lapse_members(draft)
    return RollCall(
        state=draft.state,
        engine=engine,
        of_all=defaults,
        rules=draft.rules,
        lapsed=frozenset(key for key, stone in draft.state.tombstones.items() if stone.lapsed),
        refused=_refused(verdicts),
        groups=_groups(batch),
        ticked_ms=max((row.append_ms for row in rows if _is_tick(row, context)), default=None),
        clock_ms=clock.clock_ms,
        progress=tuple(line.arrival for line in lines if _is(line, Progress)),
    )


def _is(line: Line, *kinds: type) -> bool:
    return isinstance(line.record, kinds)


def _applied(draft: Draft, line: Line) -> Rejection | None:
    apply_record(draft, line.arrival)
    return draft.rejections.pop() if draft.rejections else None


def _refused(verdicts: Sequence[tuple[Line, Rejection | None]]) -> tuple[RefusedRule, ...]:
    accepted: dict[tuple[str, str, tuple[str, ...]], bool] = {}
    newest: dict[tuple[str, str, tuple[str, ...]], tuple[RuleSet, Rejection | None]] = {}
    for line, rejection in verdicts:
        rule = line.record
        assert isinstance(rule, RuleSet)
        place = (rule.group, rule.rule, rule.subject)
        newest[place] = (rule, rejection)
        if rejection is None:
            accepted[place] = rule.value is not None
    return tuple(
        RefusedRule(rule, rejection, kept=accepted.get(place, False))
        for place, (rule, rejection) in newest.items()
        if rejection is not None
    )


def _groups(batch: Batch) -> frozenset[str]:
    return frozenset({*batch.lines, *batch.beats})


def _is_tick(row: RawRecord, context: ShardContext) -> bool:
    return row.key is None and row.topic == context.topics.name("heartbeats")
