"""Only so many groups have retry topics: clients that invent groups fill no cluster."""

import time
from collections.abc import Callable, Mapping, Sequence

import structlog

from fairlead.bridges.kafka.message_limits import MessageLimit
from fairlead.bridges.kafka.retry_topics import WANTED_MAX, RetryTopics
from tests.bridges.kafka.never_forgotten import NeverForgotten


class Cluster(NeverForgotten):
    """A cluster that makes what it is asked for."""

    def __init__(self, *there: str) -> None:
        self.topics = {*there}

    def names(self) -> list[str]:
        """Return the topics that are there."""
        return sorted(self.topics)

    def create(self, topics: Mapping[str, int]) -> dict[str, str | None]:
        """Make topics."""
        self.topics |= topics.keys()
        return dict.fromkeys(topics)

    def message_limits(self, topics: Sequence[str]) -> dict[str, MessageLimit] | None:
        """Not answer."""

    def raise_message_limits(self, limits: Mapping[str, int]) -> dict[str, str | None]:
        """Not be asked."""
        raise AssertionError(limits)


def until(retries: RetryTopics, holds: Callable[[], bool], now_ms: int) -> None:
    """Let the bridge's loop turn until something holds."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        retries.work(now_ms=now_ms)


def test_groups_that_are_invented() -> None:
    """Beyond the bound the bridge makes no topics and logs it; it completes those of old groups."""
    cluster = Cluster("orders", "%RETRY%old")
    retries = RetryTopics(cluster, retry_queue_nums=1, groups_max=3, remove_after_ms=0)
    for number in range(40):
        retries.want(f"invented-{number:02}", f"%RETRY%invented-{number:02}")
    retries.want("old", "%RETRY%old")
    with structlog.testing.capture_logs() as lines:
        until(retries, lambda: len(lines) == 3 + 2 * 38, 0)
    told = [line["error"] for line in lines if line["event"] == "retry_topic_failed"]
    assert len(told) == 2 * 38
    assert all("--retry-groups-max" in error for error in told)
    kept = {"invented-00", "invented-01", "old"}
    own = {f"%{kind}%{group}" for kind in ("RETRY", "DLQ") for group in kept}
    assert cluster.topics == {"orders", *own}
    cluster.topics -= {"%RETRY%invented-00", "%DLQ%invented-00"}
    until(retries, lambda: len(cluster.topics) == 1 + 6, 2_000)
    retries.close()
    assert "%RETRY%invented-02" in cluster.topics


def test_in_a_flood_the_oldest_topics_are_dropped() -> None:
    """Of more topics than may wait the oldest are dropped; who asks last has its own."""
    cluster = Cluster()
    retries = RetryTopics(cluster, retry_queue_nums=1, groups_max=WANTED_MAX, remove_after_ms=0)
    for number in range(WANTED_MAX):
        retries.want(f"invented-{number}", f"%RETRY%invented-{number}")
    retries.want("late", "%RETRY%late")
    until(retries, lambda: "%DLQ%late" in cluster.topics, 0)
    retries.close()
    assert len(cluster.topics) == WANTED_MAX
    assert "%RETRY%late" in cluster.topics
    assert "%RETRY%invented-0" not in cluster.topics
