"""Where the Kafka source stands after an error: no record is passed that nobody got."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from fairlead_client import SettingsError, Subscription
from fairlead_client.consume.pull.kafka_source import KafkaSource
from fairlead_client.consume.pull.message_source import PullStatus
from fairlead_client.consume.retry.redelivery import RECONSUME_TIMES
from fairlead_client.model import Queue
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.queue_partition import partition_of_queue
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

ORDERS = Queue("orders", "main", 0)
RETRY = Queue("%RETRY%g", "main", 0)


@dataclass(frozen=True)
class Stored:
    """A record in a partition."""

    offset: int
    headers: tuple[tuple[str, bytes | None], ...] = ()
    key: bytes | None = None
    value: bytes | None = b"12345"
    timestamp: int = 7


class Positioned:
    """A consumer in memory: it goes on from where it stands unless a test seeks."""

    def __init__(self, stored: dict[TopicPartition, list[Stored]]) -> None:
        self._stored = stored
        self._at: dict[TopicPartition, int] = {}
        self._fetcher = SimpleNamespace(_next_partition_records=None)
        self._client = SimpleNamespace(cluster=SimpleNamespace(unauthorized_topics=()))
        self.errors: list[Exception] = []

    def assign(self, partitions: list[TopicPartition]) -> None:
        """A caller sets positions by seeking."""

    def pause(self, *partitions: TopicPartition) -> None:
        """Only what is asked for has anything new."""

    resume = pause

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on from there."""
        self._at[partition] = offset

    def poll(self, **_: Any) -> dict[TopicPartition, list[Stored]]:
        """Return what is behind each position, and pass it."""
        found = {
            partition: records[self._at[partition] :]
            for partition, records in self._stored.items()
            if records[self._at[partition] :]
        }
        self._at.update({partition: len(self._stored[partition]) for partition in found})
        return found

    def highwater(self, partition: TopicPartition) -> int:
        """Return the end, or raise."""
        if self.errors:
            raise self.errors.pop()
        return len(self._stored[partition])

    def position(self, partition: TopicPartition, timeout_ms: int) -> int:
        """Return where it stands."""
        del timeout_ms
        return self._at[partition]

    def close(self, **_: Any) -> None:
        """There is nothing to let go of."""


class PositionedSource(KafkaSource):
    """A source of such a consumer: one retry message with these headers, three others."""

    def __init__(self, *headers: tuple[str, bytes | None]) -> None:
        super().__init__(
            Settings(bootstrap="x:1", group="g", topics=["orders"], retry_topic=True), "a"
        )
        self.read = Positioned(
            {
                partition_of_queue(RETRY): [Stored(0, headers)],
                partition_of_queue(ORDERS): [Stored(number) for number in range(3)],
            }
        )
        self.follow([ORDERS, RETRY])

    def _connected(self) -> Any:
        return self.read


def test_an_error_after_the_poll() -> None:
    """What was polled when something raised is polled again, of every queue that was asked for."""
    source = PositionedSource()
    source.read.errors = [KafkaError("the connection is gone")]
    with pytest.raises(KafkaError, match="is gone"):
        source.pull({RETRY: 0, ORDERS: 0}, 10)
    results = source.pull({RETRY: 0, ORDERS: 0}, 10)
    assert [record.offset for record in results[ORDERS].records] == [0, 1, 2]
    assert [record.offset for record in results[RETRY].records] == [0]
    again = source.pull({RETRY: 1, ORDERS: 3}, 10)
    assert {result.status for result in again.values()} == {PullStatus.NO_NEW_MSG}


def test_a_header_without_a_value() -> None:
    """A retry message that says nothing is handed out, and stops no other queue."""
    source = PositionedSource((RECONSUME_TIMES, None), ("fairlead-origin-topic", b"orders"))
    results = source.pull({RETRY: 0, ORDERS: 0}, 10)
    assert len(results[RETRY].records) == 1
    assert len(results[ORDERS].records) == 3


@pytest.mark.parametrize(
    "wrong",
    [Subscription("orders", "||"), Subscription("orders", "a > 1", expression_type="sql92")],
)
def test_filters_are_checked(wrong: Subscription) -> None:
    """The source refuses a filter that is no list of tags; the old filters hold."""
    source = PositionedSource()
    with pytest.raises(SettingsError, match="topics"):
        source.check([wrong])
    assert len(source.pull({ORDERS: 0, RETRY: 0}, 10)[ORDERS].records) == 3
