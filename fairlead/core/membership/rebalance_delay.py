"""When a group may move its queues: not while it is paused, and only after changes settle.

Decides nothing about who gets what. Until then every queue stays with its holder, a free queue
waits for the client that should have it, and handovers that have begun end (rules H23 and H24).

ADR 0106 gives the reasons.
"""

from fairlead.core.draft import Draft
from fairlead.core.outputs import Cause
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.state import GroupState, Settling
from fairlead.core.topics.partitions_added import is_growing

__all__ = ["keep_targets", "may_share", "note_change", "window_end_ms"]


def note_change(draft: Draft, kind: str, clock_ms: int) -> None:
    """Note a change of members or subscriptions at a clock: targets must be computed again.

    With the rule ``settle_ms`` the first change opens a window, and all changes count at its end.
    With ``react`` on tick a change waits for the next computation, at the latest the next trigger
    (RocketMQ's notifyConsumerIdsChangedEnable = false). It does not wait while nobody works: there
    too a consumer that starts alone begins at once (DefaultMQPushConsumerImpl#start).
    """
    if draft.rules.react == "on_tick" and _somebody_works(draft.state):
        return
    draft.dirty = True
    state = draft.state
    if not draft.rules.settle_ms or draft.rules.pause:
        return
    known = state.settling or Settling(clock_ms, {})
    changes = {**known.changes, kind: known.changes.get(kind, 0) + 1}
    state.settling = Settling(min(known.opened_ms, clock_ms), changes)


def _somebody_works(state: GroupState) -> bool:
    """Tell whether a member that stays holds a queue that no drop takes from it."""
    wanted = (value.chain[-1] for value in state.queues.values() if value.chain)
    return any(not grant.dropped and not state.members[grant.member].leaving for grant in wanted)


def window_end_ms(state: GroupState, rules: GroupRules) -> int | None:
    """Return the clock at which the open window ends; None: no window is open."""
    return None if state.settling is None else state.settling.opened_ms + rules.settle_ms


def may_share(draft: Draft) -> bool:
    """Tell whether this step may move queues; close a window that is over.

    It may not while the bounds of new queues are unknown. An operator's rule ends both waits, and
    what has changed meanwhile counts in the same decision.
    """
    state, rules = draft.state, draft.rules
    hurried = any(cause.rule for cause in draft.causes.values())
    if rules.pause:
        state.settling = state.growing_since_ms = None
        return False
    settles = _is_settling(draft, hurried=hurried)
    return not is_growing(draft, hurried=hurried) and not settles


def _is_settling(draft: Draft, *, hurried: bool) -> bool:
    """Tell whether the window is open; close one that is over."""
    state, rules = draft.state, draft.rules
    window, end_ms = state.settling, window_end_ms(state, rules)
    if window is None or end_ms is None:
        return False
    over = draft.moment.clock_ms >= end_ms
    if not over and not hurried:
        return True
    state.settling = None
    draft.dirty = True
    if over:
        counted = ", ".join(f"{number} {kind}" for kind, number in sorted(window.changes.items()))
        draft.because_of(Cause("settled", because=f"{counted} within {rules.settle_ms} ms"))
    return False


def keep_targets(draft: Draft) -> None:
    """Make the holder of every queue its target.

    The targets of an older state may name others than the members that claim the queues.
    """
    targets = draft.state.targets
    for queue, value in draft.state.queues.items():
        if value.chain and not value.chain[-1].dropped:
            targets[queue] = value.chain[-1].member.client_id
