"""When the queues of a group may be shared anew: not while it is paused, and after changes settle.

Decides nothing about who gets what. While nothing may be shared, every queue stays with its holder;
what nobody holds waits for the client that should have it, and what was begun is finished (rules
H23 and H24).
"""

from fairlead.core.draft import Draft
from fairlead.core.outputs import Cause
from fairlead.core.rules import GroupRules
from fairlead.core.state import GroupState, Settling

__all__ = ["keep_targets", "may_share", "note_change", "window_end_ms"]


def note_change(draft: Draft, kind: str, clock_ms: int) -> None:
    """Note that who consumes what has changed at a clock: the shares must be worked out anew.

    With the rule ``settle_ms`` the first such change opens a window, and all of them count at its
    end.
    """
    draft.dirty = True
    state = draft.state
    if not draft.rules.settle_ms or draft.rules.pause:
        return
    known = state.settling or Settling(clock_ms, {})
    changes = {**known.changes, kind: known.changes.get(kind, 0) + 1}
    state.settling = Settling(min(known.opened_ms, clock_ms), changes)


def window_end_ms(state: GroupState, rules: GroupRules) -> int | None:
    """Return the clock at which the open window ends; None: none is open."""
    return None if state.settling is None else state.settling.opened_ms + rules.settle_ms


def may_share(draft: Draft) -> bool:
    """Tell whether this step may share the queues anew; a window that is over is closed.

    An operator's rule ends the window: who sets one is not kept waiting, and what has changed
    meanwhile counts in the same decision.
    """
    state, rules = draft.state, draft.rules
    if rules.pause:
        state.settling = None
        return False
    window, end_ms = state.settling, window_end_ms(state, rules)
    if window is None or end_ms is None:
        return True
    over = draft.moment.clock_ms >= end_ms
    if not over and not any(cause.rule for cause in draft.causes.values()):
        return False
    state.settling = None
    draft.dirty = True
    if over:
        counted = ", ".join(f"{number} {kind}" for kind, number in sorted(window.changes.items()))
        draft.because_of(Cause("settled", because=f"{counted} within {rules.settle_ms} ms"))
    return True


def keep_targets(draft: Draft) -> None:
    """Aim every queue that somebody holds at its holder.

    Targets of an older state may name others than those who hold the queues by their claims.
    """
    targets = draft.state.targets
    for queue, value in draft.state.queues.items():
        if value.chain and not value.chain[-1].dropped:
            targets[queue] = value.chain[-1].member.client_id
