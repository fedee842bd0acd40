"""Where a group is in its queues: its commits, and what its members and operators told."""

from typing import Any, cast

import orjson
import pytest

from fairlead.bridges.kafka.answer import OffsetLookup
from fairlead.bridges.kafka.committed import Committed
from fairlead.bridges.kafka.data_cluster import DataCluster, TopicsLook
from fairlead.bridges.kafka.snapshot import TopicAbsent, TopicSeen
from fairlead.cli.sources.data_places import data_places
from fairlead.control.kafka_plane import ElsewhereError, KafkaPlane
from fairlead.control.queue_place import QueuePlace
from fairlead.core.model import MessageQueue, Position
from fairlead.errors import UsageError
from fairlead.observed.group_offsets import GroupOffsets
from fairlead.settings import load_settings
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import Topics, bounds, shard_of

QUEUE = MessageQueue("orders", "main", 0)
IDENTITY = "identity-of-orders"
END = 1_000


class _Data:
    """A data cluster that has one topic of two queues, and what a group committed in it."""

    def __init__(self, *committed: int) -> None:
        self._committed = committed

    def look_at(self, topics: list[str]) -> TopicsLook:
        return TopicsLook([TopicSeen(each, IDENTITY, (1, 1), (1, 1)) for each in topics], {})

    def bounds(
        self, topic: str, leaders: dict[int, int], times: list[int]
    ) -> tuple[OffsetLookup, dict[int, dict[int, int]]]:
        del topic, times
        return OffsetLookup(dict.fromkeys(leaders, 0), dict.fromkeys(leaders, END)), {}

    def committed(self, group: str, topic: str, partitions: list[int]) -> dict[int, Committed]:
        del group, topic
        known = dict(enumerate(self._committed))
        return {each: Committed(known.get(each, -1), "") for each in partitions}

    def committed_topics(self, group: str) -> list[str]:
        del group
        return ["orders"] if self._committed else []

    def groups(self) -> list[str]:
        return []


def _offsets(topics: Topics, *committed: int) -> GroupOffsets:
    data = KafkaPlane(cast("DataCluster", _Data(*committed)))
    return GroupOffsets(MemorySource(topics), data, "orders")


def _place(topics: Topics, *committed: int) -> QueuePlace:
    return _offsets(topics, *committed).places(["orders"], (), ())[0]


def _routed() -> Topics:
    topics = Topics()
    topics.route("orders", 2)
    topics.now_ms += 1_000
    return topics


def _progress(topics: Topics, offset: int, **said: Any) -> None:
    sender = {"group": "orders", "client_id": "c1"}
    sender["incarnation"] = "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11"
    entry = {"queue": [*QUEUE], "epoch": [1, 2], "position": [0, offset], **said}
    topics.append_of("heartbeats", "orders", {"kind": "progress", **sender, "queues": [entry]})


def _reset(topics: Topics, offset: int) -> int:
    body = {"kind": "reset", "group": "orders", "queue": [*QUEUE], "offset": offset, "by": "al"}
    key = orjson.dumps(["orders", "reset", *QUEUE])
    return topics.append("control", shard_of("orders"), key, body | {"identity": IDENTITY}).offset


def test_the_greatest_counts() -> None:
    """Of commit and progress the greater position counts; of equal ones progress is named."""
    topics = _routed()
    assert (_place(topics, 4).position, _place(topics, 4).told_by) == (Position(0, 4), "committed")
    _progress(topics, 7)
    for committed, told in ((4, (7, "progress")), (7, (7, "progress")), (9, (9, "committed"))):
        place = _place(topics, committed)
        assert place.position is not None
        assert (place.position.offset, place.told_by) == told
        assert place.committed == Position(0, committed)
    assert _place(topics, 4).lag == END - 7


def test_other_identities_do_not_count() -> None:
    """A client that still works on a deleted topic tells nothing of the one that has a route."""
    topics = _routed()
    _progress(topics, 5, identity=IDENTITY)
    topics.now_ms += 1_000
    _progress(topics, 900, identity="old")
    assert _place(topics, 2).position == Position(0, 5)
    at = _reset(topics, 1)
    place = _place(topics, 2)
    assert (place.position, place.told_by) == (Position(at + 1, 1), "reset")


def test_old_answers_of_a_bridge_do_not_count() -> None:
    """The data cluster is asked itself: native consumers may have gone back since a bridge was."""
    topics = _routed()
    told = bounds("orders", "orders", 1)
    told["queues"][0] |= {"committed": [0, 50]}
    topics.append("offsets", 0, orjson.dumps(["orders", "orders"]), told)
    assert _place(topics, 4).position == Position(0, 4)


def test_who_is_known() -> None:
    """A group is known by a record, a rule or a commit; others are refused."""
    topics = _routed()
    with pytest.raises(UsageError, match="there is no group orders"):
        _offsets(topics).require_known()
    _offsets(topics, 4).require_known()
    topics.rule("orders", "pause", value=True)
    offsets = _offsets(topics)
    offsets.require_known()
    assert offsets.topics() == set()
    with pytest.raises(UsageError, match="no member has heartbeat and nothing was committed"):
        offsets.places((), (), ())


def test_a_topic_that_the_data_cluster_does_not_have(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the option for RocketMQ; where reports have to do, nobody is warned of it."""
    topics, data = _routed(), _Data()
    monkeypatch.setattr(
        data, "look_at", lambda names: TopicsLook([TopicAbsent(each) for each in names], {})
    )
    offsets = GroupOffsets(MemorySource(topics), KafkaPlane(cast("DataCluster", data)), "orders")
    with pytest.raises(ElsewhereError, match=r"orders: .* no topic of this name") as caught:
        offsets.places(["orders"], (), ())
    assert "--namesrv" in caught.value.remedy
    assert "--" not in caught.value.over_http[1]

    def places(*_: object, **__: object) -> list[QueuePlace]:
        return offsets.places(["orders"], (), ())

    monkeypatch.setattr("fairlead.cli.sources.queue_options.QueueOptions.places", places)
    assert data_places("orders", MemorySource(topics), load_settings().kafka, None) == {}
    assert capsys.readouterr().err == ""
