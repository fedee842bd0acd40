"""Rules and resets: their keys, whom they are for, and their removal."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.core.model import MessageQueue
from fairlead.core.records import OffsetsKnown, Reset, RouteChanged, RuleSet
from fairlead.core.rules.group_rules import WORDS, GroupRules, with_rule
from fairlead.core.rules.queue_weights import Weighing, read_weighing
from fairlead.core.rules.rule_error import RuleError
from fairlead.wire.control_records import rule_key
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode_rule
from fairlead.wire.errors import WireError
from fairlead.wire.raw import RawRecord
from tests.kit.protocol_page import labelled, validator
from tests.kit.wire_records import LIMITS, SHARDS, example, raw

QUEUE = ["orders", "main", 2]
PIN = {"queue": QUEUE, "client_id": "c1"}


def _decoded(record: RawRecord) -> Any:
    return decode("control", record, LIMITS)


def _rule(key: list[Any], rule: str, value: Any) -> RawRecord:
    body = example("rule", group=key[0], rule=rule, value=value)
    return raw("control", orjson.dumps(body), orjson.dumps(key))


def _reason(record: RawRecord, topic: str = "control") -> str:
    with pytest.raises(WireError) as caught:
        decode(topic, record, LIMITS)
    return caught.value.reason


@pytest.mark.parametrize(
    "key, value, subject",
    [
        (["orders", "pause"], True, ()),
        (["orders", "drain", "c1"], {"client_id": "c1"}, ("c1",)),
        (["orders", "pin", *QUEUE], PIN, ("orders", "main", "2")),
        (
            ["orders", "ban", *QUEUE],
            {"queue": QUEUE, "client_ids": ["c1", "c2"]},
            ("orders", "main", "2"),
        ),
        (["orders", "weight", *QUEUE], {"queue": QUEUE, "weight": "2.5"}, ("orders", "main", "2")),
        (["orders", "capacity", "c1"], {"client_id": "c1", "capacity": "2"}, ("c1",)),
    ],
)
def test_a_rule_is_for_its_group_client_or_queue(
    key: list[Any], value: Any, subject: tuple[str, ...]
) -> None:
    """A rule is for its group, for one client or for one queue, as its key says."""
    assert _decoded(_rule(key, key[1], value)) == RuleSet("orders", key[1], subject, value, "alice")
    removed = RuleSet("orders", key[1], subject, None, "alice")
    assert _decoded(_rule(key, key[1], None)) == removed
    assert _decoded(raw("control", None, orjson.dumps(key))) == replace(removed, by="")


@pytest.mark.parametrize(
    "key",
    [
        b'["orders", "pause"]',
        b'["orders","mode"]',
        b'["payments","pause"]',
        b'["orders","pause","c1"]',
        b'["orders","drain"]',
        b'["orders","pin","orders","main",2]',
        b'["orders","pause"',
        b"orders",
        b'{"group":"orders"}',
        b'["orders"]',
        b'["orders",3]',
        b'["orders","p\\u0061use"]',
        b"\xff",
        b'["' + b"o" * 2048 + b'","pause"]',
    ],
)
def test_a_key_that_is_not_the_rules_is_refused(key: bytes) -> None:
    """A key that is not exactly the rule's is refused, however near it comes."""
    body = example("rule", rule="pause", value=True)
    assert _reason(raw("control", orjson.dumps(body), key)) == "key_mismatch"


@pytest.mark.parametrize(
    "key, value",
    [
        (["orders", "drain", "c2"], {"client_id": "c1"}),
        (["orders", "pin", "orders", "main", 3], PIN),
        (["orders", "weight", "orders", "main", 3], {"queue": QUEUE, "weight": "2"}),
        (["orders", "ban", "payments", "main", 2], {"queue": QUEUE, "client_ids": ["c1"]}),
        (["orders", "capacity", "c2"], {"client_id": "c1", "capacity": "2"}),
    ],
)
def test_a_key_of_another_subject_is_refused(key: list[Any], value: Any) -> None:
    """A rule whose key names another client or queue than its value is refused."""
    assert _reason(_rule(key, key[1], value)) == "key_mismatch"


def test_a_rule_without_a_key_is_refused() -> None:
    """A rule without a key is refused: it would not replace the one before."""
    assert _reason(raw("control", orjson.dumps(example("rule")), None)) == "null_key"


@pytest.mark.parametrize(
    "key",
    [
        ["orders", "drain", ""],
        ["orders", "drain", 3],
        ["orders", "drain", "c1", "c2"],
        ["orders", "pin", "orders", "main"],
        ["orders", "pin", "orders", "main", 2.0],
        ["orders", "pin", "orders", "main", True],
        ["orders", "pin", "..", "main", 2],
        ["*", "drain", "c1"],
        ["*", "pin", *QUEUE],
        ["*", "capacity", "c1"],
        ["orders", "capacity"],
        ["orders", "weight", "c1"],
        ["orders", "ban", *QUEUE, "c1"],
        ["or ders", "pause"],
    ],
)
def test_a_removal_of_no_rule_is_refused(key: list[Any]) -> None:
    """A null under a key that names no rule is refused."""
    assert _reason(raw("control", None, orjson.dumps(key))) == "key_mismatch"


def test_an_unknown_rule_is_refused() -> None:
    """A rule that this engine does not know is refused as such, set or removed."""
    assert _reason(_rule(["orders", "colour"], "colour", 1)) == "unsupported_rule"
    assert _reason(_rule(["orders", "colour"], 3, 1)) == "unsupported_rule"  # type: ignore[arg-type]
    assert _reason(raw("control", None, b'["orders","colour"]')) == "unsupported_rule"


def test_a_rule_of_every_group_is_in_every_partition() -> None:
    """A rule of every group stands in every partition; one of a group only in its own."""
    body = example("rule", group="*")
    for partition in range(SHARDS):
        record = raw("control", orjson.dumps(body), b'["*","strategy"]')
        rule = _decoded(record._replace(partition=partition))
        assert rule == RuleSet("*", "strategy", (), body["value"], "alice")
        own = raw("control", orjson.dumps(example("rule")), b'["orders","strategy"]')
        removal = raw("control", None, b'["orders","strategy"]')
        for placed in (own, removal):
            moved = placed._replace(partition=partition)
            if partition == placed.partition:
                assert _decoded(moved).group == "orders"
            else:
                assert _reason(moved) == "wrong_partition"


def test_an_unknown_field_of_a_value_is_refused() -> None:
    """An unknown field in a rule's value is refused: a command is not guessed."""
    assert _reason(_rule(["orders", "timing"], "timing", {"lease": 9_000})) == "bad_value"


@pytest.mark.parametrize(
    "value, path",
    [
        ({"only": []}, "value.only"),
        ({"only": [f"c{number}" for number in range(1_001)]}, "value.only"),
        ({"only": ["c1", ""]}, "value.only[1]"),
        ({"only": ["c1", 7]}, "value.only[1]"),
        ({"only": ["c1", "c1"]}, "value.only"),
        ({"only": ["c1"], "topics": []}, "value.topics"),
        ({"only": ["c1"], "if_nobody": "keep"}, "value.if_nobody"),
        ({"only": ["c1"], "clients": ["c1"]}, "value"),
        ({"topics": None}, "value"),
    ],
)
def test_a_bad_designation_is_refused_by_its_path(value: Any, path: str) -> None:
    """A designation of another form is refused by the path of what is wrong, with a remedy."""
    with pytest.raises(WireError) as caught:
        _decoded(_rule(["orders", "designated"], "designated", value))
    assert caught.value.field == path
    assert caught.value.remedy


@pytest.mark.parametrize(
    "rule, value, path, remedy",
    [
        ("weight", {"queue": QUEUE, "weight": 2}, "value.weight", "a text"),
        ("weight", {"queue": QUEUE, "weight": "2,5"}, "value.weight", 'such as "2.5"'),
        ("weight", {"queue": QUEUE, "weight": "1e3"}, "value.weight", 'such as "2.5"'),
        ("weight", {"queue": QUEUE}, "value", "queue, weight"),
        ("capacity", {"client_id": "c1", "capacity": "0"}, "value.capacity", "drain a client"),
        ("capacity", {"client_id": "c 1", "capacity": "2"}, "value.client_id", "1-255"),
        ("ban", {"queue": QUEUE, "client_ids": []}, "value.client_ids", "1 to 100"),
        ("ban", {"queue": QUEUE, "client_ids": ["c1", "c 2"]}, "value.client_ids[1]", "1-255"),
        ("ban", {"queue": ["orders", "main"], "client_ids": ["c1"]}, "value.queue", "queue_id"),
    ],
)
def test_a_bad_rule_of_a_queue_is_refused_by_its_path(
    rule: str, value: Any, path: str, remedy: str
) -> None:
    """A rule of a queue or client of another form is refused by its path, with what to send."""
    subject = ["c1"] if rule == "capacity" else QUEUE
    with pytest.raises(WireError) as caught:
        _decoded(_rule(["orders", rule, *subject], rule, value))
    assert caught.value.field == path
    assert remedy in caught.value.remedy


def test_a_designation_is_read_as_written() -> None:
    """A designation is read as it was written, with what was left out left out."""
    values: list[Any] = [
        {"only": ["192.168.0.6"]},
        {"only": ["10.0.0.0/8", "app-*"], "topics": ["orders"], "if_nobody": "all"},
        None,
    ]
    for value in values:
        rule = RuleSet("orders", "designated", (), value, "alice")
        written = raw("control", encode_rule(rule), rule_key("orders", "designated", ()))
        assert _decoded(written) == rule


@pytest.mark.parametrize(
    "value, path",
    [
        ({"by": "size"}, "value.by"),
        ({"by": "rate", "over_ms": 999}, "value.over_ms"),
        ({"by": "lag", "change_percent": 50.5}, None),
        ({"by": "lag", "change_percent": "50"}, "value.change_percent"),
        ({"by": "lag", "damping": 50}, "value"),
        ({"over_ms": 60_000}, "value"),
    ],
)
def test_a_bad_weight_is_refused_by_its_path(value: Any, path: str | None) -> None:
    """A rule about weights of another form is refused by the path of what is wrong."""
    with pytest.raises(WireError) as caught:
        _decoded(_rule(["orders", "weighing"], "weighing", value))
    assert caught.value.field == path
    assert caught.value.remedy


def test_weighing_on_the_page() -> None:
    """The page's example of a rule about weights is what schema, decoder and core make of it."""
    body = labelled("weighing")
    assert [error.message for error in validator("rule").iter_errors(body)] == []
    rule = _decoded(raw("control", orjson.dumps(body), b'["orders","weighing"]'))
    assert read_weighing(rule.value) == Weighing("rate", 60_000, 50)


def test_only_a_drain_deadline_may_be_never() -> None:
    """A drain deadline may be never; no other time may."""
    never = _rule(["orders", "timing"], "timing", {"drain_deadline_ms": "never"})
    read = with_rule(GroupRules(), "timing", _decoded(never).value, {})
    assert read.drain_deadline_ms is None
    body = {**example("rule"), "rule": "timing", "value": {"drain_deadline_ms": "never"}}
    assert [error.message for error in validator("rule").iter_errors(body)] == []
    for value in ({"lease_ms": "never"}, {"drain_deadline_ms": "ever"}):
        assert _reason(_rule(["orders", "timing"], "timing", value)) == "wrong_type"
        with pytest.raises(RuleError):
            with_rule(GroupRules(), "timing", value, {})


@pytest.mark.parametrize(
    "rule, word", [(rule, word) for rule, words in WORDS.items() for word in words]
)
def test_a_rule_of_one_word_takes_only_that_word(rule: str, word: str) -> None:
    """A rule of one word is put in force by it, and refused with any other."""
    read = with_rule(GroupRules(), rule, _decoded(_rule(["orders", rule], rule, word)).value, {})
    assert getattr(read, rule) == word
    assert _reason(_rule(["orders", rule], rule, "perhaps")) == "bad_value"
    with pytest.raises(RuleError, match="perhaps"):
        with_rule(GroupRules(), rule, "perhaps", {})


@pytest.mark.parametrize("name", ["margin_ms", "drain_deadline_ms"])
def test_a_time_of_0_is_refused(name: str) -> None:
    """A margin or a deadline of 0 is refused by its form, as it is by the engine; 1 is a time."""
    assert _reason(_rule(["orders", "timing"], "timing", {name: 0})) == "bad_value"
    with pytest.raises(RuleError):
        with_rule(GroupRules(), "timing", {name: 0}, {})
    least = _decoded(_rule(["orders", "timing"], "timing", {name: 1}))
    assert getattr(with_rule(GroupRules(), "timing", least.value, {}), name) == 1


@pytest.mark.parametrize("name", ["restart_grace_ms", "settle_ms"])
def test_times_that_may_be_none(name: str) -> None:
    """A grace or a window of 0 is none, by its form and for the engine; less is refused by both."""
    none = _decoded(_rule(["orders", "timing"], "timing", {name: 0}))
    assert getattr(with_rule(GroupRules(), "timing", none.value, {}), name) == 0
    assert _reason(_rule(["orders", "timing"], "timing", {name: -1})) == "bad_value"
    with pytest.raises(RuleError):
        with_rule(GroupRules(), "timing", {name: -1}, {})


def test_options_are_free_within_their_levels() -> None:
    """A strategy's options are free, but for numbers and levels."""
    options: Any = {"weights": {"a": [1, 2, {"b": None}]}}
    rule = _decoded(_rule(["orders", "strategy"], "strategy", {"name": "X", "options": options}))
    assert rule.value["options"] == options
    refused: list[Any] = [[1.5], 2**63, [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]
    for bad in refused:
        value = {"name": "X", "options": {"a": bad}}
        assert _reason(_rule(["orders", "strategy"], "strategy", value)) in {
            "bad_number",
            "too_deep",
        }


def test_a_reset_stands_under_the_key_of_its_queue() -> None:
    """A reset stands under the key of its queue, and nowhere else."""
    body = orjson.dumps(example("reset"))
    key = b'["orders","reset","orders","main",2]'
    queue = MessageQueue("orders", "main", 2)
    life = "W3XrV0pUSt2Qh0nHkS5ZtQ"
    assert _decoded(raw("control", body, key)) == Reset(
        "orders", queue, 120, "alice", identity=life
    )
    for none in ({}, {"identity": None}):
        plain = {name: value for name, value in example("reset").items() if name != "identity"}
        unnamed = orjson.dumps(plain | none)
        assert _decoded(raw("control", unnamed, key)) == Reset("orders", queue, 120, "alice")
    said = orjson.dumps({**example("reset"), "because": "a bad batch"})
    assert _decoded(raw("control", said, key)) == Reset(
        "orders", queue, 120, "alice", "a bad batch", life
    )
    other = b'["orders","reset","orders","main",3]'
    assert _reason(raw("control", body, other)) == "key_mismatch"
    assert _reason(raw("control", body, None)) == "null_key"


def test_a_null_deletes_a_route_only() -> None:
    """A null deletes a route, and withdraws nothing of what a bridge told of offsets."""
    assert decode("routes", raw("routes", None, b"orders"), LIMITS) == RouteChanged("orders", None)
    for key in (b'["orders","g1"]', b'["orders","g1",7]'):
        known = decode("offsets", raw("offsets", None, key), LIMITS)
        assert known == OffsetsKnown("g1", "orders", "", ())


@pytest.mark.parametrize("key", [b"a b", b"", b"..", b"\xff\xfe", b"t" * 250])
def test_a_route_under_a_bad_key_is_refused(key: bytes) -> None:
    """A null under what is no topic is refused."""
    assert _reason(raw("routes", None, key), "routes") == "key_mismatch"


@pytest.mark.parametrize(
    "key",
    [
        b'["orders"]',
        b'["orders","g1",-1]',
        b'["orders","g1",1024]',
        b'["orders","g1",true]',
        b'["orders","g1","0"]',
        b'["orders","g1",0,0]',
        b'["..","g1"]',
        b'["orders","g 1"]',
        b'["orders", "g1"]',
        b"[",
    ],
)
def test_offsets_under_a_bad_key_are_refused(key: bytes) -> None:
    """A null, or a record, under what is no key of offsets is refused."""
    assert _reason(raw("offsets", None, key), "offsets") == "key_mismatch"
    body = orjson.dumps(example("offsets"))
    assert _reason(raw("offsets", body, key), "offsets") == "key_mismatch"


def test_offsets_under_a_key_of_another_are_refused() -> None:
    """Offsets under the key of another group or topic are refused."""
    body = orjson.dumps(example("offsets"))
    for key in (b'["orders","g1"]', b'["payments","orders"]'):
        assert _reason(raw("offsets", body, key), "offsets") == "key_mismatch"
    part = decode("offsets", raw("offsets", body, b'["orders","orders",3]'), LIMITS)
    assert isinstance(part, OffsetsKnown)
