"""What an answer is worth, and the least that it can cost."""

import pytest
from fairlead_proof.bench.assignors.group import NOBODY, Group
from fairlead_proof.bench.assignors.outcome import (
    BadAnswerError,
    Outcome,
    is_worse,
    least_moves,
    moves_more,
    outcome,
)

from tests.assignors.optimum import optimum
from tests.assignors.worlds import drafts

GROUP = Group((3, 2), ((0, 1), (0,), ()), (0, 0, 1, 2), ((0, 0, 2), (2, NOBODY)))
"""Member 2 subscribes the first topic only and holds a queue of the second; member 3 nothing."""


def test_moves_count_where_the_owner_could_have_stayed() -> None:
    """Moves are counted where the owner could have stayed, loads over all topics and members."""
    found = outcome(GROUP, ((0, 2, 2), (1, 1)))
    assert found == Outcome(moved=1, loads=(2, 2, 1, 0), topic_spread=2)
    assert (found.spread, found.squares) == (2, 9)


@pytest.mark.parametrize(
    "after",
    [
        ((0, 0, 3), (0, 0)),
        ((0, 0, 2), (2, 0)),
        ((0, 0, NOBODY), (0, 0)),
        ((0, 0), (0, 0)),
        ((0, 0, 2, 2), (0, 0)),
    ],
)
def test_an_answer_with_a_wrong_owner_is_no_answer(after: tuple[tuple[int, ...], ...]) -> None:
    """A queue at a stranger's, at nobody's, missing or too many is no answer."""
    with pytest.raises(BadAnswerError, match="topic"):
        outcome(GROUP, after)


def test_a_topic_that_nobody_subscribes_has_no_owner() -> None:
    """It counts for nothing, and whoever held it lost it under every answer."""
    group = Group((1, 1), ((0,),), (0,), ((0,), (0,)))
    assert outcome(group, ((0,), (NOBODY,))) == Outcome(0, (1,), 0)


def test_less_even_is_worse_whatever_it_moves() -> None:
    """Less even is worse whatever it moves; more moves count at the same loads alone."""
    even, uneven = Outcome(9, (2, 2, 2), 1), Outcome(0, (3, 2, 1), 1)
    other, cheaper = Outcome(0, (4, 4, 4, 0), 1), Outcome(8, (2, 2, 2), 1)
    assert not is_worse(even, uneven)
    assert is_worse(uneven, even)
    assert not is_worse(even, even)
    # Neither is better throughout: a bound is broken on one side, so ours is worse.
    assert is_worse(other, Outcome(0, (5, 3, 3, 1), 1))
    assert moves_more(even, cheaper)
    assert not moves_more(cheaper, even)
    assert not moves_more(even, uneven)


def test_the_least_moves_are_those_of_a_plain_method() -> None:
    """Where the outcome has it, it is what a plain method finds by shortest chains."""
    known = 0
    for draft in drafts(7, 200):
        group = draft.changed(None)
        least = least_moves(group)
        if least is not None and sum(group.topics) <= 80:
            known += 1
            assert least == optimum(group)[1]
    assert known > 50


def test_least_moves_of_a_join() -> None:
    """Ten queues of one member and a second one: five; overlapping subscriptions: not told."""
    assert least_moves(Group((10,), ((0,),), (0, 0), ((0,) * 10,))) == 5
    assert least_moves(Group((2, 2), ((0,), (0, 1)), (0, 1), ((0, 0), (1, 1)))) is None
