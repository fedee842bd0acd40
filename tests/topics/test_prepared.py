"""What a start of the engine makes of topics that are missing."""

import contextlib
import time

import pytest
from kafka import KafkaAdminClient

from fairlead.errors import RefusedError
from fairlead.settings import load_settings
from fairlead.wire.topics import TopicNames
from streaming.cluster import prepare_topics
from tests.fixtures.kafka import FEW_PARTITIONS

pytestmark = pytest.mark.broker


def _delete(admin: KafkaAdminClient, names: list[str]) -> None:
    admin.delete_topics(names)
    deadline = time.monotonic() + 30
    # Each look asks a broker, which goes on deleting for a while after its answer.
    while set(names) & {*admin.list_topics()}:
        assert time.monotonic() < deadline, names


def test_beside_a_checkpoint(bootstrap: str, topics: TopicNames) -> None:
    """Handovers, of which no state knows, are made by any start; nothing else that is missing."""
    place = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topics.prefix}
    settings = load_settings(overrides={**place, **FEW_PARTITIONS})
    handovers, releases = topics.name("handovers"), topics.name("releases")
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        _delete(admin, [handovers])
        prepare_topics(settings, may_create=False)
        assert handovers in admin.list_topics()
        _delete(admin, [handovers, releases])
        with pytest.raises(RefusedError, match=releases):
            prepare_topics(settings, may_create=False)
        assert handovers not in admin.list_topics()
