"""The table of footings is the whole truth: nothing else may change one."""

import pytest

from fairlead.core.draft import Draft
from fairlead.core.footing.transitions import TRANSITIONS, Event, IllegalFootingError, move
from fairlead.core.model import Epoch
from fairlead.core.moment import Moment
from fairlead.core.rules.group_rules import EngineRules, GroupRules
from fairlead.core.standing import Footing, Standing
from fairlead.core.state import GroupState

_FOOTINGS = (None, *Footing)


def _draft(footing: Footing | None) -> Draft:
    state = GroupState("orders", 0, 1, standing=Standing(footing))
    return Draft(state, Moment(5, 5, 1), EngineRules(1, {}), GroupRules())


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("footing", _FOOTINGS)
def test_only_listed_changes_are_made(footing: Footing | None, event: Event) -> None:
    """Each footing and event leads where the table says, and raises for every other footing."""
    for to in _FOOTINGS:
        draft = _draft(footing)
        if to not in TRANSITIONS.get((footing, event), ()):
            with pytest.raises(IllegalFootingError):
                move(draft, event, to)
            continue
        standing = move(draft, event, to)
        assert (standing.footing, standing.since_ms) == (to, 5)
        assert standing.epoch == draft.state.epoch
        assert draft.looks_void


def test_each_change_has_its_own_epoch_and_cause() -> None:
    """A change that members hear of draws an epoch, and names its cause with the reason."""
    draft = _draft(Footing.FREEZING)
    standing = move(draft, Event.FAILED, Footing.FOLLOWING, "x" * 300)
    assert standing.epoch == Epoch(1, 1)
    (cause,) = draft.causes.values()
    assert (cause.kind, len(cause.because or "")) == ("take_over_failed", 255)


def test_every_footing_but_none_can_be_left() -> None:
    """No footing is a dead end."""
    left = {footing for footing, event in TRANSITIONS if event is not Event.FOUND}
    assert left >= {None, *Footing}
