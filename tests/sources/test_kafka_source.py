"""A live cluster: records at their places, what is gone as gone, all by one connection."""

import contextlib
import itertools
import threading
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka import topic_reader
from fairlead.kafka.kafka_source import KafkaSource
from fairlead.kafka.topic_reader import consumer_of
from fairlead.settings import Settings
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames
from tests.kit.kafka_log import Log
from tests.kit.kafka_topics import delete_topics


def test_records_are_found_however_far_apart(settings: Settings) -> None:
    """Records far apart and side by side are found; missing ones have their reason."""
    with Log(settings.kafka) as log:
        for number in range(900):
            log.append("releases", b"%d" % number, b"g", partition=1)
        log.append("rejects", b"r", b"k")
    source = KafkaSource(settings.kafka)
    releases, rejects = source.names.name("releases"), source.names.name("rejects")
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap)) as admin:
        admin.delete_records({TopicPartition(releases, 1): 10})
    wanted = {
        (releases, 1, 9): "retention",
        (releases, 1, 10): b"10",
        (releases, 1, 11): b"11",
        (releases, 1, 899): b"899",
        (releases, 1, 900): "not_yet",
        (releases, 99, 0): "never",
        (rejects, 0, 0): b"r",
        ("elsewhere", 0, 0): "never",
    }
    found = source.records_at(wanted.keys())
    told = {place: row.value if isinstance(row, RawRecord) else row for place, row in found.items()}
    assert told == wanted
    assert source.partitions_of("rejects") == range(1)
    assert source.place == f"at {settings.kafka.bootstrap}, topics {settings.kafka.topic_prefix}…"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[KafkaConsumer]:
    """Collect the consumers that a reader opens."""
    found: list[KafkaConsumer] = []

    def counted(*given: Any, **options: Any) -> KafkaConsumer:
        found.append(consumer_of(*given, **options))
        return found[-1]

    monkeypatch.setattr(topic_reader, "consumer_of", counted)
    return found


def test_all_questions_share_one_connection(
    settings: Settings, opened: list[KafkaConsumer]
) -> None:
    """However many questions are asked one after the other, one connection is opened for them."""
    with Log(settings.kafka) as log:
        for number in range(3):
            log.append("heartbeats", b"%d" % number, b"g", partition=1)
            log.append("decisions", b"%d" % number, b"g")
    source = KafkaSource(settings.kafka)
    for _ in range(2):
        assert [row.value for row in source.read("heartbeats", range(4))] == [b"0", b"1", b"2"]
        assert [row.value for row in source.read("decisions", [0], 0)] == [b"0", b"1", b"2"]
        assert source.read("routes", [0]) == []
        first, *_, newest = source.read("decisions", [0])
        assert source.newest_ms("decisions", 0) == newest.append_ms >= first.append_ms
        assert source.newest_ms("routes", 0) is None
        assert source.ends_of("decisions") == {0: 3}
        place = (source.names.name("decisions"), 0, 1)
        row = source.records_at([place])[place]
        assert isinstance(row, RawRecord)
        assert row.value == b"1"
    assert len(opened) == 1


def test_two_readings_do_not_disturb_each_other(
    settings: Settings, opened: list[KafkaConsumer]
) -> None:
    """Two readings side by side do not disturb each other; one that is given up lends its own."""
    with Log(settings.kafka) as log:
        for number in range(700):
            log.append("releases", b"%d" % number, b"g", partition=2)
    source = KafkaSource(settings.kafka)
    everything = [b"%d" % number for number in range(700)]
    lazily = source.rows("releases", [2])
    seen = [row.value for row in itertools.islice(lazily, 5)]
    assert [row.value for row in source.read("releases", [2])] == everything
    seen += [row.value for row in lazily]
    assert seen == everything
    assert len(opened) == 2
    given_up = source.rows("releases", [2])
    assert next(given_up).value == b"0"
    del given_up
    assert [row.value for row in source.read("releases", [2])] == everything
    assert len(opened) == 2


def test_closed_with_the_last_reference(settings: Settings, opened: list[KafkaConsumer]) -> None:
    """A source that nobody refers to any more has no connection, and no thread, left."""
    others = set(threading.enumerate())
    source = KafkaSource(settings.kafka)
    own = set(threading.enumerate()) - others
    assert own
    del source
    assert len(opened) == 1
    assert not [thread for thread in own if thread.is_alive()]


def test_topic_that_is_not_there(settings: Settings) -> None:
    """A topic that is gone is missing at once, however it is asked about; none is made."""
    name = TopicNames(settings.kafka.topic_prefix).name("rejects")
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap)) as admin:
        delete_topics(admin, [name])
        source = KafkaSource(settings.kafka)
        for question in (
            lambda: source.read("rejects", [0]),
            lambda: source.newest_ms("rejects", 0),
            lambda: source.partitions_of("rejects"),
        ):
            with pytest.raises(EnvironmentMissingError, match=f"topics: {name} is missing"):
                question()
        assert name not in admin.list_topics()
