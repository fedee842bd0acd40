"""Looks that follow each other tell rebalances."""

from fairlead.observed_rocketmq.rebalance_history import RebalanceHistory
from tests.answers.schema import assert_answer
from tests.observed_rocketmq.scenes import group, member


def test_a_leave_and_what_it_moved() -> None:
    """A rebalance is over with the first look that changes nothing, and names its cause."""
    history = RebalanceHistory()
    before = group(member("h@1", [0, 1]), member("i@1", [2, 3]))
    unowned, after = group(member("h@1", [0, 1])), group(member("h@1", [0, 1, 2, 3]))
    assert history.add(before, 0) is None
    assert history.add(before, 1000) is None
    assert history.is_settled("g")
    assert history.knows("g", ["i@1", "h@1"])
    assert history.add(unowned, 2000) is None
    assert not history.is_settled("g")
    assert history.add(after, 4000) is None
    rebalance = history.add(after, 6000)
    assert rebalance is not None
    assert rebalance.says == "i@1 left: 2 moves in 4 s"
    assert_answer("LiveRebalance", rebalance.to_json())
    assert history.add(after, 8000) is None


def test_growth_is_a_cause() -> None:
    """Queues that were added count as such, and not as moves."""
    history = RebalanceHistory()
    history.add(group(member("a", [0, 1]), queues=2), 0)
    more = group(member("a", [0, 1, 2]), queues=3)
    history.add(more, 1000)
    rebalance = history.add(more, 2000)
    assert rebalance is not None
    assert (rebalance.grown, rebalance.moves) == (1, 0)
    assert rebalance.says == "1 queue more: 0 moves in 1 s"


def test_a_host_that_comes_and_goes_flaps() -> None:
    """Each time its client has another id; the host stays the same."""
    history, stays = RebalanceHistory(), member("a", [0, 1, 2, 3])
    flapping = []
    for second in range(16):
        comes = second // 2 % 2
        members = [stays, member(f"h@{second // 2}", [])] if comes else [stays]
        if rebalance := history.add(group(*members), second * 1000):
            flapping.append(rebalance.flapping)
    assert flapping == [(), (), (), (), (), ("h",), ("h",)]
