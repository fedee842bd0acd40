"""What a running engine notices of its topics: a setting that was changed, and put right."""

import contextlib
from collections.abc import Iterator

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions

from fairlead.errors import FairleadError
from fairlead.settings import Settings, load_settings
from fairlead.wire.topics import TopicNames
from streaming.cluster import PartitionGuard, prepare_topics, read_cluster, wrong_settings
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.awaiting import await_seen

pytestmark = pytest.mark.broker


class Told:
    """What a guard has said."""

    def __init__(self, settings: Settings) -> None:
        self.wrong: list[int] = []
        self.changes: list[FairleadError] = []
        facts = read_cluster(settings)
        self.guard = PartitionGuard(
            settings, facts, self.changes.append, self.wrong.append, look_seconds=0.05
        )


@pytest.fixture
def settings(bootstrap: str, topic_prefix: str) -> Settings:
    """Return the settings of an engine whose topics are there."""
    place = {"kafka.bootstrap": bootstrap, "kafka.topic_prefix": topic_prefix}
    found = load_settings(overrides={**place, **FEW_PARTITIONS})
    prepare_topics(found, may_create=True)
    return found


@pytest.fixture
def told(settings: Settings) -> Iterator[Told]:
    """Return what a guard says that looks all the time."""
    told = Told(settings)
    told.guard.start()
    yield told
    told.guard.stop()


@pytest.fixture
def admin(bootstrap: str) -> Iterator[KafkaAdminClient]:
    """Return a client that changes topics."""
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as client:
        yield client


def test_setting_that_is_changed_is_counted_until_it_is_put_right(
    settings: Settings, told: Told, admin: KafkaAdminClient
) -> None:
    """A topic that takes compressed records is named, and the engine goes on."""
    heartbeats = TopicNames(settings.kafka.topic_prefix).name("heartbeats")
    await_seen(lambda: told.wrong[-1:], lambda last: last == [0], what="look at settings in order")
    compress(admin, heartbeats, "zstd")
    await_seen(lambda: told.wrong[-1:], lambda last: last == [1], what="wrong setting")
    assert wrong_settings(settings) == {f"{heartbeats}: compression.type is zstd, not uncompressed"}
    compress(admin, heartbeats, "uncompressed")
    await_seen(lambda: told.wrong[-1:], lambda last: last == [0], what="setting put right")
    assert told.changes == []


def test_partitions_that_grow_end_the_engine(
    settings: Settings, told: Told, admin: KafkaAdminClient
) -> None:
    """Groups would move to shards that do not know them."""
    heartbeats = TopicNames(settings.kafka.topic_prefix).name("heartbeats")
    count = read_cluster(settings).shards + 1
    admin.create_partitions({heartbeats: NewPartitions(total_count=count)})
    (change,) = await_seen(lambda: told.changes, what="notice of partitions")
    assert "partitions" in str(change)


def compress(admin: KafkaAdminClient, topic: str, codec: str) -> None:
    """Set the codec in which a topic stores its records."""
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, {"compression.type": codec})
    admin.alter_configs([resource])
