"""What drivers, operators and bridges write comes back as it was meant."""

from base64 import b64decode
from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson
import pytest

from fairlead.core.model import MessageQueue, Route, RouteBroker, Source
from fairlead.core.outputs import Rejection
from fairlead.core.records import (
    DriverSettings,
    Generation,
    OffsetsKnown,
    Reset,
    RouteChanged,
    RuleSet,
    Tick,
)
from fairlead.wire.control_records import rule_key
from fairlead.wire.decode import decode, decode_request
from fairlead.wire.encode import (
    OversizeError,
    encode,
    encode_generation,
    encode_reset,
    encode_rule,
    encode_tick,
)
from fairlead.wire.encode_bridge import encode_offsets, encode_route
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.errors import WireError
from fairlead.wire.limits import REQUEST_QUEUES_MAX
from fairlead.wire.raw import OutgoingRecord, Partitions, RawRecord
from fairlead.wire.topics import TopicNames
from tests.kit.protocol_page import labelled, validator
from tests.kit.wire_records import LIMITS, SHARDS, TOPIC_OF, example, key_of, raw, raw_of

NAMES = TopicNames()


def _decoded(kind: str, expected: type) -> Any:
    record = decode(TOPIC_OF[kind], raw_of(example(kind)), LIMITS)
    assert isinstance(record, expected)
    return record


def _as_read(record: OutgoingRecord) -> RawRecord:
    """Return the record as the engine would read it back."""
    return RawRecord(record.topic, record.partition, 7, 1, True, record.key, record.value)  # noqa: FBT003


def test_a_tick_is_written_as_on_the_page() -> None:
    """A tick is written as the page shows it."""
    assert encode_tick(_decoded("tick", Tick)) == orjson.dumps(example("tick"))


def test_a_rule_is_written_as_on_the_page() -> None:
    """A rule is written as the page shows it, and its key is the one that is asked for."""
    rule = _decoded("rule", RuleSet)
    assert encode_rule(rule) == orjson.dumps(example("rule"))
    assert rule_key(rule.group, rule.rule, rule.subject) == key_of(example("rule"))


def test_settings_of_a_driver() -> None:
    """What a driver runs under is written as the page shows it, read back, and may be left out."""
    body = labelled("settings")
    assert validator("generation").is_valid(body)
    ignored: dict[str, int] = {}
    claim = decode("generations", raw_of(body), LIMITS, ignored)
    assert isinstance(claim, Generation)
    assert claim.settings == DriverSettings(
        tick_ms=1_000,
        auto_create=True,
        evict_after_ms=600_000,
        chain_cap=1,
        strategies=("AVG", "MINE"),
        switch_ms=2_000,
        groups_max=5_000,
        new_groups_per_second=20,
        heartbeat_bytes_per_second=8_000_000,
        state_bytes=32_000_000,
    )
    assert ignored == {}
    assert encode_generation(claim, NAMES).value == orjson.dumps(body)
    assert _decoded("generation", Generation).settings is None


@pytest.mark.parametrize(
    "name, value, field",
    [
        ("tick_ms", 0, "settings.tick_ms"),
        ("auto_create", 1, "settings.auto_create"),
        ("strategies", ["AVG", "AVG"], "settings.strategies"),
    ],
)
def test_bad_settings_of_a_driver(name: str, value: object, field: str) -> None:
    """Settings that make no sense are refused by their field."""
    body = labelled("settings")
    body["settings"][name] = value
    assert not validator("generation").is_valid(body)
    with pytest.raises(WireError) as raised:
        decode("generations", raw_of(body), LIMITS)
    assert raised.value.field == field


@pytest.mark.parametrize(
    "kind, expected, written",
    [
        ("reset", Reset, lambda record: encode_reset(record, NAMES, SHARDS)),
        ("generation", Generation, lambda record: encode_generation(record, NAMES)),
        ("route", RouteChanged, lambda record: encode_route(record, NAMES)),
        ("offsets", OffsetsKnown, lambda record: encode_offsets(record, NAMES)[0]),
    ],
)
def test_each_input_is_written_and_read_back(kind: str, expected: type, written: Any) -> None:
    """Each is written as the page shows it, with its key, and is read back as itself."""
    record = _decoded(kind, expected)
    outgoing = written(record)
    assert outgoing.value == orjson.dumps(example(kind))
    assert outgoing.topic == f"fairlead.{TOPIC_OF[kind]}"
    assert outgoing.key == key_of(example(kind))
    assert decode(TOPIC_OF[kind], _as_read(outgoing), LIMITS) == record


def test_a_bridge_reads_a_request_as_meant() -> None:
    """A bridge reads a request as the engine meant it."""
    request = decode_request(raw("requests", orjson.dumps(example("request"))), LIMITS)
    [outgoing] = encode(request, NAMES, Partitions(SHARDS, 64))
    assert outgoing.value == orjson.dumps(example("request"))
    assert decode_request(_as_read(outgoing), LIMITS) == request
    with pytest.raises(WireError, match="null_value"):
        decode_request(raw("requests", None), LIMITS)
    less = {name: value for name, value in example("request").items() if name != "queues"}
    with pytest.raises(WireError, match="queues"):
        decode_request(raw("requests", orjson.dumps(less)), LIMITS)
    most = [["orders", "main", number] for number in range(REQUEST_QUEUES_MAX)]
    whole = orjson.dumps(example("request", queues=most))
    assert len(decode_request(raw("requests", whole), LIMITS).queues or ()) == REQUEST_QUEUES_MAX
    more = orjson.dumps(example("request", queues=[*most, ["orders", "main", 0]]))
    with pytest.raises(WireError, match="there are more than 1024"):
        decode_request(raw("requests", more), LIMITS)


@pytest.mark.parametrize(
    "changes, field",
    [
        ({"queues": [["orders", "main", -1]]}, "queues[0][2]"),
        ({"queues": 3}, "queues"),
        ({"what": "everything"}, "what"),
        ({"consume_timestamp_ms": 1}, "consume_timestamp_ms"),
    ],
)
def test_a_bad_request_is_refused_by_its_field(changes: dict[str, Any], field: str) -> None:
    """A request that is none is refused by a bridge as well, by its very field."""
    body = orjson.dumps(example("request", **changes))
    with pytest.raises(WireError) as caught:
        decode_request(raw("requests", body), LIMITS)
    assert caught.value.field == field


def test_a_route_request_names_no_queues() -> None:
    """A request for a route names no queues."""
    body = example("request", what="route", queues=None)
    request = decode_request(raw("requests", orjson.dumps(body)), LIMITS)
    assert (request.what, request.topic, request.queues) == ("route", "orders", None)


def test_the_key_of_a_pin_has_the_queue_id_as_number() -> None:
    """The key of a rule for one queue holds the queue with its id as a number."""
    key = rule_key("orders", "pin", ("orders", "main", "2"))
    assert key == b'["orders","pin","orders","main",2]'


def test_a_deleted_route_is_a_null() -> None:
    """A topic that is gone is a null under its name."""
    outgoing = encode_route(RouteChanged("orders", None), NAMES)
    assert outgoing == OutgoingRecord("fairlead.routes", 0, b"orders", None)
    assert decode("routes", _as_read(outgoing), LIMITS) == RouteChanged("orders", None)


def test_addresses_in_order() -> None:
    """Addresses are written in the order of their broker ids, whatever order they came in."""
    changed = _decoded("route", RouteChanged)
    broker = replace(changed.route.brokers[0], addresses={"10": "c", "2": "b", "0": "a"})
    shuffled = RouteChanged("orders", replace(changed.route, brokers=(broker,)))
    value = encode_route(shuffled, NAMES).value
    assert value is not None
    assert [*orjson.loads(value)["brokers"][0]["addresses"]] == ["0", "2", "10"]


def test_addresses_read_in_order() -> None:
    """Addresses are kept in the order of their broker ids, so equal routes make equal state."""
    body = example("route")
    body["brokers"][0]["addresses"] = {"10": "c", "2": "b", "0": "a"}
    changed = decode("routes", raw_of(body), LIMITS)
    assert isinstance(changed, RouteChanged)
    assert changed.route is not None
    assert [*changed.route.brokers[0].addresses] == ["0", "2", "10"]


def _huge_route(address: str) -> RouteChanged:
    count = 100_000
    labels = ("rack-" + "z" * 200,) * count
    broker = RouteBroker("main", 6, count, count, "main", {"0": address}, labels, labels)
    return RouteChanged("orders", Route("orders", "id", (broker,)))


def test_a_huge_route_is_written_without_leaders() -> None:
    """A topic of too many queues is written without leaders and zones, and still read."""
    outgoing = encode_route(_huge_route("h"), NAMES)
    changed = decode("routes", _as_read(outgoing), LIMITS)
    assert isinstance(changed, RouteChanged)
    assert changed.route is not None
    [broker] = changed.route.brokers
    assert (broker.read_queue_nums, broker.leaders, broker.zones) == (100_000, None, None)


def test_a_route_that_is_too_long_is_a_named_error() -> None:
    """A route that does not fit even so is a named error."""
    with pytest.raises(OversizeError, match="route"):
        encode_route(_huge_route("h" * 600_000), NAMES)


def _refused(value: bytes | None, key: bytes | None = b"orders") -> dict[str, Any]:
    """Return the dead letter of a record that is refused."""
    record = raw("heartbeats", value, key)
    with pytest.raises(WireError) as caught:
        decode("heartbeats", record, LIMITS)
    outgoing = encode_reject(caught.value, record, NAMES, "0.1.0")
    assert (outgoing.topic, outgoing.partition) == ("fairlead.rejects", 0)
    assert outgoing.value is not None
    body: dict[str, Any] = orjson.loads(outgoing.value)
    assert [error.message for error in validator("reject").iter_errors(body)] == []
    assert outgoing.value == orjson.dumps(body)
    return body


def test_dead_letter_as_shown() -> None:
    """The dead letter of the record that the page has in mind is the one that it shows."""
    value = b64decode(example("reject")["excerpt"])
    assert orjson.dumps(_refused(value)) == orjson.dumps(example("reject"))


def test_dead_letter_is_short() -> None:
    """A dead letter holds size, hash and beginning of the record, never the whole."""
    value = b"secret" * 2_000_000
    body = _refused(value)
    assert body["reason"] == "too_large"
    assert body["size"] == 12_000_000
    assert body["sha256"] == sha256(value).hexdigest()
    assert b64decode(body["excerpt"]) == value[:256]
    assert len(orjson.dumps(body)) < 2_000


def test_dead_letter_of_null() -> None:
    """The dead letter of a null has no size, no hash and no excerpt."""
    body = _refused(None)
    assert [body[name] for name in ("reason", "size", "sha256", "excerpt")] == [
        "null_value",
        None,
        None,
        None,
    ]


def test_a_dead_letter_has_the_key_of_its_record() -> None:
    """A dead letter has the refused record's key, unless that is too long for any key."""
    refusal = Rejection(Source("t", 0, 1, 1), "bad_rule", "value", "detail", "remedy")
    for key, kept in ((b"orders", b"orders"), (None, None), (b"k" * 2049, None)):
        outgoing = encode_reject(refusal, raw("control", b"{}", key), NAMES, "0.1.0")
        assert outgoing.key == kept
        assert outgoing.value is not None
        assert orjson.loads(outgoing.value)["reason"] == "bad_rule"


def test_queue_of_another_topic() -> None:
    """What a bridge says of a queue of another topic is refused, not mixed in."""
    known = _decoded("offsets", OffsetsKnown)
    other = replace(known.queues[0], queue=MessageQueue("payments", "main", 1))
    [outgoing] = encode_offsets(replace(known, queues=(other,)), NAMES)
    with pytest.raises(WireError, match=r"inconsistent at queues\[0\]\.queue"):
        decode("offsets", _as_read(outgoing), LIMITS)
