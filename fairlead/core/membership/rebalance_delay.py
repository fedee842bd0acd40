"""When the queues of a group may be shared anew: not while it is paused, and after changes settle.

Decides nothing about who gets what. While nothing may be shared, every queue stays with its holder;
what nobody holds waits for the client that should have it, and what was begun is finished (rules
H23 and H24).

ADR 0106 gives the reasons.
"""

from fairlead.core.draft import Draft
from fairlead.core.outputs import Cause
from fairlead.core.topics.partitions_added import is_growing
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.state import GroupState, Settling

__all__ = ["keep_targets", "may_share", "note_change", "window_end_ms"]


def note_change(draft: Draft, kind: str, clock_ms: int) -> None:
    """Note that who consumes what has changed at a clock: the shares must be worked out anew.

    With the rule ``settle_ms`` the first such change opens a window, and all of them count at its
    end. With ``react`` on tick it counts with whatever makes the shares be worked out next, the
    trigger at the latest (RocketMQ's notifyConsumerIdsChangedEnable = false), unless nobody works:
    a consumer that starts alone begins at once there too (DefaultMQPushConsumerImpl#start).
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
    """Tell whether a member that stays holds a queue that it was not told to give up."""
    wanted = (value.chain[-1] for value in state.queues.values() if value.chain)
    return any(not grant.dropped and not state.members[grant.member].leaving for grant in wanted)


def window_end_ms(state: GroupState, rules: GroupRules) -> int | None:
    """Return the clock at which the open window ends; None: none is open."""
    return None if state.settling is None else state.settling.opened_ms + rules.settle_ms


def may_share(draft: Draft) -> bool:
    """Tell whether this step may share the queues anew; a window that is over is closed.

    Nor while a topic has grown and the bounds of its new queues are asked for. An operator's rule
    ends both: who sets one is not kept waiting, and what has changed
    meanwhile counts in the same decision.
    """
    state, rules = draft.state, draft.rules
    hurried = any(cause.rule for cause in draft.causes.values())
    if rules.pause:
        state.settling = state.growing_since_ms = None
        return False
    settles = _is_settling(draft, hurried=hurried)
    return not is_growing(draft, hurried=hurried) and not settles


def _is_settling(draft: Draft, *, hurried: bool) -> bool:
    """Tell whether the window is open; one that is over is closed."""
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
    """Aim every queue that somebody holds at its holder.

    Targets of an older state may name others than those who hold the queues by their claims.
    """
    targets = draft.state.targets
    for queue, value in draft.state.queues.items():
        if value.chain and not value.chain[-1].dropped:
            targets[queue] = value.chain[-1].member.client_id
