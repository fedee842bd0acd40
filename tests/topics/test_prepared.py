"""What a start of the engine makes of topics that are missing."""

import contextlib

import pytest
from kafka import KafkaAdminClient

from fairlead.errors import RefusedError
from fairlead.settings import load_settings
from fairlead.wire.topics import TopicNames
from streaming.cluster import prepare_topics
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.kafka_topics import delete_topics

pytestmark = pytest.mark.broker


def test_beside_a_checkpoint_only_handovers_are_made(bootstrap: str, topics: TopicNames) -> None:
    """Any start makes the handovers topic, since no state knows it, and no other."""
    place = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topics.prefix}
    settings = load_settings(overrides={**place, **FEW_PARTITIONS})
    handovers, releases = topics.name("handovers"), topics.name("releases")
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        delete_topics(admin, [handovers])
        prepare_topics(settings, may_create=False)
        assert handovers in admin.list_topics()
        delete_topics(admin, [handovers, releases])
        with pytest.raises(RefusedError, match=releases):
            prepare_topics(settings, may_create=False)
        assert handovers not in admin.list_topics()
