"""The audit record of a group that enters, stays in or leaves quarantine, or is forgotten.

The core writes the record of every step. If no step succeeds, the engine writes this one.
"""

from dataclasses import replace

from fairlead.core.membership.members import effective_members
from fairlead.core.model import NOTHING
from fairlead.core.ordering import java_order
from fairlead.core.outputs import Cause, Cut, Decision, Failure, GroupSummary
from fairlead.core.publishing.publish import summary_of
from fairlead.core.rules.group_rules import rules_of
from fairlead.core.state import GroupState
from fairlead.engine.group_step import Attempt, reraise_unless_own

__all__ = ["decision_of"]

_EMPTY = GroupSummary("empty", 0, 0, 0, 0)


def decision_of(
    attempt: Attempt,
    state: GroupState | None,
    trigger: str,
    *,
    phase: str | None = None,
    alarms: tuple[str, ...] = (),
) -> Decision:
    """Return the record of what the engine did with a group in this state.

    ``phase`` replaces the phase of the state.
    """
    epoch = NOTHING if state is None else state.epoch
    strategy, members, failures, summary = _describe(attempt, state)
    moment = attempt.moment
    return Decision(
        group=attempt.group,
        epoch=epoch,
        previous_epoch=epoch,
        triggers=(trigger,),
        cause=(Cause(trigger),),
        strategy=strategy,
        members=members,
        moves=(),
        state=summary if phase is None else replace(summary, phase=phase),
        failures=failures,
        alarms=alarms,
        clock_ms=moment.clock_ms,
        at_ms=moment.append_ms,
        cut=Cut(attempt.engine.generation, moment.shard, moment.step, moment.positions),
    )


def _describe(
    attempt: Attempt, state: GroupState | None
) -> tuple[str, tuple[str, ...], tuple[Failure, ...], GroupSummary]:
    strategy = attempt.engine.defaults.strategy
    if state is None:
        return strategy, (), (), _EMPTY
    # A state that breaks the step may also break its description; the record comes anyhow.
    try:
        rules = rules_of(state.rules, attempt.engine)
        return (
            rules.strategy,
            tuple(sorted(effective_members(state.members), key=java_order)),
            tuple(state.failures[topic] for topic in sorted(state.failures)),
            summary_of(state, rules),
        )
    except Exception as error:  # noqa: BLE001 - as above
        reraise_unless_own(error)
        return strategy, (), (), replace(_EMPTY, queues=len(state.queues))
