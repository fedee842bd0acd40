"""What is recorded of a live cluster."""

import contextlib
import uuid
from pathlib import Path

import pytest
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient

from fairlead.errors import EnvironmentMissingError
from fairlead.recording.capture import Capture, capture, driver_settings
from fairlead.settings import Settings
from fairlead.wire.topics import ALL_TOPICS, TopicNames
from strategies.registry import STRATEGIES
from tests.kit.command import Command
from tests.kit.kafka_topics import delete_topics, make_topic


def test_a_topic_that_only_clients_need_may_be_missing(settings: Settings, tmp_path: Path) -> None:
    """Engine and clients go on without handovers, so a recording is made without it too."""
    ran_under = driver_settings(settings, STRATEGIES)
    names = TopicNames(settings.kafka.topic_prefix)
    said: list[str] = []
    whole = capture(Capture(settings.kafka, tmp_path / "whole", ran_under), said.append)
    assert set(whole.manifest.topics) == set(ALL_TOPICS)
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=settings.kafka.bootstrap)) as admin:
        delete_topics(admin, [names.name("handovers")])
    without = capture(Capture(settings.kafka, tmp_path / "without", ran_under), said.append)
    assert set(without.manifest.topics) == set(ALL_TOPICS) - {"handovers"}
    assert f"{names.name('handovers')}: it does not exist, so the recording lacks it" in said


def test_messages_of_a_topic_that_is_not_there(settings: Settings, tmp_path: Path) -> None:
    """The refusal is about --source, not about the prefix, and leaves no folder."""
    ran_under = driver_settings(settings, STRATEGIES)
    wanted = Capture(settings.kafka, tmp_path / "run", ran_under, sources=("nowhere",))
    with pytest.raises(EnvironmentMissingError, match=r"--source: .*nowhere") as refused:
        capture(wanted, lambda _: None)
    assert "subscribe" in str(refused.value.remedy)
    assert not (tmp_path / "run").exists()


def test_a_source_is_a_row_of_its_own(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever names a source sees how many of its messages were taken note of."""
    bootstrap, topic = settings.kafka.bootstrap, f"source-{uuid.uuid4().hex[:8]}"
    make_topic(bootstrap, topic, partitions=2)
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        for _ in range(3):
            producer.send(topic, b"message", partition=1).get(30)
    rows = Command("record", settings, capsys)("--to", str(tmp_path / "run"), "--source", topic)
    (row,) = [row for row in rows if row["topic"] == topic]
    assert (row["partitions"], row["records"], row["recorded"]) == (2, 3, "offsets")
