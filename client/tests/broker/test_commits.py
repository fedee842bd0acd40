"""What stands beside a committed offset on a real broker."""

from collections.abc import Callable
from typing import Any

from fairlead_client.model import Epoch, Position, Progress, Queue
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.offset_store import KafkaOffsetStore


def test_a_commit_names_reset_and_life(
    bootstrap: str, data_topic: str, committed: Callable[[str, str, int], Any]
) -> None:
    """Kafka keeps both beside the offset; where the add named no life, the reset alone."""
    group = f"{data_topic}-group"
    first, second = Queue(data_topic, "main", 0), Queue(data_topic, "main", 1)
    store = KafkaOffsetStore(Settings(bootstrap=bootstrap, group=group, topics=[data_topic]), "a")
    entries = (
        Progress(first, Epoch(1, 1), Position(4, 7), 20, "W3XrV0pUSt2Qh0nHkS5ZtQ"),
        Progress(second, Epoch(1, 1), Position(0, 8)),
    )
    store.commit({entry.queue: entry for entry in entries}, 10_000)
    store.close()
    told = [committed(group, data_topic, partition) for partition in (0, 1)]
    assert told == [
        (7, '{"v":1,"reset":4,"identity":"W3XrV0pUSt2Qh0nHkS5ZtQ"}'),
        (8, '{"v":1,"reset":0}'),
    ]
