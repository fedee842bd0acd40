"""A bridge answers requests for offsets from real brokers of both lines."""

import time

from fairlead.core.model import MessageQueue, Position
from fairlead.core.outputs import Request
from fairlead.core.records import QueueOffsets
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.rocketmq_bridge import rocketmq_bridge
from tests.kit.rocketmq_operator import RocketMQOperator


def test_commits_bounds_and_times_on_both_lines(
    ledger: Ledger, bootstrap: str, either: RocketMQOperator, topic: str
) -> None:
    """A queue without a commit is none with offset 0, also for a group that nobody ever made."""
    either.make(topic, 3, ["broker-a"])
    none, zero, some = (MessageQueue(topic, "broker-a", number) for number in range(3))
    for queue in (none, zero, some):
        either.send(queue, 3)
    group, stranger = f"{topic}-readers", f"{topic}-strangers"
    either.make_group(group, ["broker-a"])
    either.commit(group, zero, 0)
    either.commit(group, some, 2)
    later_ms = int(time.time() * 1000) + 3_600_000
    with running(rocketmq_bridge(either.cluster, bootstrap, ledger.names.prefix)):
        ledger.ask(Request(group, "offsets", topic, None, None))
        ledger.await_that(lambda: len(ledger.offsets) == 1)
        ledger.ask(Request(stranger, "offsets", topic, (some,), None))
        ledger.await_that(lambda: len(ledger.offsets) == 2)
        ledger.ask(Request(group, "offsets", topic, (some,), later_ms))
        ledger.await_that(lambda: len(ledger.offsets) == 3)
    of_group, of_stranger, of_time = ledger.offsets
    assert of_group.queues == (
        QueueOffsets(none, 0, 3, None, None),
        QueueOffsets(zero, 0, 3, Position(0, 0), None),
        QueueOffsets(some, 0, 3, Position(0, 2), None),
    )
    assert of_stranger.queues == (QueueOffsets(some, 0, 3, None, None),)
    # Where nothing is so young, 4.x says the last message, which is read again.
    assert of_time.queues[0].for_time is not None
    assert of_time.queues[0].for_time[0] == later_ms
    assert of_time.queues[0].for_time[1] in (2, 3)
    assert of_group.identity == ledger.routes[-1].route.identity  # type: ignore[union-attr]
