"""Records of a live cluster are found at their places, and what is gone is told as gone."""

import contextlib

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient

from fairlead.settings import Settings
from fairlead.sources.kafka_source import KafkaSource
from fairlead.wire.raw import RawRecord
from tests.streaming.log import Log


def test_places(settings: Settings) -> None:
    """Records far apart and side by side are found; deleted, later and strange ones are told."""
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
