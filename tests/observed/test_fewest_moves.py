"""The fewest moves for an even share, by number."""

from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.model import MessageQueue
from fairlead.observed.fewest_moves import fewest_moves

_CLIENTS = ("c1", "c2", "c3")


def _owned(owners: list[str | None]) -> dict[MessageQueue, str | None]:
    return {MessageQueue("orders", "main", index): owner for index, owner in enumerate(owners)}


def _least(before: list[str | None], consumers: list[str]) -> int:
    """Return the fewest moves, by trying every even share."""
    share, more = divmod(len(before), len(consumers))
    reached = {(0,) * len(consumers): 0}
    for owner in before:
        following: dict[tuple[int, ...], int] = {}
        for counts, moves in reached.items():
            for index, client in enumerate(consumers):
                after = (*counts[:index], counts[index] + 1, *counts[index + 1 :])
                cost = moves + (client != owner)
                following[after] = min(cost, following.get(after, cost))
        reached = following
    return min(
        moves
        for counts, moves in reached.items()
        if sorted(counts, reverse=True) == [share + 1] * more + [share] * (len(consumers) - more)
    )


@given(
    st.lists(st.sampled_from((*_CLIENTS, "gone", None)), min_size=3, max_size=8),
    st.sampled_from((2, 3)),
)
def test_against_every_even_share(before: list[str | None], consumers: int) -> None:
    """It is what trying every even share finds."""
    clients = list(_CLIENTS[:consumers])
    after = {
        queue: clients[index % consumers] for index, queue in enumerate(sorted(_owned(before)))
    }
    assert fewest_moves(_owned(before), after) == _least(before, clients)


def test_where_nobody_owns_anything_nothing_moves() -> None:
    """Where nobody owns anything nothing had to move."""
    assert fewest_moves(_owned(["c1"]), {}) == 0
