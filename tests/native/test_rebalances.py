"""The rebalance history of native groups."""

from fairlead.native.rebalances import Rebalances
from tests.native.looks import look


def test_a_join_is_told_with_its_moves() -> None:
    """Who came, how many queues changed hands."""
    history = Rebalances()
    assert not list(history.note([look({"a": range(8)})], 1_000))
    found = list(history.note([look({"a": range(4), "b": range(4, 8)})], 2_000))
    assert [(each.came, each.went, each.moved, each.begun) for each in found] == [
        (("app-b at 10.0.0.1",), (), 4, 0)
    ]


def test_a_rebalance_under_way_is_told_once_when_it_is_over() -> None:
    """Kafka tells no assignments in between."""
    history = Rebalances()
    list(history.note([look({"a": range(8)})], 1_000))
    between = look({"a": [], "b": []}, shares=False, state="PreparingRebalance")
    assert not list(history.note([between], 2_000))
    found = list(history.note([look({"b": range(8)})], 3_000))
    assert [(each.came, each.went, each.moved) for each in found] == [
        (("app-b at 10.0.0.1",), ("app-a at 10.0.0.1",), 8)
    ]
    assert not list(history.note([look({"b": range(8)})], 4_000))


def test_generations_that_no_look_saw_are_counted() -> None:
    """KIP-848 counts: 3, and then 7, are three unseen ones."""
    history = Rebalances()
    list(history.note([look({"a": range(8)}, generation=3)], 1_000))
    (found,) = history.note([look({"a": range(8)}, generation=7)], 2_000)
    assert (found.moved, found.missed) == (0, 3)


def test_four_rebalances_in_five_minutes_are_flapping() -> None:
    """And after five quiet minutes they are no more."""
    history = Rebalances()
    for turn in range(5):
        list(history.note([look({"ab"[turn % 2]: range(8)})], turn * 1_000))
        assert history.flaps("g", turn * 1_000) == (4 if turn == 4 else 0)
    assert history.flaps("g", 400_000) == 0
    assert history.count("g") == 4


def test_a_deleted_group_is_forgotten() -> None:
    """Its name may come back as another group."""
    history = Rebalances()
    list(history.note([look({"a": range(8)})], 1_000))
    list(history.note([], 2_000))
    assert not list(history.note([look({"b": range(8)})], 3_000))
