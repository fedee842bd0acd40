"""``fairlead serve`` on topics with batches that nobody can read: it names each and goes on."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson
from kafka import TopicPartition

from fairlead.wire.topics import ALL_TOPICS
from tests.kit.codecs import produce_in_each
from tests.kit.decision_bodies import encoded_decision
from tests.kit.serve_process import serving
from tests.kit.unreadable import old_topics

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

UNREAD: Final = ("handovers", "requests")
"""What a view has no use for."""


def test_it_passes_over_what_nobody_can_read(
    kafka: "EmbeddedKafka", topic_prefix: str, tmp_path: Path
) -> None:
    """In every topic that it follows: counted, named, and the record behind is read."""
    with old_topics(kafka, topic_prefix) as old:
        spoiled = old.spoil([(suffix, 0) for suffix in ALL_TOPICS])
        old.set_right()
        decisions = TopicPartition(old.names.name("decisions"), 0)
        produce_in_each(kafka.bootstrap, [decisions], None, encoded_decision(1, []), b"orders")
        others = [place for place in spoiled if place != decisions]
        produce_in_each(kafka.bootstrap, others, None, b"behind", b"orders")
        with serving(tmp_path, kafka.bootstrap, topic_prefix) as served:
            served.wait("/readyz", 200)
            served.wait("/api/v1/groups/orders", 200)
            text = served.get("/metrics")[1].decode()
            told = (tmp_path / "serve.log").read_text("utf-8")
        lines = [orjson.loads(line) for line in told.splitlines()]
        named = [
            (line["topic"], line["partition"], line["offset"])
            for line in lines
            if line["event"] == "batch_passed_over"
        ]
        counted = dict(
            re.findall(
                r'^fairlead_batches_passed_over_total{topic="(.*)"} (.*)$', text, re.MULTILINE
            )
        )
        unread = {old.names.name(suffix) for suffix in UNREAD}
        wanted = {place: offsets for place, offsets in spoiled.items() if place.topic not in unread}
        assert counted == {place.topic: "3.0" for place in wanted}
        assert sorted(named) == sorted(
            (place.topic, place.partition, offset)
            for place, offsets in wanted.items()
            for offset in offsets
        )
