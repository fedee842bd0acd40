"""A group as the core knows it, built from what was observed: a plan starts from it.

Members are those whose heartbeats were read, dated by the log's clock. The core's own functions
decide who has lapsed and who is waited for, so nothing is decided twice.
"""

from dataclasses import dataclass

from fairlead.core.allocation import Strategy
from fairlead.core.draft import Draft
from fairlead.core.membership.members import lapse_members
from fairlead.core.membership.restart_grace import await_return, end_restart_grace
from fairlead.core.moment import Moment
from fairlead.core.rules.group_rules import EngineRules, GroupRules, rules_of
from fairlead.core.state import GroupState, Liveness
from fairlead.engine.defaults import rules_for_all
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.planned_group import empty_group
from fairlead.wire.limits import INT64_MAX

__all__ = ["CoreGroup", "core_group"]


@dataclass(frozen=True, slots=True)
class CoreGroup:
    """Members, rules and routes of a group, without what the members hold.

    Attributes:
        state: the group, without queues.
        engine: the engine's rules, including those of all groups.
        rules: in force.
        clock_ms: the clock of its partition after the last record; it began at 0 with the first
            record that was read.
    """

    state: GroupState
    engine: EngineRules
    rules: GroupRules
    clock_ms: int


def core_group(group: ObservedGroup) -> CoreGroup:
    """Return a group as the core has it once everything that was read has taken effect."""
    facts, in_force = group.facts, group.facts.rules.of(group.name)
    strategies: dict[str, Strategy] = dict(in_force.strategies)
    engine = rules_for_all(in_force.values_of_all, EngineRules(INT64_MAX, strategies))
    clock_ms = facts.clock_ms(group.name)
    state = empty_group(group.name)
    state.rules = dict(in_force.own_values)
    state.routes = dict(facts.routes)
    heard = group.members.heard
    state.members = {key: heard[key].member for key in sorted(heard)}
    state.liveness = {key: Liveness(heard[key].seen_ms, 0) for key in sorted(heard)}
    moment = Moment(clock_ms, append_ms=facts.as_of_ms, marker=0)
    draft = Draft(state, moment, engine, rules_of(state.rules, engine))
    lapse_members(draft)
    gone = [(each.left_ms, key) for key, each in heard.items() if each.left_ms is not None]
    for left_ms, key in sorted(gone):
        await_return(draft, heard[key].member, left_ms)
    end_restart_grace(draft)
    return CoreGroup(draft.state, engine, draft.rules, clock_ms)
