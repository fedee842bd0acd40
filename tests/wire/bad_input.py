"""Bad input, case by case: what it is, its bytes, and the reason for which it is refused.

The numbers are those of the project's list of 83 cases of bad input; those that need the state of a
group, a producer or a broker are tested there. A reason of None means that the record is accepted.
"""

import gzip
from typing import Any, NamedTuple

import orjson

from fairlead.wire.limits import HEARTBEATS_BYTES_MAX, INT64_MAX
from fairlead.wire.raw import RawRecord
from tests.kit.wire_records import example, raw, raw_of

LEAVE = orjson.dumps(example("leave"))


class Case(NamedTuple):
    """One bad record, or a good one that looks bad."""

    name: str
    topic: str
    record: RawRecord
    reason: str | None
    field: str | None = None


def _bytes(name: str, value: bytes | None, reason: str | None, field: str | None = None) -> Case:
    """Return a case of raw bytes on heartbeats."""
    return Case(name, "heartbeats", raw("heartbeats", value), reason, field)


def _with(name: str, old: bytes, new: bytes, reason: str | None, field: str | None = None) -> Case:
    """Return a leave with some of its bytes replaced."""
    assert old in LEAVE
    return _bytes(name, LEAVE.replace(old, new, 1), reason, field)


def _body(name: str, body: dict[str, Any], reason: str | None, field: str | None = None) -> Case:
    """Return a case of a whole body in its right place."""
    record = raw_of(body)
    return Case(name, record.topic.removeprefix("fairlead."), record, reason, field)


def _heartbeat(name: str, field: str, value: Any, reason: str | None) -> Case:
    """Return a heartbeat with one field changed; the reason names that field."""
    return _body(name, example("heartbeat", **{field: value}), reason, reason and field)


def _id(name: str, field: str, text: str, reason: str | None = "bad_value") -> Case:
    """Return a leave with another id."""
    return _body(name, example("leave", **{field: text}), reason, reason and field)


def _start(name: str, start_ms: Any, reason: str | None = "bad_value") -> Case:
    """Return a heartbeat with another start time of its process."""
    process = example("heartbeat")["process"] | {"start_ms": start_ms}
    body = example("heartbeat", process=process)
    return _body(name, body, reason, reason and "process.start_ms")


def _route(name: str, brokers: Any, reason: str | None, field: str | None = None) -> Case:
    return _body(name, example("route", brokers=brokers), reason, field)


def _broker(**changes: Any) -> dict[str, Any]:
    broker: dict[str, Any] = example("route")["brokers"][0] | changes
    return broker


def _null(name: str, topic: str, key: bytes | None, reason: str | None) -> Case:
    return Case(name, topic, raw(topic, None, key), reason)


SHAPE = [
    _bytes("01-empty-value", b"", "not_json"),
    _null("02-null-heartbeat", "heartbeats", b"orders", "null_value"),
    _null("02-null-release", "releases", b"orders", "null_value"),
    _null("02-null-generation", "generations", b"orders", "null_value"),
    _null("02-null-rule", "control", b'["orders","strategy"]', None),
    _null("02-null-reset", "control", b'["orders","reset","orders","main",2]', "null_value"),
    _null("02-null-route", "routes", b"orders", None),
    _null("02-null-offsets", "offsets", b'["orders","orders"]', None),
    Case("03-null-key", "heartbeats", raw("heartbeats", LEAVE, None), "null_key"),
    _null("03-null-key-of-route", "routes", None, "null_key"),
    _bytes("04-null", b"null", "not_an_object"),
    _bytes("05-number", b"3", "not_an_object"),
    _bytes("06-array", b"[]", "not_an_object"),
    _bytes("07-empty-object", b"{}", "missing_field", "v"),
    _bytes("09-trailing-garbage", LEAVE + b"x", "not_json"),
    _bytes("09-trailing-null-byte", LEAVE + b"\0", "not_json"),
    _bytes("09-trailing-white-space", LEAVE + b" \r\n\t", None),
    _bytes("10-two-objects", LEAVE + LEAVE, "not_json"),
    _bytes("11-trailing-comma", LEAVE[:-1] + b",}", "not_json"),
    _bytes("12-single-quotes", LEAVE.replace(b'"', b"'"), "not_json"),
    _bytes("13-comment", LEAVE[:-1] + b"/* */}", "not_json"),
]
BYTES = [
    _bytes("14-byte-order-mark", b"\xef\xbb\xbf" + LEAVE, "not_utf8"),
    _bytes("15-utf-16", LEAVE.decode().encode("utf-16"), "not_utf8"),
    _bytes("15-utf-16-without-mark", LEAVE.decode().encode("utf-16-le"), "not_json"),
    _with("16-ff", b"orders", b"ord\xffers", "not_utf8"),
    _with("16-overlong", b"orders", b"\xc0\xafrders", "not_utf8"),
    _with("16-cesu-8", b"orders", b"\xed\xa0\xbd\xed\xb8\x80", "not_utf8"),
    _with("17-lone-surrogate", b"orders", b"\\ud83d", "bad_text"),
    _with("17-lone-surrogate-unknown-field", b"}", b',"x":"\\udc00"}', "bad_text"),
    _with("17-lone-surrogate-as-name", b"}", b',"\\udc00":1}', "bad_text"),
    _with("18-nul-in-id", b"orders", b"ord\\u0000ers", "bad_value", "group"),
    _with("19-raw-newline-in-id", b"orders", b"ord\ners", "not_json"),
    _with("19-newline-in-id", b"orders", b"orders\\n", "bad_value", "group"),
    _with("19-ansi-escape-in-id", b"10.0.0.7", b"\\u001b[31m", "bad_value", "client_id"),
    _heartbeat("19-newline-in-label", "version", "0\n1", "bad_value"),
    _bytes("20-avro", b"Obj\x01\x04\x14avro.codec", "not_json"),
    _bytes("20-protobuf", b"\x0a\x06orders\x12\x01a", "not_json"),
    _bytes("20-gzip", gzip.compress(LEAVE), "not_utf8"),
    _bytes("20-pickle", b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94.", "not_utf8"),
]
KEYS = [
    _with("21-duplicate-key", b"{", b'{"group":"orders",', "duplicate_key"),
    _with("22-duplicate-key-other-value", b"{", b'{"group":"g2",', "duplicate_key"),
    _with("22-duplicate-key-unknown-field", b"}", b',"x":{"y":1,"y":2}}', "duplicate_key"),
    _with("22-duplicate-key-escaped", b"{", b'{"gr\\u006fup":"g2",', "duplicate_key"),
    _with("22-duplicate-key-with-colons", b"{", b'{"group":":::",', "duplicate_key"),
    _with("22-duplicate-key-paid-for", b"}", b',"x":1,"x":"\\u003a"}', "duplicate_key"),
    _with("23-missing-field", b'"sequence"', b'"x"', "missing_field", "sequence"),
    _id("24-null-in-required-field", "group", None, "wrong_type"),  # type: ignore[arg-type]
    _with("25-unknown-field", b"}", b',"colour":"red"}', None),
    _with("26-wrong-case-field", b'"sequence"', b'"Sequence"', "missing_field", "sequence"),
    _bytes("27-many-keys", orjson.dumps({f"k{n}": n for n in range(100_000)}), "too_large"),
]
NUMBERS = [
    _with("28-nan", b"18}", b"NaN}", "bad_number"),
    _with("28-infinity", b"18}", b"Infinity}", "bad_number"),
    _with("28-minus-infinity", b"18}", b"-Infinity}", "bad_number"),
    _with("28-nan-unknown-field", b"}", b',"x":NaN}', "bad_number"),
    _with("29-1e400", b"18}", b"1e400}", "bad_number"),
    _with("30-fraction", b"18}", b"5.0}", "bad_number"),
    _with("30-fraction-unknown-field", b"}", b',"x":[{"y":5.0}]}', "bad_number"),
    _with("31-number-as-text", b"18}", b'"5"}', "wrong_type", "sequence"),
    _with("32-exponent", b"18}", b"1e2}", "bad_number"),
    _with("33-true-as-number", b"18}", b"true}", "wrong_type", "sequence"),
    _body("33-true-as-queue-id", example("release", queue=["orders", "main", True]),
          "wrong_type", "queue[2]"),
    _with("34-minus-zero", b"18}", b"-0}", None),
    _with("35-2^63", b"18}", b"9223372036854775808}", "bad_number"),
    _with("35-2^63-unknown-field", b"}", b',"x":9223372036854775808}', "bad_number"),
    _with("35-below-minus-2^63", b"18}", b"-9223372036854775809}", "bad_number"),
    _with("35-minus-2^63", b"18}", b"-9223372036854775808}", "bad_value", "sequence"),
    _with("35-minus-2^63-unknown-field", b"}", b',"x":-9223372036854775808}', None),
    _body("36-greatest-offset", example("release", position=[0, INT64_MAX]), None),
    _with("37-4301-digits", b"18}", b"1" * 4301 + b"}", "bad_number"),
    _with("38-5000-digits-fraction", b"18}", b"0." + b"1" * 5000 + b"}", "bad_number"),
    _body("39-negative-queue-id", example("release", queue=["orders", "main", -1]),
          "bad_value", "queue[2]"),
    _body("40-negative-offset", example("release", position=[0, -1]), "bad_value", "position[1]"),
    _body("40-no-position", example("release", position=None), None),
]  # fmt: skip
SIZE = [
    _bytes("42-deep-array", b"[" * 30_000, "too_deep"),
    _bytes("42-deep-object", b'{"a":' * 10_000, "too_deep"),
    _with("42-16-levels", b"}", b',"x":' + b"[" * 15 + b"]" * 15 + b"}", None),
    _with("42-17-levels", b"}", b',"x":' + b"[" * 16 + b"]" * 16 + b"}", "too_deep"),
    _with("42-brackets-in-a-text", b"}", b',"x":"' + b"[{" * 50 + b'"}', None),
    _with("42-quotes-without-end", b"}", b',"x":"' + b'\\"' * 30_000, "not_json"),
    _heartbeat("43-many-subscriptions", "subscriptions",
               example("heartbeat")["subscriptions"] * 1_000, "too_large")
    ._replace(field=None),
    _bytes("44-long", b" " * 10_000_000, "too_large"),
    _bytes("44-longest-heartbeat", LEAVE + b" " * (HEARTBEATS_BYTES_MAX - len(LEAVE)), None),
    _bytes("44-one-too-long", LEAVE + b" " * (HEARTBEATS_BYTES_MAX + 1 - len(LEAVE)), "too_large"),
]  # fmt: skip
VERSIONS = [
    _with("48-unknown-kind", b'"leave"', b'"leaf"', "unsupported_kind", "kind"),
    _with("48-kind-of-another-topic", b'"leave"', b'"release"', "unsupported_kind", "kind"),
    _with("48-kind-null", b'"leave"', b"null", "unsupported_kind", "kind"),
    _with("48-kind-missing", b'"kind"', b'"Kind"', "missing_field", "kind"),
    _with(
        "49-kind-with-homoglyph", b'"leave"', '"le\u0430ve"'.encode(), "unsupported_kind", "kind"
    ),
    _with("50-version-0", b'"v":1', b'"v":0', "bad_value", "v"),
    _with("50-version-minus-1", b'"v":1', b'"v":-1', "bad_value", "v"),
    _with("50-version-as-text", b'"v":1', b'"v":"1"', "wrong_type", "v"),
    _with("50-version-fraction", b'"v":1', b'"v":1.0', "bad_number"),
    _with("51-later-version", b'"v":1', b'"v":2', "unsupported_version", "v"),
    _with("52-later-minor", b"}", b',"since_version_1_1":{"a":[1]}}', None),
    _with("53-no-version", b'"v":1,', b"", "missing_field", "v"),
]
IDENTITY = [
    _id("54-empty-client", "client_id", ""),
    _id("54-empty-group", "group", ""),
    _body("54-empty-topic", example("release", queue=["", "main", 1]), "bad_value", "queue[0]"),
    _id("55-blank", "client_id", " "),
    _id("55-leading-space", "group", " orders"),
    _id("55-trailing-space", "client_id", "c1 "),
    _id("56-group-120", "group", "g" * 120, None),
    _id("56-group-121", "group", "g" * 121),
    _id("56-client-255", "client_id", "c" * 255, None),
    _id("56-client-256", "client_id", "c" * 256),
    _body("56-topic-249", example("release", queue=["t" * 249, "main", 1]), None),
    _body("56-topic-250", example("release", queue=["t" * 250, "main", 1]),
          "bad_value", "queue[0]"),
    _id("57-composed", "group", "caf\u00e9"),
    _id("57-decomposed", "group", "cafe\u0301"),
    _id("58-full-width", "client_id", "\uff43\uff11"),
    _id("58-right-to-left", "client_id", "c\u202e1"),
    _id("58-zero-width", "client_id", "c\u200b1"),
    _id("59-upper-case-twin", "group", "Orders", None),
    _id("60-path", "group", "../../etc"),
    _id("60-at", "group", "a@b"),
    _id("60-bar", "group", "a|b", None),
    _id("60-retry", "group", "%RETRY%g", None),
    _body("60-path-as-topic", example("release", queue=["..", "main", 1]),
          "bad_value", "queue[0]"),
    _body("61-reserved-topic", example("release", queue=["__consumer_offsets", "main", 1]),
          "bad_value", "queue[0]"),
    _id("62-jndi", "client_id", "${jndi:ldap://x}", None),
    _id("62-sql", "client_id", "';DROP", None),
    _id("62-script", "client_id", "<script>", None),
    _id("62-template", "client_id", "{{7*7}}", None),
    _id("62-quote", "client_id", 'c"1'),
    _id("62-backslash", "client_id", "c\\1"),
    _with("62-proto", b"}", b',"__proto__":{"v":2}}', None),
    _id("incarnation-upper-case", "incarnation", "6C1F0B5E-8F0E-4A51-9D0E-2F6A0C7B1A11"),
]  # fmt: skip
TIMES = [
    _start("63-year-9999", 253_402_300_799_000),
    _start("63-zero", 0),
    _start("63-negative", -1),
    _start("64-seconds", 1_781_000_000),
    _start("65-text", "2026-06-09T00:00:00Z", "wrong_type"),
    _start("66-an-hour-ahead", 1_781_003_600_000, None),
    _start("66-a-day-ago", 1_780_913_600_000, None),
]
PLACES = [
    Case("76-key-of-another-group", "heartbeats", raw("heartbeats", LEAVE, b"g2"), "key_mismatch"),
    Case("76-key-of-tick", "heartbeats",
         raw("heartbeats", orjson.dumps(example("tick"))), "key_mismatch"),
    Case("76-key-not-utf8", "heartbeats",
         raw("heartbeats", LEAVE, b"\xff"), "key_mismatch"),
    Case("wrong-partition", "heartbeats",
         raw("heartbeats", LEAVE)._replace(partition=3), "wrong_partition"),
    Case("writer-stamped", "heartbeats",
         raw("heartbeats", LEAVE)._replace(append_time_is_log=False), "not_log_append_time"),
    Case("writer-stamped-route", "routes",
         raw_of(example("route"))._replace(append_time_is_log=False), None),
]  # fmt: skip
ROUTES = [
    _route("78-duplicate-broker", [_broker(), _broker()], "duplicate_entry", "brokers"),
    _route("79-zero-queues",
           [_broker(read_queue_nums=0, write_queue_nums=0, leaders=[], zones=[])], None),
    _route("79-no-brokers", [], None),
    _route("80-too-many-queues", [_broker(read_queue_nums=1_000_000)],
           "bad_value", "brokers[0].read_queue_nums"),
    _route("80-too-many-in-all",
           [_broker(broker_name=name, read_queue_nums=60_000, leaders=None, zones=None)
            for name in ("a", "b")], "inconsistent", "brokers"),
    _route("81-not-readable", [_broker(perm=2)], None),
    _route("83-two-brokers", [_broker(), _broker(broker_name="other")], None),
    _route("leaders-of-other-queues", [_broker(leaders=["1"])],
           "inconsistent", "brokers[0].leaders"),
    _route("zones-no-array", [_broker(zones="a")], "wrong_type", "brokers[0].zones"),
    _route("addresses-no-object", [_broker(addresses=["h"])],
           "wrong_type", "brokers[0].addresses"),
    _route("address-without-id", [_broker(addresses={"x": "h"})],
           "bad_value", "brokers[0].addresses"),
]  # fmt: skip

CASES = (
    *SHAPE, *BYTES, *KEYS, *NUMBERS, *SIZE, *VERSIONS, *IDENTITY, *TIMES, *PLACES, *ROUTES,
)  # fmt: skip
