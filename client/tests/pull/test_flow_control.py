"""Which gate holds a pull request back, at which figure exactly, and how it is counted."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from fairlead_client import SettingsError
from fairlead_client.consume.pull.flow_control import MIB, FlowControl, FlowLimits, HoldReason
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.model import Epoch, Queue

Pull = Callable[[Iterable[int]], list[Any]]


def held(flow: FlowControl, work: ProcessQueue) -> HoldReason | None:
    """Return the gate that holds the queue back while its lock is held."""
    return flow.hold_back(work, locked=True)


def test_a_queue_of_more_than_a_thousand_messages_waits(work: ProcessQueue, pulled: Pull) -> None:
    """A thousand messages may be cached; with one more the queue waits."""
    flow = FlowControl(FlowLimits(), ordered=False)
    work.put(pulled(range(10, 1_010)), 10, 1_010)
    assert held(flow, work) is None
    work.put(pulled([1_010]), 1_010, 1_011)
    assert held(flow, work) is HoldReason.MESSAGES


@pytest.mark.parametrize("size, gate", [(101 * MIB - 1, None), (101 * MIB, HoldReason.SIZE)])
def test_a_queue_of_more_than_a_hundred_mib_waits(
    work: ProcessQueue, queue: Queue, size: int, gate: HoldReason | None
) -> None:
    """Whole MiB count, and more than 100 of them wait: it trips at 101."""

    class Heavy(ProcessQueue):
        size_bytes = size

    flow = FlowControl(FlowLimits(), ordered=False)
    assert held(flow, Heavy(queue, Epoch(1, 1), 0)) is gate
    assert held(flow, work) is None


def test_only_an_unordered_queue_is_limited_by_its_span(work: ProcessQueue, pulled: Pull) -> None:
    """First and last may be 2,000 apart; an ordered queue has no such limit."""
    concurrent = FlowControl(FlowLimits(), ordered=False)
    ordered = FlowControl(FlowLimits(), ordered=True)
    work.put(pulled([10, 2_010]), 10, 2_011)
    assert held(concurrent, work) is None
    work.put(pulled([2_011]), 2_011, 2_012)
    assert held(concurrent, work) is HoldReason.SPAN
    assert held(ordered, work) is None


def test_a_queue_without_its_lock_is_not_pulled(work: ProcessQueue) -> None:
    """A queue is not pulled without its lock, whether or not its order matters."""
    assert FlowControl(FlowLimits(), ordered=True).hold_back(work, locked=False) is HoldReason.LOCK
    assert FlowControl(FlowLimits(), ordered=False).hold_back(work, locked=False) is HoldReason.LOCK


def queues_of(topic: str, count: int) -> list[Queue]:
    """Return so many queues of a topic."""
    return [Queue(topic, "main", number) for number in range(count)]


@pytest.mark.parametrize("queues, each", [(1, 10), (3, 3), (10, 1), (11, 1)])
def test_limit_of_a_topic(queues: int, each: int) -> None:
    """A topic's limit is shared by all queues held, and leaves each at least one."""
    limits = FlowLimits(pull_threshold_for_topic=10, pull_threshold_size_for_topic=10)
    flow = FlowControl(limits, ordered=False)
    flow.share_out(queues_of("orders", queues))
    assert (flow.messages, flow.size_mib) == (each, each)


@pytest.mark.parametrize("retried, each", [(0, 25), (1, 20), (18, 20), (19, 16), (36, 16)])
def test_queues_of_a_retry_topic(retried: int, each: int) -> None:
    """The queues of a retry topic's delays count as the one that RocketMQ has for all of them."""
    flow = FlowControl(FlowLimits(pull_threshold_for_topic=100), ordered=False)
    flow.share_out(queues_of("orders", 4) + queues_of("%RETRY%group", retried))
    assert flow.messages == each


def test_no_gate_over_all_queues(queue: Queue, pulled: Pull) -> None:
    """However much all queues have together, each is held back by what it has itself alone."""
    flow = FlowControl(FlowLimits(), ordered=False)
    works = [ProcessQueue(queue._replace(queue_id=number), Epoch(1, 1), 0) for number in range(12)]
    flow.share_out(work.queue for work in works)
    for work in works:
        work.put(pulled(range(1_000)), 0, 1_000)
    assert [held(flow, work) for work in works] == [None] * 12


def test_no_limit_of_a_topic() -> None:
    """Without one the limits of a queue stay."""
    flow = FlowControl(FlowLimits(pull_threshold_for_queue=7), ordered=False)
    flow.share_out(queues_of("orders", 3))
    assert (flow.messages, flow.size_mib) == (7, 100)


def test_each_gate_is_logged_every_thousandth_time(
    work: ProcessQueue, pulled: Pull, caplog: pytest.LogCaptureFixture
) -> None:
    """Each gate counts for itself, and says so the first time and every thousandth after it."""
    flow = FlowControl(FlowLimits(pull_threshold_for_queue=1), ordered=False)
    work.put(pulled([10, 11]), 10, 12)
    with caplog.at_level(logging.WARNING):
        for _ in range(1_001):
            held(flow, work)
    assert flow.counts == {"messages": 1_001, "size": 0, "span": 0, "lock": 0}
    assert [record.args[2] for record in caplog.records] == [1, 1_001]  # type: ignore[index]


def test_a_limit_below_1_is_refused() -> None:
    """A limit below 1 would stop everything for good."""
    with pytest.raises(SettingsError, match=r"^consume_concurrently_max_span: "):
        FlowLimits(consume_concurrently_max_span=0)
