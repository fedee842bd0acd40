"""What a step does about the footing of its group, when all records are applied."""

from dataclasses import replace
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.footing.follow import begin_to_follow, give_back_when_asked
from fairlead.core.footing.looks import note_changes, note_foreign, reads_rocketmq
from fairlead.core.footing.take_over import (
    FREEZE_MAX_MS,
    begin_when_attached,
    confirm_when_known,
    take_when_told,
)
from fairlead.core.footing.transitions import standing_of
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState

__all__ = ["footing_due_ms", "hold_still", "settle_footing", "stands_still"]

_STILL: Final = frozenset((Footing.FOLLOWING, Footing.FREEZING, Footing.CONFIRMING))


def stands_still(state: GroupState) -> bool:
    """Tell whether the engine shares nothing out: it is not its turn, or not yet."""
    return state.standing is not None and state.standing.footing in _STILL


def settle_footing(draft: Draft) -> None:
    """Change the footing if what was read asks for that."""
    state = draft.state
    if state.standing is None or state.barrier is not None or not state.members:
        return
    _tidy(draft)
    changed = note_changes(draft)
    match standing_of(draft).footing:
        case Footing.FOLLOWING:
            begin_when_attached(draft)
        case Footing.FREEZING:
            take_when_told(draft, changed=changed)
        case Footing.CONFIRMING:
            confirm_when_known(draft)
        case None:
            begin_to_follow(draft)
    if not stands_still(state):
        give_back_when_asked(draft)
    # What this step has changed makes every earlier look void.
    note_changes(draft)
    note_foreign(draft)
    if stands_still(state):
        hold_still(draft)
    standing = standing_of(draft)
    plain = standing.footing is None and not standing.gone
    if plain and not any(map(reads_rocketmq, state.members.values())):
        state.standing = None


def hold_still(draft: Draft) -> None:
    """Wait for nothing that only a group of the engine's has."""
    state = draft.state
    state.settling = state.growing_since_ms = None
    clock_ms, period = draft.moment.clock_ms, draft.rules.trigger_ms
    if clock_ms // period > state.recomputed_ms // period:
        # The next trigger is due one period later, as after a computation.
        state.recomputed_ms = clock_ms
    if standing_of(draft).footing is not Footing.CONFIRMING:
        state.awaited = {}
    # The end of a take-over computes anew.
    draft.dirty = False
    draft.idle.clear()


def footing_due_ms(state: GroupState) -> int | None:
    """Return the clock at which a footing may change without a record; None: never."""
    standing = state.standing
    if standing is None or state.barrier is not None:
        return None
    if standing.footing is Footing.FREEZING:
        return standing.since_ms + FREEZE_MAX_MS
    return standing.retry_ms if standing.footing is Footing.FOLLOWING else None


def _tidy(draft: Draft) -> None:
    """Forget what was said by members that are gone, and ids that nobody knows any more."""
    standing, state = standing_of(draft), draft.state
    clock_ms = draft.moment.clock_ms
    draft.state.standing = replace(
        standing,
        said={key: each for key, each in standing.said.items() if key in state.members},
        formers={key: each for key, each in standing.formers.items() if key in state.members},
        gone={each: until for each, until in standing.gone.items() if until >= clock_ms},
    )
