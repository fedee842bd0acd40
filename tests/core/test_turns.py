"""Who stops when, of the members that hand queues over in one decision."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.handover.staggered_release import TURNS_MS_MAX, turns_of
from fairlead.core.model import MemberKey
from tests.kit.group_world import key_of

MEMBERS = st.integers(0, 300).map(lambda count: [key_of(f"c{each:03}") for each in range(count)])


def test_turns_follow_the_client_ids() -> None:
    """Whatever order they are given in."""
    a, b, c = key_of("a"), key_of("b"), key_of("c")
    assert turns_of([c, a, b], 4) == turns_of([b, c, a], 4) == {a: 0, b: 4, c: 8}


def test_one_member_waits_for_nobody() -> None:
    """Nor does nobody."""
    assert turns_of([key_of("a")], 4) == {key_of("a"): 0}
    assert turns_of([], 4) == {}


@given(MEMBERS, st.integers(0, 50))
def test_turns_are_as_far_apart_as_there_is_time(members: list[MemberKey], turn_ms: int) -> None:
    """The first does not wait, nobody longer than the limit, and no turn is much longer."""
    turns = list(turns_of(members, turn_ms).values())
    assert len(turns) == len(members)
    assert turns == sorted(turns)
    assert all(turn <= TURNS_MS_MAX for turn in turns)
    if turns:
        assert turns[0] == 0
        assert turns[-1] == min((len(turns) - 1) * turn_ms, TURNS_MS_MAX)
    apart = {after - before for before, after in pairwise(turns)}
    assert not apart or max(apart) - min(apart) <= 1
