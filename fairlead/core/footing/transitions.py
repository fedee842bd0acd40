"""Which footing may follow which, as one table, and the one place that changes it (ADR 0245)."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.outputs import Cause
from fairlead.core.standing import Footing, Standing

__all__ = ["TRANSITIONS", "Event", "IllegalFootingError", "move", "standing_of"]

BECAUSE_MAX: Final = 255
"""The protocol's limit of a reason."""


class Event(StrEnum):
    """What changes a footing; each word but the last two is the cause of its decision."""

    STANDING_BY = "standing_by"
    """All members can follow, and nobody has a grant."""
    BEGINS = "take_over_begins"
    """Everybody in the group is attached."""
    TAKEN = "taken_over"
    """Every member has told what it holds."""
    FAILED = "take_over_failed"
    """Something changed before every member had told it."""
    DONE = "take_over_done"
    """Every member knows its grants."""
    GIVING = "giving_back"
    """The rule says never, and all members can follow."""
    KEPT = "rules_changed"
    """The group stays with the engine after all; the rule or the member has its own cause."""
    GIVEN = "given_back"
    """Every queue lies as the members' strategy would have it."""
    FOUND = "found"
    """The end of a barrier has shown what the members do."""


class IllegalFootingError(AssertionError):
    """A footing changed as the table does not list: a bug, never a matter of input."""


_FOLLOWING, _FREEZING, _CONFIRMING = Footing.FOLLOWING, Footing.FREEZING, Footing.CONFIRMING
_OWN, _RETURNING = Footing.OWN, Footing.RETURNING
_ANY: Final = (None, *Footing)

TRANSITIONS: Mapping[tuple[Footing | None, Event], frozenset[Footing | None]] = {
    (None, Event.STANDING_BY): frozenset({_FOLLOWING}),
    (_FOLLOWING, Event.BEGINS): frozenset({_FREEZING}),
    (_FREEZING, Event.TAKEN): frozenset({_CONFIRMING}),
    (_FREEZING, Event.FAILED): frozenset({_FOLLOWING}),
    (_CONFIRMING, Event.DONE): frozenset({_OWN}),
    (None, Event.GIVING): frozenset({_RETURNING}),
    (_OWN, Event.GIVING): frozenset({_RETURNING}),
    (_RETURNING, Event.KEPT): frozenset({_OWN}),
    (_RETURNING, Event.GIVEN): frozenset({_FOLLOWING}),
    **{(each, Event.FOUND): frozenset({None, _FOLLOWING, _CONFIRMING, _OWN}) for each in _ANY},
}
"""(footing, event) -> the footings that may follow."""

_SILENT: Final = frozenset((Event.KEPT, Event.FOUND))
"""Events that come with a cause of their own."""


def standing_of(draft: Draft) -> Standing:
    """Return what the group remembers of its footing; nothing yet is remembered as nothing."""
    return draft.state.standing or Standing()


def move(draft: Draft, event: Event, to: Footing | None, because: str | None = None) -> Standing:
    """Put the group on another footing, and return what it remembers then.

    A change that its members must hear of writes an assignment to each. No look from before it
    counts any more.

    Raises:
        IllegalFootingError: the table does not list this change.
    """
    before = standing_of(draft)
    if to not in TRANSITIONS.get((before.footing, event), frozenset()):
        message = f"a group went from {before.footing} to {to} on {event}"
        raise IllegalFootingError(message)
    if event not in _SILENT:
        draft.because_of(Cause(event, because=because and because[:BECAUSE_MAX]))
    if event is not Event.KEPT:
        draft.new_epoch()
        draft.to_assign |= set(draft.state.members)
    standing = replace(
        before,
        footing=to,
        epoch=draft.state.epoch,
        since_ms=draft.moment.clock_ms,
        formers=before.formers if event is Event.TAKEN else {},
        said={key: each._replace(confirmed=False) for key, each in before.said.items()},
        foreign=(),
    )
    draft.state.standing = standing
    draft.looks_void = True
    draft.dirty = True
    return standing
