"""What is read means what it says, field by field, and an error names the very field."""

from typing import Any

import pytest

from fairlead.core.model import (
    Epoch,
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
    Subscription,
)
from fairlead.core.records import Claim, Claims, Heartbeat, Release
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.topics import INPUT_TOPICS, OUTPUT_TOPICS, TopicNames
from tests.kit.wire_records import LIMITS, TOPIC_OF, example, raw_of

ME = MemberKey("10.0.0.7@4121#1", "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")


def _decoded(body: dict[str, Any]) -> Any:
    return decode(TOPIC_OF[body["kind"]], raw_of(body), LIMITS)


def test_a_heartbeat_keeps_all_of_rocketmq() -> None:
    """A heartbeat keeps everything that RocketMQ's carries, and what Fairlead adds."""
    assert _decoded(example("heartbeat")) == Heartbeat(
        group="orders",
        member=ME,
        process=Process(1780999990000, "0f4d7a52-51c9-4c56-8a4a-3b1f3e0c9d02"),
        incarnations=1,
        sequence=17,
        generation=3,
        profile=MemberProfile(
            consume_type="push",
            message_model="clustering",
            consume_from="last_offset",
            consume_timestamp_ms=None,
            ordered=False,
            language="python",
            version="0.1.0",
            address="10.0.0.7",
            zone="zone-a",
            capacity=1,
            lease_ms=15_000,
        ),
        subscriptions=(Subscription("orders", "tag", "*", (), 1780999990000),),
        applied=Epoch(3, 41),
        digest=0x477EBF55DDAD1D04,
    )


@pytest.mark.parametrize("decide", [True, False])
def test_a_heartbeat_that_asks_for_a_decision(decide: bool) -> None:  # noqa: FBT001
    """It may say so; one that does not say anything of it asks for nothing."""
    beat = _decoded(example("heartbeat", decide=decide))
    assert isinstance(beat, Heartbeat)
    assert beat.decide is decide
    with pytest.raises(WireError) as caught:
        _decoded(example("heartbeat", decide="now"))
    assert caught.value.field == "decide"


def test_a_first_heartbeat_knows_nothing() -> None:
    """A client that knows nothing yet says so: no generation, nothing applied, no zone."""
    beat = _decoded(example("heartbeat", generation=0, applied=None, zone=None, subscriptions=[]))
    assert isinstance(beat, Heartbeat)
    assert (beat.generation, beat.applied, beat.profile.zone, beat.subscriptions) == (
        0,
        None,
        None,
        (),
    )


def test_a_member_may_subscribe_to_many_topics() -> None:
    """A member may subscribe to many topics, each with tags of its own."""
    more = _subscription(topic="payments", expression="a || b", tags=["a", "b"])
    beat = _decoded(example("heartbeat", subscriptions=[_subscription(), more]))
    assert isinstance(beat, Heartbeat)
    assert [entry.topic for entry in beat.subscriptions] == ["orders", "payments"]
    assert [entry.tags for entry in beat.subscriptions] == [(), ("a", "b")]


def test_a_null_position_is_not_position_0() -> None:
    """A null position stays apart from position 0."""
    queue, epoch = MessageQueue("orders", "main", 2), Epoch(3, 39)
    member = MemberKey("10.0.0.4@77#1", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03")
    for position, expected in (([0, 0], Position(0, 0)), (None, None)):
        release = _decoded(example("release", position=position))
        life = "W3XrV0pUSt2Qh0nHkS5ZtQ"
        assert release == Release("orders", member, queue, epoch, expected, identity=life)


@pytest.mark.parametrize("kind", ["leave", "release"])
def test_what_was_started_last_may_be_left_out(kind: str) -> None:
    """What was started last may be left out or null, and is read as an epoch."""
    plain, told = example(kind), example(kind, last_started=[3, 39])
    plain.pop("last_started", None)
    assert _decoded(plain).last_started is _decoded({**plain, "last_started": None}).last_started
    assert _decoded(plain).last_started is None
    assert _decoded(told).last_started == Epoch(3, 39)


def test_a_claim_says_whether_its_queue_runs() -> None:
    """A claim says whether its queue still runs."""
    claims = _decoded(example("claims"))
    assert claims == Claims(
        "orders",
        ME,
        4,
        0,
        1,
        (
            Claim(MessageQueue("orders", "main", 1), Epoch(3, 36), Position(0, 9120), running=True),
            Claim(MessageQueue("orders", "main", 2), Epoch(3, 30), Position(0, 700), running=False),
        ),
    )


def _subscription(**changes: Any) -> dict[str, Any]:
    subscription: dict[str, Any] = example("heartbeat")["subscriptions"][0] | changes
    return subscription


def _entry(kind: str, **changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = example(kind)["queues"][0] | changes
    return entry


@pytest.mark.parametrize(
    "body, reason, field",
    [
        (
            example("heartbeat", subscriptions=[_subscription(), _subscription()]),
            "duplicate_entry",
            "subscriptions",
        ),
        (
            example("heartbeat", subscriptions=[_subscription(), _subscription(topic="a b")]),
            "bad_value",
            "subscriptions[1].topic",
        ),
        (
            example("heartbeat", subscriptions=[_subscription(tags=["a", 3])]),
            "wrong_type",
            "subscriptions[0].tags[1]",
        ),
        (
            example("heartbeat", subscriptions=[_subscription(tags=["a", "a"])]),
            "duplicate_entry",
            "subscriptions[0].tags",
        ),
        (example("heartbeat", subscriptions=[3]), "wrong_type", "subscriptions[0]"),
        (
            example("heartbeat", process={"start_ms": 1780999990000, "uuid": "x"}),
            "bad_value",
            "process.uuid",
        ),
        (
            example("heartbeat", consume_from="timestamp"),
            "inconsistent",
            "consume_timestamp_ms",
        ),
        (example("heartbeat", applied=[3]), "bad_value", "applied"),
        (example("heartbeat", applied=[3, "4"]), "wrong_type", "applied[1]"),
        (example("heartbeat", ordered=0), "wrong_type", "ordered"),
        (example("heartbeat", consume_type="pop"), "bad_value", "consume_type"),
        (example("heartbeat", consume_type=1), "wrong_type", "consume_type"),
        (example("heartbeat", process=[]), "wrong_type", "process"),
        (
            example("progress", queues=[_entry("progress"), _entry("progress")]),
            "duplicate_entry",
            "queues",
        ),
        (
            example("progress", queues=[_entry("progress", queue=["orders", "main"])]),
            "bad_value",
            "queues[0].queue",
        ),
        (
            example("progress", queues=[_entry("progress", queue="orders")]),
            "wrong_type",
            "queues[0].queue",
        ),
        (
            example("claims", queues=[_entry("claims"), _entry("claims", epoch=[3, 37])]),
            "duplicate_entry",
            "queues",
        ),
        (example("claims", part=1), "inconsistent", "part"),
        (example("claims", parts=1025), "bad_value", "parts"),
        (
            example("offsets", queues=[_entry("offsets", min=9201)]),
            "inconsistent",
            "queues[0].min",
        ),
        (
            example("offsets", queues=[_entry("offsets"), _entry("offsets")]),
            "duplicate_entry",
            "queues",
        ),
        (
            example("offsets", queues=[_entry("offsets", for_time={"timestamp_ms": 1})]),
            "bad_value",
            "queues[0].for_time.timestamp_ms",
        ),
        (example("generation", started_ms=1), "bad_value", "started_ms"),
    ],
)
def test_an_error_names_the_path_of_the_field(
    body: dict[str, Any], reason: str, field: str
) -> None:
    """The error names the path of the very field, and says what to send."""
    with pytest.raises(WireError) as caught:
        _decoded(body)
    assert (caught.value.reason, caught.value.field) == (reason, field)
    assert str(caught.value).startswith(f"{reason} at {field}: ")


def test_a_generation_stands_under_its_driver() -> None:
    """A claim of a generation stands under its driver's own key."""
    record = raw_of(example("generation"))._replace(key=b"other")
    with pytest.raises(WireError, match="key_mismatch at the record"):
        decode("generations", record, LIMITS)


def test_a_topic_belongs_to_one_prefix() -> None:
    """A full name and its suffix belong together under one prefix only."""
    names = TopicNames("p-")
    assert names.inputs + names.outputs == tuple(
        names.name(suffix) for suffix in INPUT_TOPICS + OUTPUT_TOPICS
    )
    assert [names.suffix(topic) for topic in ("p-control", "control", "p-other", "q-control")] == [
        "control",
        None,
        None,
        None,
    ]
    with pytest.raises(ValueError, match="other is not a topic"):
        names.name("other")
