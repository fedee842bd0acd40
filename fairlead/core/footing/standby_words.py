"""What a member hears of its group's footing, and what it should say of itself then."""

from collections.abc import Mapping
from typing import Final, Literal

from fairlead.core.model import Epoch, MemberKey
from fairlead.core.standby_records import StandbyState
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState, Member

__all__ = ["epoch_of_assignment", "expected_state", "standby_word"]

_WORDS: Final[Mapping[Footing, Literal["follow", "freeze"]]] = {
    Footing.FOLLOWING: "follow",
    Footing.FREEZING: "freeze",
}


def standby_word(state: GroupState, member: Member) -> Literal["follow", "freeze"] | None:
    """Return what an assignment says to a member that stands by; None: it counts as always."""
    footing = None if state.standing is None else state.standing.footing
    if footing is None or member.profile.follows is None:
        return None
    return _WORDS.get(footing)


def epoch_of_assignment(state: GroupState) -> Epoch:
    """Return the epoch of an assignment: that of the attempt while the group is frozen."""
    standing = state.standing
    frozen = standing is not None and standing.footing is Footing.FREEZING
    return standing.epoch if standing is not None and frozen else state.epoch


def expected_state(state: GroupState, key: MemberKey) -> StandbyState | None:
    """Return what a member should say of itself by what the engine has written; None: nothing."""
    member = state.members[key]
    if member.profile.follows is None or not member.parts:
        return None
    return standby_word(state, member) or "own"
