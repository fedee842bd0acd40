"""What a client says while its topics cannot be read."""

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport import control_reader
from fairlead_client.transport.control_reader import CaughtUp, ControlReader
from kafka.errors import KafkaTimeoutError
from kafka.structs import TopicPartition

SETTINGS = Settings(bootstrap="b:1", group="orders", topics=["orders"])
LATE = KafkaTimeoutError("Failed to get offsets by timestamps in 1500 ms")


class _Consumer:
    """Reads empty topics; raises what it is to raise when it is asked for the end of one."""

    def __init__(self, topic: str, failures: list[Exception]) -> None:
        self._topic = topic
        self.failures = failures

    def end_offsets(self, asked: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        if self.failures and [each.topic for each in asked] == [self._topic]:
            raise self.failures.pop(0)
        return dict.fromkeys(asked, 0)

    def assign(self, _partitions: Sequence[TopicPartition]) -> None:
        """Nothing of it is read."""

    def seek(self, _partition: TopicPartition, _offset: int) -> None:
        """Nothing is there."""

    def close(self, **_how: Any) -> None:
        """Nothing is open."""

    def position(self, _partition: TopicPartition, **_how: Any) -> int:
        return 0

    def poll(self, **_how: Any) -> dict[TopicPartition, list[Any]]:
        return {}


def _consumer(monkeypatch: pytest.MonkeyPatch, topic: str, *failures: Exception) -> _Consumer:
    """Return the consumer that a reader gets, which raises these when asked for a topic's end."""
    consumer = _Consumer(topic, list(failures))
    monkeypatch.setattr(control_reader, "connect", lambda *_how: consumer)
    monkeypatch.setattr(control_reader, "hidden_topics", lambda _consumer: frozenset())
    monkeypatch.setattr(control_reader, "partition_count", lambda *_topic: 1)
    monkeypatch.setattr(control_reader, "RETRY_SECONDS", 0.0)
    return consumer


def _read(monkeypatch: pytest.MonkeyPatch, topic: str, *failures: Exception) -> list[Exception]:
    """Run a reader that meets failures until it has caught up; return what it told."""
    consumer = _consumer(monkeypatch, topic, *failures)
    told: list[Exception] = []
    caught_up = 0

    def report(event: object) -> None:
        nonlocal caught_up
        caught_up += isinstance(event, CaughtUp)
        if caught_up and not consumer.failures:
            reading.stop()

    reading = ControlReader(SETTINGS, "a@1", report, told.append, Observer())
    reading.run()
    return told


@pytest.mark.parametrize("topic", ["fairlead.generations", "fairlead.assignments"])
def test_who_cannot_read_what(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, topic: str
) -> None:
    """The log names the client, its group, the topic and the reason, once for each reason."""
    other = ValueError("x")
    with caplog.at_level(logging.WARNING):
        assert _read(monkeypatch, topic, LATE, LATE, other) == [LATE, LATE, other]
    said = f"a@1 of orders cannot read {topic}: "
    assert caplog.messages == [
        f"{said}KafkaTimeoutError: Failed to get offsets by timestamps in 1500 ms; it tries again",
        f"{said}ValueError: x; it tries again",
    ]


@pytest.mark.parametrize("looked", [True, False])
def test_a_deaf_client_begins_no_new_incarnation(
    monkeypatch: pytest.MonkeyPatch,
    looked: bool,  # noqa: FBT001 - a parameter
) -> None:
    """It would be given queues, not know of it, and lose them; nor if it has never looked yet."""
    consumer = _consumer(monkeypatch, "fairlead.assignments")
    told: list[str] = []
    begun = ["CaughtUp", "AssignmentsReadToEnd"] if looked else ["CaughtUp"]

    def report(event: object) -> None:
        told.append(type(event).__name__)
        if told == begun:
            # The lease has ended, and from now on nothing can be read for a while.
            consumer.failures += [LATE, LATE]
            reading.catch_up()
        elif told.count("CaughtUp") == 2:
            reading.stop()

    def failed(_error: Exception) -> None:
        told.append("failed")

    reading = ControlReader(SETTINGS, "a@1", report, failed, Observer())
    reading.run()
    assert told == [*begun, "failed", "failed", "AssignmentsReadToEnd", "CaughtUp"]
