"""What is recorded of a live cluster."""

import contextlib
from pathlib import Path

from kafka.admin import KafkaAdminClient

from fairlead.recording.capture import Capture, capture, driver_settings
from fairlead.settings import Settings
from fairlead.wire.topics import ALL_TOPICS, TopicNames
from strategies.registry import STRATEGIES
from tests.topics.deletion import delete_topics


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
    assert f"{names.name('handovers')}: it is not there, and left out" in said
