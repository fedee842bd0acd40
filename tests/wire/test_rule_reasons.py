"""Who set a rule and why: how it is read, and how the causes that it leads to are written."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.core.model import MessageQueue, Source
from fairlead.core.records import RuleSet
from fairlead.core.rules.rule_cause import cause_of_rule
from fairlead.wire.bodies import cause_body
from fairlead.wire.control_records import rule_key
from fairlead.wire.decode import decode
from fairlead.wire.encode import encode_rule
from fairlead.wire.errors import WireError
from tests.kit.protocol_page import labelled, schemas, validator
from tests.kit.wire_records import LIMITS, example, raw_of

PIN = RuleSet(
    "orders",
    "pin",
    ("orders", "main", "2"),
    {"queue": ["orders", "main", 2], "client_id": "10.0.0.7@4121#1"},
    "alice",
    "its cache is warm there",
)


def test_a_rule_with_a_reason_is_written_as_shown() -> None:
    """The page's rule with a reason is what the schema says, and is read and written as shown."""
    body = labelled("pin")
    assert [error.message for error in validator("rule").iter_errors(body)] == []
    ignored: dict[str, int] = {}
    assert decode("control", raw_of(body), LIMITS, ignored) == PIN
    assert ignored == {}
    assert encode_rule(PIN) == orjson.dumps(body)
    assert rule_key("orders", "pin", PIN.subject) == raw_of(body).key


def test_causes_as_shown() -> None:
    """The page's causes are what the schema says, and what these rules are written as."""
    rules = [
        RuleSet("orders", "strategy", (), {"name": "STICKY"}, "alice", "zones"),
        PIN,
        RuleSet("orders", "drain", ("10.0.0.4@77#1",), None, "bob"),
        RuleSet("*", "timing", (), {}, "conf"),
    ]
    written = [
        cause_body(cause_of_rule(rule, Source("fairlead.control", 0, 8 + place, 1)))
        for place, rule in enumerate(rules)
    ]
    assert written == labelled("causes")
    decision = example("decision", cause=written, triggers=["rules_changed", "pins_changed"])
    assert [error.message for error in validator("decision").iter_errors(decision)] == []


def test_every_kind_of_cause() -> None:
    """Every kind that a rule's cause can have is a word of the schema."""
    words = schemas()["definitions.json"]["$defs"]["cause_kind"]["enum"]
    for rule in ("strategy", "pin", "ban", "weight", "capacity", "drain"):
        cause = cause_of_rule(RuleSet("g", rule, (), 1), Source("t", 0, 0, 1))
        assert cause.kind in words


@pytest.mark.parametrize("kind", ["rule", "reset"])
@pytest.mark.parametrize(
    "because, reason",
    [
        ("x" * 255, None),
        ("消费组 – ок", None),
        ("", "bad_value"),
        ("x" * 256, "bad_value"),
        ("two\nlines", "bad_value"),
        ("\x1b[31m", "bad_value"),
        (None, "wrong_type"),
        (7, "wrong_type"),
        (["a"], "wrong_type"),
    ],
)
def test_a_reason_is_one_line_or_absent(kind: str, because: Any, reason: str | None) -> None:
    """A reason is one line of 1 to 255 characters, or is not there; schema and decoder agree."""
    body = example(kind, because=because)
    assert validator(kind).is_valid(body) == (reason is None)
    if reason is None:
        decode("control", raw_of(body), LIMITS)
        return
    with pytest.raises(WireError) as caught:
        decode("control", raw_of(body), LIMITS)
    assert (caught.value.reason, caught.value.field) == (reason, "because")
    assert caught.value.remedy


@pytest.mark.parametrize("said", [{}, {"because": "tests"}])
def test_an_unknown_field_beside_a_reason_is_counted(said: dict[str, str]) -> None:
    """A field that nobody knows is counted, with or without a reason beside it."""
    ignored: dict[str, int] = {}
    decode("control", raw_of(example("rule", colour="red", **said)), LIMITS, ignored)
    assert ignored == {"rule": 1}


def test_a_rule_without_a_reason_has_no_field() -> None:
    """A rule without a reason has no such field."""
    assert b"because" not in encode_rule(replace(PIN, because=None))
    queue = MessageQueue("orders", "main", 2)
    told = cause_body(cause_of_rule(replace(PIN, because=None), Source("t", 0, 1, 1)))
    assert told == {
        "kind": "pins_changed",
        "queue": [*queue],
        "rule": "pin",
        "by": "alice",
        "at": ["t", 0, 1],
    }
