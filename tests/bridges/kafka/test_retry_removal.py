"""Retry topics of forgotten groups: closed, then removed if they hold nothing; none is lost."""

import contextlib
from collections.abc import Callable, Mapping, Sequence

import pytest
import structlog
from fairlead_client.consume.retry.send_back import KafkaFailedMessages
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue
from fairlead_client.settings.client_settings import Settings as ClientSettings
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import MessageSizeTooLargeError
from kafka.structs import OffsetAndMetadata

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.bridges.kafka.message_limits import MessageLimit
from fairlead.bridges.kafka.retry_removal import CLOSED_BYTES, FORGOTTEN_MAX, RetryRemoval
from fairlead.bridges.kafka.retry_topics import DELAYS
from fairlead.core.outputs import Request
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import limits_of, retry_request, route_request

WAIT_SECONDS = 30
LONG_MS = 3_600_000
DEFAULT_LIMIT = 1_048_588


def bridge_of(ledger: Ledger, bootstrap: str, remove_after_ms: int) -> KafkaBridge:
    """A quick bridge that removes topics so long after they were closed."""
    return KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        cluster_name="main",
        times=BridgeTimes(poll_ms=200, remove_after_ms=remove_after_ms),
    )


def forgotten(group: str) -> Request:
    """The engine's word that a group is no more."""
    return Request(group, "forgotten", f"%RETRY%{group}", None, None)


class Own:
    """A group with its two topics, made by a bridge."""

    def __init__(self, ledger: Ledger, bootstrap: str, group: str) -> None:
        self.group = group
        self.retry, self.dead = f"_-RETRY_-{group}", f"_-DLQ_-{group}"
        self._ledger = ledger
        self._bootstrap = bootstrap

    def make(self) -> None:
        """Have them made, as by a message that is sent back."""
        self._ledger.ask(retry_request(self.group, f"%RETRY%{self.group}"))
        self._ledger.await_route(f"%RETRY%{self.group}", DELAYS)

    def there(self) -> set[str]:
        """Which of the two are there."""
        return {self.retry, self.dead} & {*self._ledger.admin.list_topics()}

    def await_there(self, *names: str) -> None:
        """Wait until of the two these are there."""
        self._ledger.await_that(lambda: self.there() == {*names})

    def await_limit(self, limit: int) -> None:
        """Wait until messages of both may be so big."""
        self._ledger.await_that(
            lambda: limits_of(self._ledger, self.retry, self.dead) == [limit, limit]
        )

    def write(self, name: str, partition: int = 0) -> None:
        """Write a message to one of them."""
        with contextlib.closing(KafkaProducer(bootstrap_servers=self._bootstrap)) as producer:
            producer.send(name, b"message", partition=partition).get(WAIT_SECONDS)

    def empty(self, partition: int, offset: int) -> None:
        """Let the retry topic begin there, as when Kafka's retention has passed."""
        self._ledger.admin.delete_records({TopicPartition(self.retry, partition): offset})

    def commit(self, partition: int, offset: int) -> None:
        """Commit a position in the retry topic."""
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap, group_id=self.group, enable_auto_commit=False
        )
        consumer.commit({TopicPartition(self.retry, partition): OffsetAndMetadata(offset, "", -1)})
        consumer.close(autocommit=False)


@pytest.fixture
def own(ledger: Ledger, bootstrap: str, topic: str) -> Own:
    """A group that no other test has."""
    return Own(ledger, bootstrap, f"{topic}-g")


def test_subscribed_and_not_needed(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """Forty groups that only subscribe to their retry topics make none; who needs it gets it."""
    groups = [f"{topic}-{number}" for number in range(40)]
    with structlog.testing.capture_logs() as lines, running(bridge_of(ledger, bootstrap, LONG_MS)):
        for group in groups:
            ledger.ask(route_request(group, f"%RETRY%{group}"))
        # Whoever is answered behind them was asked for later.
        ledger.make_topic(f"{topic}-asked", 1)
        ledger.ask(route_request("g", f"{topic}-asked"))
        ledger.await_route(f"{topic}-asked", 1)
        own = [name for name in ledger.admin.list_topics() if f"_-{topic}" in name]
        assert own == []
        ledger.ask(retry_request(groups[7], f"%RETRY%{groups[7]}"))
        ledger.await_route(f"%RETRY%{groups[7]}", DELAYS)
        own = [name for name in ledger.admin.list_topics() if f"_-{topic}" in name]
        assert sorted(own) == [f"_-DLQ_-{groups[7]}", f"_-RETRY_-{groups[7]}"]
    assert not [line for line in lines if line["event"] == "nothing_published"]


def test_topics_of_a_forgotten_group_are_closed_until_asked(
    ledger: Ledger, bootstrap: str, own: Own
) -> None:
    """Of a forgotten group the topics take no message; of one that asks for anything they do."""
    ledger.make_topic("big" + own.group, 1)
    with running(bridge_of(ledger, bootstrap, LONG_MS)):
        own.make()
        own.write(own.retry)
        ledger.ask(forgotten(own.group))
        own.await_limit(CLOSED_BYTES)
        with pytest.raises(MessageSizeTooLargeError):
            own.write(own.retry)
        ledger.ask(route_request(own.group, f"%RETRY%{own.group}"))
        own.await_limit(DEFAULT_LIMIT)
        own.write(own.retry)
    assert own.there() == {own.retry, own.dead}


def test_removed_when_nothing_is_left(ledger: Ledger, bootstrap: str, own: Own) -> None:
    """What is empty goes; a dead letter stays, and so does a message whatever was committed."""
    kept = Own(ledger, bootstrap, f"{own.group}-kept")
    with structlog.testing.capture_logs() as lines:
        with running(bridge_of(ledger, bootstrap, LONG_MS)):
            for each in (own, kept):
                each.make()
                each.write(each.retry, 3)
                each.write(each.retry, 3)
            own.write(own.dead)
            own.empty(3, 2)
            # Who may commit for the group is not believed to have read it.
            kept.commit(3, 9_999)
            for each in (own, kept):
                ledger.ask(forgotten(each.group))
                each.await_limit(CLOSED_BYTES)
        # That they are closed is known to the next bridge too.
        with running(bridge_of(ledger, bootstrap, 600)):
            ledger.await_route(f"%RETRY%{own.group}", None)
            own.await_there(own.dead)
            # It was looked at with the other one, and again since.
            kept.await_there(kept.retry)
            kept.empty(3, 2)
            kept.await_there()
    removed = {line["topic"] for line in lines if line["event"] == "retry_topic_removed"}
    both = {f"%RETRY%{own.group}", f"%RETRY%{kept.group}"}
    assert removed == both | {f"%DLQ%{kept.group}"}


@pytest.mark.slow
def test_a_sender_that_was_not_heard(ledger: Ledger, bootstrap: str, own: Own) -> None:
    """A message for a closed topic, or one that was removed, is kept when it is sent again."""
    settings = ClientSettings(
        bootstrap=bootstrap, group=own.group, topics=["orders"], prefix=ledger.names.prefix
    )
    message = Message(Queue("orders", "main", 0), 7, None, b"value", (), 0, Epoch(1, 1))
    kept = KafkaFailedMessages(settings, "c")

    def sent_back() -> bool:
        try:
            kept.send_back(message, 1, 0)
        except Exception:  # noqa: BLE001 - it is not sure that it is kept: it is sent again
            return False
        return True

    with contextlib.closing(kept):
        with running(bridge_of(ledger, bootstrap, LONG_MS)):
            assert sent_back()
            ledger.ask(forgotten(own.group))
            own.await_limit(CLOSED_BYTES)
            ledger.await_that(sent_back)
            own.await_limit(DEFAULT_LIMIT)
            own.empty(2, 2)
            ledger.ask(forgotten(own.group))
            own.await_limit(CLOSED_BYTES)
        with running(bridge_of(ledger, bootstrap, 600)):
            own.await_there()
            ledger.await_that(sent_back)
    assert own.there() == {own.retry, own.dead}


class Cluster:
    """A cluster of two topics, which notes what is done to it."""

    def __init__(self) -> None:
        self.limits = {"%RETRY%a": 1_000, "%DLQ%a": 1_000}
        self.answers = True

    def names(self) -> list[str] | None:
        """Return the topics that are there."""
        return sorted(self.limits) if self.answers else None

    def message_limits(self, topics: Sequence[str]) -> Mapping[str, MessageLimit] | None:
        """Return how big messages may be."""
        return {topic: MessageLimit(self.limits[topic], is_own=True) for topic in topics}

    def close_to_writes(self, topics: Sequence[str]) -> dict[str, str | None]:
        """Close topics."""
        self.limits.update(dict.fromkeys(topics, CLOSED_BYTES))
        return dict.fromkeys(topics)

    def open_to_writes(self, topics: Sequence[str]) -> list[str]:
        """Open topics."""
        self.limits.update(dict.fromkeys(topics, 1_000))
        return [*topics]

    def is_empty(self, topic: str) -> bool:
        """Hold nothing."""
        del topic
        return True

    def delete(self, topics: Sequence[str]) -> dict[str, str | None]:
        """Delete topics."""
        for topic in topics:
            del self.limits[topic]
        return dict.fromkeys(topics)


def turn(removal: RetryRemoval, now_ms: int, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Do what is due, if anything is; something else happens before that is known."""
    task = removal.due(now_ms=now_ms)
    if task is not None:
        outcome = removal.do(task)
        meanwhile()
        removal.finish(outcome, now_ms=now_ms)


def test_who_speaks_while_its_topics_are_closed() -> None:
    """They are opened again, at once, and not removed later."""
    cluster = Cluster()
    removal = RetryRemoval(cluster, after_ms=1_000)
    turn(removal, 0)
    removal.forgotten("a", now_ms=0)
    turn(removal, 0, lambda: removal.alive("a"))
    assert {*cluster.limits.values()} == {CLOSED_BYTES}
    turn(removal, 0)
    assert {*cluster.limits.values()} == {1_000}
    turn(removal, 10_000)
    assert len(cluster.limits) == 2


def test_closed_for_long_enough() -> None:
    """Nothing is removed that was not closed for so long, be the cluster away meanwhile or not."""
    cluster = Cluster()
    removal = RetryRemoval(cluster, after_ms=30_000)
    cluster.answers = False
    removal.forgotten("a", now_ms=0)
    turn(removal, 0)
    cluster.answers = True
    turn(removal, 9_999)
    assert {*cluster.limits.values()} == {1_000}
    turn(removal, 10_000)
    assert {*cluster.limits.values()} == {CLOSED_BYTES}
    turn(removal, 39_999)
    assert len(cluster.limits) == 2
    turn(removal, 40_000)
    assert cluster.limits == {}
    assert removal.due(now_ms=10**9) is None


def test_opened_by_somebody_else() -> None:
    """What is open when it is due is closed once more instead of removed."""
    cluster = Cluster()
    removal = RetryRemoval(cluster, after_ms=1_000)
    turn(removal, 0)
    removal.forgotten("a", now_ms=0)
    turn(removal, 0)
    cluster.limits["%RETRY%a"] = 5_000
    turn(removal, 1_000)
    assert cluster.limits == {"%RETRY%a": CLOSED_BYTES}
    turn(removal, 2_000)
    assert cluster.limits == {}


def test_found_after_a_start() -> None:
    """A bridge goes on with what is closed, but not for who has spoken since it began."""
    for speaks in (False, True):
        cluster = Cluster()
        cluster.close_to_writes([*cluster.limits])
        removal = RetryRemoval(cluster, after_ms=1_000)
        if speaks:
            removal.alive("a")
        turn(removal, 0)
        turn(removal, 1_000)
        assert cluster.limits == ({"%RETRY%a": 1_000, "%DLQ%a": 1_000} if speaks else {})


def test_with_0_nothing_is_ever_removed() -> None:
    """With 0 nothing is looked for, closed or removed."""
    removal = RetryRemoval(Cluster(), after_ms=0)
    removal.forgotten("a", now_ms=0)
    removal.alive("a")
    assert removal.due(now_ms=10**9) is None


def test_not_more_than_so_many() -> None:
    """Of groups without end it remembers so many; one that speaks makes room for another."""
    removal = RetryRemoval(Cluster(), after_ms=1_000)
    for number in range(FORGOTTEN_MAX + 1):
        removal.forgotten(f"g{number:05}", now_ms=0)
    removal.alive("g00000")
    removal.forgotten("last", now_ms=0)
    task = removal.due(now_ms=0)
    assert task is not None
    assert len(task.looks) == FORGOTTEN_MAX
    assert "last" in task.looks
    assert f"g{FORGOTTEN_MAX:05}" not in task.looks
