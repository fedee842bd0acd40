"""Engine, bridge, clients and broker, and words that are not what they seem.

Forged releases and leaves, a reset of nothing, and a topic that is another one under its name.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer
from kafka import KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError

from fairlead.wire.partition import partition_of_group
from tests.kit.kafka_log import SHARDS, body_of
from tests.kit.live_system import BridgedSystem, bridged

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

WAIT_SECONDS = 110
QUIET_SECONDS = 3.0
MESSAGES, ABSURD = 10, 10**9
Taken = SimpleQueue[tuple[str, bytes]]


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BridgedSystem]:
    """One run of job and bridge for all tests; each has a group of its own."""
    folder = tmp_path_factory.mktemp("job")
    with bridged(spark_of_the_run, kafka.bootstrap, folder, messages=MESSAGES) as found:
        yield found


def _member(system: BridgedSystem, name: str, taken: Taken, **settings: Any) -> PushConsumer:
    def listen(messages: Sequence[Message], _context: ConsumeContext) -> ConsumeResult:
        for message in messages:
            taken.put((name, message.value or b""))
        return ConsumeResult.CONSUME_SUCCESS

    return PushConsumer(**{**system.client, **settings}, client_id=name, listener=listen)


def _topic(system: BridgedSystem, group: str) -> str:
    """Make a topic of one queue with messages, which nobody else reads."""
    topic = f"{system.topic}-{group}"
    system.admin.create_topics([NewTopic(topic, 1, 1)], wait_for_metadata=True)
    _write(system, topic, 1, MESSAGES, "first")
    return topic


def _take(taken: Taken, count: int) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    while len(found) < count:
        try:
            found.append(taken.get(timeout=WAIT_SECONDS))
        except Empty:
            pytest.fail(f"only {len(found)} of {count} came")
    return found


def _forge(system: BridgedSystem, topic: str, group: str, body: dict[str, Any]) -> None:
    value = orjson.dumps({"v": 1, "group": group, **body})
    shard = partition_of_group(group, SHARDS)
    system.log.append(topic, value, group.encode(), shard)


def _decided(system: BridgedSystem, group: str, alarm: str) -> dict[str, Any]:
    """Return the first decision of a group that raises an alarm."""
    return body_of(
        system.log.await_record(
            "decisions",
            lambda record: body_of(record)["group"] == group and alarm in body_of(record)["alarms"],
        )
    )


def _rejected(system: BridgedSystem, reason: str) -> dict[str, Any]:
    return body_of(
        system.log.await_record("rejects", lambda record: body_of(record)["reason"] == reason)
    )


def _told(
    system: BridgedSystem, group: str, client: str, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the first assignment of a client that fits."""

    def fits(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        mine = (body.get("group"), body.get("client_id")) == (group, client)
        return mine and body["kind"] == "assignment" and wanted(body)

    return body_of(system.log.await_record("assignments", fits))


def _of(body: dict[str, Any], topic: str) -> list[dict[str, Any]]:
    """Return what an assignment adds of a topic: a push consumer also reads its retry topic."""
    return [add for add in body["add"] if add["queue"][0] == topic]


def _progress(system: BridgedSystem, group: str, offset: int) -> None:
    """Await that somebody has told this position."""

    def fits(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        told = body.get("queues", ()) if body["kind"] == "progress" else ()
        mine = body.get("group") == group
        return mine and any(entry["position"][1] == offset and entry["end"] for entry in told)

    system.log.await_record("heartbeats", fits)


def _replace(system: BridgedSystem, topic: str, partitions: int, messages: int) -> None:
    """Delete a topic, create it again as soon as the broker lets us, and write messages."""
    system.admin.delete_topics([topic])
    deadline = monotonic() + WAIT_SECONDS
    while True:
        try:
            system.admin.create_topics([NewTopic(topic, partitions, 1)])
        except TopicAlreadyExistsError:
            assert monotonic() < deadline
            continue
        break
    _write(system, topic, partitions, messages, "new")


def _write(system: BridgedSystem, topic: str, partitions: int, messages: int, life: str) -> None:
    producer = KafkaProducer(bootstrap_servers=system.settings.kafka.bootstrap)
    for number in range(messages):
        producer.send(topic, f"{life} {number}".encode(), partition=number % partitions)
    producer.flush()
    producer.close()


def test_a_topic_that_is_deleted_and_made_again_at_once(system: BridgedSystem) -> None:
    """Nobody is killed, and each message of the new topic is processed once."""
    # The first test: the judge reads the whole log, and the others forge two owners.
    group, taken, partitions, messages = "remade", Taken(), 4, 500
    topic = f"{system.topic}-remade"
    system.admin.create_topics([NewTopic(topic, partitions, 1)], wait_for_metadata=True)
    _write(system, topic, partitions, messages // 2, "old")
    with ExitStack() as open_until_the_end:
        for name in ("a", "b"):
            one = _member(system, name, taken, group=group, topics=[topic])
            open_until_the_end.enter_context(one)
        _take(taken, messages // 2)
        _replace(system, topic, partitions, messages)
        values = Counter(value for _, value in _take(taken, messages))
        with pytest.raises(Empty):
            pytest.fail(f"{taken.get(timeout=QUIET_SECONDS)} came once more")
    assert values == Counter(f"new {number}".encode() for number in range(messages))
    assert system.broken() == []


def test_a_release_beyond_the_end(system: BridgedSystem) -> None:
    """It is refused and alarmed, its member is found to be spoken for, and every message comes."""
    group, taken = "released", Taken()
    topic = _topic(system, group)
    with _member(system, "a", taken, group=group, topics=[topic]):
        _take(taken, MESSAGES)
        _progress(system, group, MESSAGES)
        told = _told(system, group, "a", lambda body: _of(body, topic) != [])
        (held,) = _of(told, topic)
        sender = {"client_id": "a", "incarnation": told["incarnation"]}
        forged = {**sender, "queue": held["queue"], "epoch": held["epoch"]}
        position = {"position": [0, ABSURD], "identity": held["identity"]}
        _forge(system, "releases", group, {"kind": "release", **forged, **position})
        decided = _decided(system, group, "position_out_of_bounds")
        refused = _rejected(system, "position_out_of_bounds")
        causes = [each for each in decided["cause"] if each["kind"] == "position_out_of_bounds"]
        assert [(each["client_id"], each["at"]) for each in causes] == [("a", refused["at"])]
        assert refused["at"][0].endswith("releases")
        again = _told(
            system,
            group,
            "a",
            lambda body: body["epoch"] > held["epoch"] and _of(body, topic) != [],
        )
        assert _of(again, topic)[0]["position"] == [0, MESSAGES]
        _decided(system, group, "spoken_for")
        _write(system, topic, 1, MESSAGES, "more")
        assert len(_take(taken, MESSAGES)) == MESSAGES
    assert taken.empty()


def test_a_leave_in_the_name_of_a_living_member(system: BridgedSystem) -> None:
    """The engine says that it lapsed, and it joins again; the alarm names it, and both go on."""
    group, taken = "left", Taken()
    topic = _topic(system, group)
    with ExitStack() as open_until_the_end:
        one = _member(system, "a", taken, group=group, topics=[topic])
        open_until_the_end.enter_context(one)
        told = _told(system, group, "a", lambda body: _of(body, topic) != [])
        (held,) = _of(told, topic)
        _take(taken, MESSAGES)
        other = _member(system, "b", taken, group=group, topics=[topic])
        open_until_the_end.enter_context(other)
        _told(system, group, "b", lambda body: body["parts"] == 1)
        sender = {"client_id": "a", "incarnation": told["incarnation"]}
        last = {"last_started": held["epoch"]}
        _forge(system, "heartbeats", group, {"kind": "leave", **sender, **last, "sequence": 5_000})
        forged = {"queue": held["queue"], "epoch": held["epoch"], "position": [0, MESSAGES]}
        _forge(system, "releases", group, {"kind": "release", **sender, **forged, **last})
        decided = _decided(system, group, "spoken_for")
        causes = [each for each in decided["cause"] if each["kind"] == "spoken_for"]
        assert [each["client_id"] for each in causes] == ["a"]
        _told(system, group, "a", lambda body: body["incarnation"] != told["incarnation"])
        _write(system, topic, 1, MESSAGES, "more")
        assert len(_take(taken, MESSAGES)) == MESSAGES
    assert taken.empty()


def test_a_reset_of_a_topic_that_nobody_reads(system: BridgedSystem) -> None:
    """It is refused with the remedy, for nobody in the group could ever follow it."""
    group = "reset"
    with _member(system, "a", Taken(), group=group):
        _told(system, group, "a", lambda body: bool(body["add"]))
        key = orjson.dumps([group, "reset", "nothing", "main", 0])
        body = {"kind": "reset", "queue": ["nothing", "main", 0], "offset": 5, "by": "alice"}
        value = orjson.dumps({"v": 1, "group": group, **body})
        system.log.append("control", value, key, partition_of_group(group, SHARDS))
        refused = _rejected(system, "unknown_queue")
    assert (refused["field"], "identity" in refused["remedy"]) == ("queue", True)
