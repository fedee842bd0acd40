"""The follower of the topics: from where it reads, when it has caught up, how it goes on."""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer

from fairlead.broker import EmbeddedKafka
from fairlead.broker.ports import free_ports
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_follower import TopicFollower
from fairlead.kafka.topic_specification import topic_specs
from fairlead.observed.read_windows import WINDOWS_MS
from fairlead.settings import KafkaSettings, load_settings
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames
from tests.fixtures.kafka import FEW_PARTITIONS

WINDOWS = {**WINDOWS_MS, "decisions": 3_600_000}
WAIT_S = 60.0


class Taken:
    """What a follower handed over, and a way to wait for it."""

    def __init__(self) -> None:
        self.rows: list[RawRecord] = []
        self.begun: list[Partitions] = []
        self.caught_up_at: list[int] = []
        self._changed = threading.Condition()

    def begin(self, names: TopicNames, partitions: Partitions) -> None:
        """Note a beginning."""
        del names
        self._note(lambda: self.begun.append(partitions))

    def take(self, rows: Sequence[RawRecord]) -> None:
        """Note rows."""
        self._note(lambda: self.rows.extend(rows))

    def caught_up(self) -> None:
        """Note behind how many rows it had caught up."""
        self._note(lambda: self.caught_up_at.append(len(self.rows)))

    def _note(self, change: object) -> None:
        assert callable(change)
        with self._changed:
            change()
            self._changed.notify_all()

    def values(self) -> set[bytes | None]:
        """Return the values of all rows."""
        return {row.value for row in self.rows}

    def wait(self, holds: object) -> None:
        """Wait until a condition holds."""
        assert callable(holds)
        with self._changed:
            assert self._changed.wait_for(holds, WAIT_S), (len(self.rows), self.caught_up_at)


@contextlib.contextmanager
def following(kafka: KafkaSettings, taken: Taken) -> Iterator[TopicFollower]:
    """Follow while the context is open."""
    follower = TopicFollower(kafka, WINDOWS, taken.begin, taken.take, taken.caught_up)
    follower.start()
    try:
        yield follower
    finally:
        follower.stop()


@pytest.fixture
def settings(bootstrap: str, topics: TopicNames) -> KafkaSettings:
    """The cluster, and topics of the test's own."""
    overrides = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topics.prefix}
    return load_settings(overrides=overrides).kafka


@pytest.fixture
def producer(bootstrap: str) -> Iterator[KafkaProducer]:
    """A producer that waits for every copy."""
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap, acks="all")) as made:
        yield made


def test_all_topics_are_read_and_followed(
    settings: KafkaSettings, topics: TopicNames, producer: KafkaProducer
) -> None:
    """What stood in the topics comes before it has caught up, and what is written later after."""
    for suffix in ("assignments", "decisions", "heartbeats", "releases", "control", "routes"):
        producer.send(topics.name(suffix), key=b"k", value=suffix.encode(), partition=0)
    producer.flush()
    taken = Taken()
    with following(settings, taken) as follower:
        taken.wait(lambda: taken.caught_up_at)
        assert taken.values() == {
            b"assignments", b"decisions", b"heartbeats", b"releases", b"control", b"routes",
        }  # fmt: skip
        producer.send(topics.name("decisions"), key=b"k", value=b"later", partition=0)
        producer.flush()
        taken.wait(lambda: b"later" in taken.values())
        found = follower.following
    assert taken.caught_up_at == [6]
    assert taken.begun == [Partitions(shards=4, assignments=8)]
    assert (found.caught_up, found.trouble) == (True, "")
    assert found.topics["decisions"].newest_ms == max(row.append_ms for row in taken.rows)
    assert [row.offset for row in taken.rows if row.topic == topics.name("decisions")] == [0, 1]


def test_a_cluster_that_is_not_there_is_said_and_awaited(settings: KafkaSettings) -> None:
    """Without a cluster nothing is begun, and the reason names the address."""
    port = free_ports(1)[0]
    taken = Taken()
    lost = settings.model_copy(update={"bootstrap": f"127.0.0.1:{port}"})
    with following(lost, taken) as follower:
        deadline = time.monotonic() + WAIT_S
        while str(port) not in follower.following.trouble:
            assert time.monotonic() < deadline, follower.following
    assert not taken.begun


@pytest.mark.slow
def test_after_a_break_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """A broker that died and came back costs nothing: what was taken stays, what is new is read."""
    with EmbeddedKafka(tmp_path) as cluster:
        overrides = {"kafka.bootstrap": cluster.bootstrap, **FEW_PARTITIONS}
        settings = load_settings(overrides=overrides)
        create_topics(
            {"bootstrap_servers": cluster.bootstrap}, "fairlead.", topic_specs(settings.topics), 1
        )
        taken = Taken()
        with following(settings.kafka, taken) as follower:
            taken.wait(lambda: taken.caught_up_at)
            cluster.kill()
            deadline = time.monotonic() + WAIT_S
            while not follower.following.trouble:
                assert time.monotonic() < deadline, follower.following
            cluster.restart()
            with contextlib.closing(KafkaProducer(bootstrap_servers=cluster.bootstrap)) as made:
                made.send("fairlead.decisions", key=b"k", value=b"after", partition=0)
                made.flush()
            taken.wait(lambda: b"after" in taken.values())
            assert not follower.following.trouble
    assert (len(taken.begun), len(taken.caught_up_at)) == (1, 1)


def test_what_cannot_be_taken_is_trouble(
    settings: KafkaSettings, topics: TopicNames, producer: KafkaProducer
) -> None:
    """Whatever the view raises is said, and what stands there is read again, not left out."""
    producer.send(topics.name("decisions"), key=b"k", value=b"odd", partition=0)
    producer.flush()
    taken = Taken()
    raised = threading.Event()

    def take(rows: Sequence[RawRecord]) -> None:
        if not raised.is_set():
            raised.set()
            raise OverflowError("int too big")
        taken.take(rows)

    follower = TopicFollower(settings, WINDOWS, taken.begin, take, taken.caught_up)
    follower.start()
    try:
        assert raised.wait(WAIT_S)
        taken.wait(lambda: taken.values() == {b"odd"} and taken.caught_up_at)
    finally:
        follower.stop()
    assert follower.following.trouble == "its thread has ended"
    assert len(taken.rows) == 1


def test_the_mark_of_a_transaction_is_nothing_to_read(
    settings: KafkaSettings,
    topics: TopicNames,
    producer: KafkaProducer,
    bootstrap: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The end lies behind a mark that nobody sees: that makes no topic look as if it were late."""
    monkeypatch.setattr("fairlead.kafka.topic_follower._ASK_S", 0.0)
    taken = Taken()
    with following(settings, taken) as follower:
        taken.wait(lambda: taken.caught_up_at)
        transactional = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=topics.prefix)
        with contextlib.closing(transactional) as writer:
            writer.init_transactions()
            writer.begin_transaction()
            writer.send(topics.name("decisions"), key=b"k", value=b"marked", partition=0)
            writer.commit_transaction()
        # Each is another look at the ends; the last one shows that all before it is noted.
        for value in (b"first", b"second", b"third"):
            producer.send(topics.name("heartbeats"), key=b"k", value=value, partition=0)
            producer.flush()
            taken.wait(lambda value=value: value in taken.values())
        assert b"marked" in taken.values()
        assert follower.following.topics["decisions"].behind == 0


@pytest.mark.slow  # the engine's own test makes topics anew
def test_topics_made_anew_are_read_from_their_first(
    kafka: EmbeddedKafka, settings: KafkaSettings, topics: TopicNames, producer: KafkaProducer
) -> None:
    """A topic of the same name and another life is begun anew, whatever stood in the old one."""
    name = topics.name("decisions")
    producer.send(name, key=b"k", value=b"old", partition=0)
    producer.flush()
    taken = Taken()
    with following(settings, taken):
        taken.wait(lambda: taken.caught_up_at)
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka.bootstrap)) as admin:
            admin.delete_topics([name])
            connection = {"bootstrap_servers": kafka.bootstrap}
            specs = topic_specs(load_settings(overrides=FEW_PARTITIONS).topics)
            create_topics(connection, topics.prefix, specs, 1)
        for number in range(3):
            producer.send(name, key=b"k", value=b"new %d" % number, partition=0)
        producer.flush()
        taken.wait(lambda: b"new 2" in taken.values())
        taken.wait(lambda: len(taken.caught_up_at) > 1)
    assert {b"new 0", b"new 1", b"new 2"} <= taken.values()
    assert len(taken.begun) > 1
