"""Making Fairlead's topics on a real broker, and finding what differs."""

import contextlib
import socket
import threading
from typing import Any

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka import topic_creation
from fairlead.kafka.reachability import require_reachable
from fairlead.kafka.topic_creation import (
    READY_WAIT_MS,
    TopicDifference,
    configs_of,
    create_topics,
    inspect_topics,
)
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import TopicsSettings, load_settings
from fairlead.wire.topics import ALL_TOPICS, TopicNames


@pytest.fixture
def connection(bootstrap: str) -> dict[str, Any]:
    """How a kafka-python client reaches the broker."""
    return {"bootstrap_servers": bootstrap, "bootstrap_timeout_ms": 5_000}


@pytest.fixture
def defaults() -> TopicsSettings:
    """The topics' settings of conf/."""
    return load_settings().topics


def test_every_topic_of_the_protocol_has_a_specification(defaults: TopicsSettings) -> None:
    """The specifications are exactly those of the wire, shards alike where it matters."""
    specs = {spec.suffix: spec for spec in topic_specs(defaults)}
    assert set(ALL_TOPICS) == set(specs)
    sharded = {specs[suffix].partitions for suffix in ("heartbeats", "releases", "control")}
    assert sharded == {defaults.heartbeats_partitions}


def test_missing_topics_are_made_and_found_right(
    connection: dict[str, Any], topic_prefix: str, defaults: TopicsSettings
) -> None:
    """A second call makes nothing and finds no difference."""
    specs = topic_specs(defaults)
    first = create_topics(connection, topic_prefix, specs, 1)
    second = create_topics(connection, topic_prefix, specs, 1)
    names = TopicNames(topic_prefix)
    assert set(first.created) == {names.name(suffix) for suffix in ALL_TOPICS}
    assert second.created == ()
    assert second.existing == first.created
    assert second.differences == first.differences == ()


def test_a_broker_hears_of_new_topics_late(
    connection: dict[str, Any],
    topic_prefix: str,
    defaults: TopicsSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was restarted told no settings of topics made just before: asked again."""
    asked = []

    def late(admin: KafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
        asked.append(names)
        return configs_of(admin, names) if len(asked) == 3 else {}

    monkeypatch.setattr(topic_creation, "configs_of", late)
    report = create_topics(connection, topic_prefix, topic_specs(defaults), 1)
    assert len(asked) == 3
    assert report.differences == ()
    for work in (create_topics, inspect_topics):
        asked.clear()
        assert work(connection, topic_prefix, topic_specs(defaults), 1).differences == ()
        assert len(asked) == 3


def test_inspection_makes_nothing(
    connection: dict[str, Any], topic_prefix: str, defaults: TopicsSettings
) -> None:
    """Looking at topics that are not there reports all of them as missing, twice."""
    specs = topic_specs(defaults)
    names = tuple(topic_prefix + spec.suffix for spec in specs)
    assert inspect_topics(connection, topic_prefix, specs).missing == names
    assert inspect_topics(connection, topic_prefix, specs).missing == names


def test_what_differs_is_named(
    connection: dict[str, Any], topic_prefix: str, defaults: TopicsSettings
) -> None:
    """Existing topics are not changed; each differing setting is reported, and whether it hurts."""
    few = defaults.model_copy(update={"heartbeats_partitions": 2})
    create_topics(connection, topic_prefix, topic_specs(few), 1)
    wanted = defaults.model_copy(
        update={"heartbeats_partitions": 3, "decisions_retention_ms": 86_400_000}
    )
    found = create_topics(connection, topic_prefix, topic_specs(wanted), 1).differences
    heartbeats = TopicDifference(f"{topic_prefix}heartbeats", "partitions", "3", "2")
    assert found[0] == heartbeats
    assert heartbeats.essential
    decisions = {one.setting: one for one in found if one.topic == f"{topic_prefix}decisions"}
    assert set(decisions) == {"retention.ms", "segment.ms"}
    assert not decisions["retention.ms"].essential


def test_a_topic_made_by_hand_differs_in_its_dates_and_its_cleanup(
    connection: dict[str, Any], topic_prefix: str, defaults: TopicsSettings
) -> None:
    """Topics made with a broker's defaults lack what the clock and the compaction need."""
    admin = KafkaAdminClient(**connection)
    bare = {"num_partitions": defaults.heartbeats_partitions, "replication_factor": 1}
    admin.create_topics({f"{topic_prefix}control": bare})
    admin.wait_for_topics([f"{topic_prefix}control"], timeout_ms=READY_WAIT_MS)
    admin.close()
    found = create_topics(connection, topic_prefix, topic_specs(defaults), 1).differences
    essential = {one.setting: one.found for one in found if one.essential}
    assert essential["cleanup.policy"] == "delete"
    assert essential["message.timestamp.type"] == "CreateTime"
    assert {one.topic for one in found} == {f"{topic_prefix}control"}


def test_a_wrong_number_of_copies_is_refused_and_named(
    connection: dict[str, Any], topic_prefix: str, defaults: TopicsSettings
) -> None:
    """Three copies on one broker cannot be; the error names the topic and Kafka's reason."""
    with pytest.raises(EnvironmentMissingError, match=r"heartbeats.*InvalidReplicationFactor"):
        create_topics(connection, topic_prefix, topic_specs(defaults), 3)


def test_copies_are_compared_when_their_number_is_given(
    connection: dict[str, Any], topic_prefix: str, defaults: TopicsSettings
) -> None:
    """Topics with one copy do not pass for topics with three."""
    create_topics(connection, topic_prefix, topic_specs(defaults), 1)
    found = inspect_topics(connection, topic_prefix, topic_specs(defaults), 3).differences
    copies = [one for one in found if one.setting == "replication.factor"]
    assert [(one.expected, one.found) for one in copies] == [("3", "1")] * len(ALL_TOPICS)


def test_the_broker_dates_heartbeats_and_not_their_sender(
    bootstrap: str, topics: TopicNames
) -> None:
    """A heartbeat with a forged date carries the append time, and its reader can tell."""
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    sent = producer.send(topics.name("heartbeats"), b"{}", timestamp_ms=1_000, partition=0)
    appended = sent.get(timeout=10)
    producer.close()
    consumer = KafkaConsumer(
        topics.name("heartbeats"),
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        consumer_timeout_ms=10_000,
    )
    record = next(consumer)
    consumer.close()
    assert record.offset == appended.offset
    assert record.timestamp_type == 1
    assert record.timestamp > 1_000_000_000_000


def test_a_cluster_that_does_not_answer_is_an_environment_error(defaults: TopicsSettings) -> None:
    """Nobody listens on two addresses: the error names both, and how to start a broker."""
    nobody = {"bootstrap_servers": ["127.0.0.1:1", "127.0.0.1:2"]}
    with pytest.raises(
        EnvironmentMissingError, match=r"127\.0\.0\.1:1: .*127\.0\.0\.1:2: "
    ) as error:
        inspect_topics(nobody, "x.", topic_specs(defaults))
    assert "fairlead broker start" in error.value.remedy


def test_one_reachable_broker_of_several_is_enough(bootstrap: str) -> None:
    """A list whose first address is dead is accepted, as text or as a list."""
    require_reachable({"bootstrap_servers": f"127.0.0.1:1,{bootstrap}"})
    require_reachable({"bootstrap_servers": ["127.0.0.1:1", bootstrap]})


def test_an_answer_that_is_no_kafka_is_an_environment_error(defaults: TopicsSettings) -> None:
    """Something that accepts connections and hangs up is named as that."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        nobody = {"bootstrap_servers": f"127.0.0.1:{port}", "bootstrap_timeout_ms": 500}
        with pytest.raises(EnvironmentMissingError, match=f"127.0.0.1:{port} closes the conn"):
            inspect_topics(nobody, "x.", topic_specs(defaults))


def _hang_up(server: socket.socket) -> None:
    """Accept and close until the listener is closed."""
    with contextlib.suppress(OSError):
        while True:
            server.accept()[0].close()
