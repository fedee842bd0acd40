"""RocketMQ's selection with latency fault tolerance on, in each of its lines."""

import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.java_number import INT_MAX
from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.rocketmq.fault_strategy import (
    Candidates,
    select_with_latency_4_3,
    select_with_latency_4_9,
    select_with_latency_5,
)
from fairlead_client.rocketmq.latency_tolerance import LatencyTolerance4, LatencyTolerance5
from fairlead_client.routes.topic_route import QueueData
from hypothesis import given
from hypothesis import strategies as st

A0, A1, B0, B1, C0, C1 = SIX = tuple(
    Queue("T", broker, number) for broker in "ABC" for number in (0, 1)
)
DATAS = tuple(QueueData(broker, 2, 2, 6) for broker in "ABC")
ALL = Candidates(SIX, DATAS)


def _tolerance_4(avoided: str) -> LatencyTolerance4:
    tolerance = LatencyTolerance4()
    for latency_ms, broker in enumerate(avoided):
        tolerance.update(broker, latency_ms, 1_000, now_ms=0)
    return tolerance


def _tolerance_5(avoided: str, unreachable: str = "") -> LatencyTolerance5:
    tolerance = LatencyTolerance5()
    for broker in avoided:
        tolerance.update(broker, 1, 1_000, reachable=broker not in unreachable, now_ms=0)
    return tolerance


def test_4_9_probes_with_an_index_of_its_own() -> None:
    """Queues of avoided brokers are passed over, and the shared index moves on by one only."""
    found = select_with_latency_4_9(ALL, -1, _tolerance_4("AB"), worst_index=0, now_ms=5)
    assert found == (C0, 0, 0)


def test_4_9_neighbour_of_an_avoided_broker_has_its_load() -> None:
    """A pitfall of the local probe: of 600 sendings around A, B's first queue gets half."""
    tolerance, index, taken = _tolerance_4("A"), -1, dict.fromkeys(SIX, 0)
    for _ in range(600):
        found = select_with_latency_4_9(ALL, index, tolerance, worst_index=0, now_ms=5)
        index = found.index_after
        taken[found.queue] += 1
    assert taken == {A0: 0, A1: 0, B0: 300, B1: 100, C0: 100, C1: 100}


def test_4_9_probe_runs_over() -> None:
    """A probe past the greatest int stands at the first queue, then goes backwards."""
    found = select_with_latency_4_9(ALL, INT_MAX - 1, _tolerance_4("A"), worst_index=0, now_ms=5)
    # At places 1, 0, 1, 0, and then 5.
    assert found == (C1, INT_MAX, 0)


def test_4_9_takes_the_least_bad_broker() -> None:
    """With all avoided a broker of the better half is taken; three steps of the shared index."""
    found = select_with_latency_4_9(ALL, 10, _tolerance_4("ABC"), worst_index=-1, now_ms=5)
    assert found == (A1, 13, 0)


@pytest.mark.parametrize("datas", [(), (QueueData("A", 2, 2, 4),), (QueueData("A", 2, 0, 6),)])
def test_4_9_forgets_a_broker_without_writable_queues(datas: tuple[QueueData, ...]) -> None:
    """A picked broker that cannot be written to is forgotten; the next queue comes as it is."""
    tolerance = _tolerance_4("ABC")
    found = select_with_latency_4_9(Candidates(SIX, datas), 10, tolerance, worst_index=1, now_ms=5)
    assert found[:2] == (A0, 12)
    assert tolerance.is_available("A", 5)
    assert not tolerance.is_available("B", 5)


@pytest.mark.parametrize("last_broker", [None, "A"])
def test_line_4_rewrites_no_list_of_queues(last_broker: str | None) -> None:
    """A pitfall of early 4.x that is none here: its list of queues stays as it was."""
    shared, worst = list(SIX), 0
    candidates, tolerance = Candidates(shared, DATAS), _tolerance_4("ABC")
    for index in range(24):
        for found in (
            select_with_latency_4_3(
                candidates, index, last_broker, tolerance, worst_index=worst, now_ms=5
            ),
            select_with_latency_4_9(candidates, index, tolerance, worst_index=worst, now_ms=5),
        ):
            worst = found.worst_index
            assert found.queue in SIX
    assert shared == list(SIX)


def test_4_9_single_avoided_broker() -> None:
    """Of a single known broker no dice are thrown: the index of the worst stays."""
    only = Candidates((A0, A1), DATAS)
    found = select_with_latency_4_9(only, 0, _tolerance_4("A"), worst_index=7, now_ms=5)
    assert found == (A1, 3, 7)


def test_4_3_takes_the_failed_broker_again() -> None:
    """The pitfall of 4.3: a repeated attempt accepts only the broker that has just failed."""
    tolerance = _tolerance_4("")
    first = select_with_latency_4_3(ALL, 5, None, tolerance, worst_index=0, now_ms=5)
    again = select_with_latency_4_3(ALL, 5, "B", tolerance, worst_index=0, now_ms=5)
    assert (first.queue, again.queue) == (A0, B0)


def test_4_3_failed_and_avoided() -> None:
    """When the failed broker is avoided, 4.3 takes the best of those known: the failed one."""
    tolerance = _tolerance_4("B")
    found = select_with_latency_4_3(ALL, 5, "B", tolerance, worst_index=0, now_ms=5)
    assert found[:2] == (B0, 8)
    # 4.3 counts queues that may not be written to.
    read_only = Candidates(SIX, (QueueData("B", 2, 2, 4),))
    found = select_with_latency_4_3(read_only, 5, "B", tolerance, worst_index=0, now_ms=5)
    assert found.queue == B0
    none_there = Candidates(SIX, ())
    found = select_with_latency_4_3(none_there, 5, "B", tolerance, worst_index=0, now_ms=5)
    assert found[:2] == (A1, 7)


@pytest.mark.parametrize(
    "avoided, unreachable, last_broker, expected",
    [
        ("", "", None, (A0, 0)),
        ("", "", "A", (B0, 2)),
        ("AB", "", None, (C0, 4)),
        # None but the last is available: a reachable other one, found in a second round.
        ("AB", "A", "C", (B0, 8)),
        # Neither: the next as it comes, after two rounds.
        ("AB", "AB", "C", (A0, 12)),
        ("ABC", "ABC", None, (A0, 12)),
    ],
)
def test_line_5_asks_for_available_then_reachable_then_any(
    avoided: str, unreachable: str, last_broker: str | None, expected: tuple[Queue, int]
) -> None:
    """Line 5 asks for an available broker, then for a reachable one, then for any."""
    tolerance = _tolerance_5(avoided, unreachable)
    found = select_with_latency_5(SIX, -1, last_broker, tolerance, now_ms=5)
    assert found == expected


def test_line_5_restarts_a_repeated_attempt_at_a_random_index() -> None:
    """A repeated attempt starts from a new random index."""
    tolerance = _tolerance_5("")
    found = select_with_latency_5(SIX, -1, "A", tolerance, reset_to=3, now_ms=5)
    assert found == (C0, 4)


def test_every_line_without_queues_raises_the_named_error() -> None:
    """Without queues every line ends in the named error."""
    with pytest.raises(NoQueueError):
        select_with_latency_4_3(Candidates(()), 0, None, _tolerance_4("A"), worst_index=0, now_ms=5)
    with pytest.raises(NoQueueError):
        select_with_latency_4_9(Candidates(()), 0, _tolerance_4(""), worst_index=0, now_ms=5)
    with pytest.raises(NoQueueError):
        select_with_latency_5((), 0, None, _tolerance_5(""), now_ms=5)


@given(
    avoided=st.sets(st.sampled_from("ABC")),
    unreachable=st.sets(st.sampled_from("ABC")),
    last_broker=st.sampled_from([None, "A", "B", "C"]),
    index=st.integers(0, INT_MAX),
)
def test_line_5_never_takes_a_worse_tier_than_there_is(
    avoided: set[str], unreachable: set[str], last_broker: str | None, index: int
) -> None:
    """Line 5 never takes a worse tier than there is a queue of."""
    tolerance = _tolerance_5("".join(sorted(avoided | unreachable)), "".join(sorted(unreachable)))
    taken = select_with_latency_5(SIX, index, last_broker, tolerance, now_ms=5).queue.broker_name
    others = set("ABC") - {last_broker}
    best = others - avoided - unreachable or others - unreachable or set("ABC")
    assert taken in best
