"""Schemas and decoder give one verdict on every structure."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.core.rules.group_rules import WORDS
from fairlead.wire.reasons import Reason
from tests.kit.protocol_page import schemas, validator
from tests.kit.wire_records import TOPIC_OF, example, raw_of, refusal

BEYOND_SCHEMAS = frozenset(
    {
        Reason.BAD_NUMBER,  # 5.0 is an integer to a schema
        Reason.DUPLICATE_ENTRY,
        Reason.INCONSISTENT,
        Reason.KEY_MISMATCH,
        Reason.TOO_LARGE,
        Reason.TOO_DEEP,
        Reason.WRONG_PARTITION,
    }
)
"""What a schema cannot say, or says of more than one record."""

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 4, 999, 1_000, 1_000_001, 2**31 - 1, 2**31, 2**63 - 1,
    10**12 - 1, 10**12, 10**13 - 1, 10**13, "", "a", "*", " ", "a b", "a\tb", "é", "..", "TBW102",
    "g" * 120, "g" * 121, "t" * 249, "t" * 250, "c" * 255, "c" * 256, "x" * 4096, "x" * 4097,
    'a"b', "a\\b", "%RETRY%g", "a|b", "a@b", "0" * 16, "0" * 15, "A" * 16, "push", "pull", "tag",
    "sql92", "timestamp", "running", "final", "strategy", "pin", "drain", "pause", "route",
    "nobody",
    "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11", "6C1F0B5E-8F0E-4A51-9D0E-2F6A0C7B1A11",
    [], {}, [0], [0, 0], [0, 0, 0], [-1, 0], ["orders", "main", 1], ["orders", "main", -1],
    ["orders", "main", 2**31], ["..", "main", 1], ["orders", "a b", 1], [None], ["a", "a"],
    ["a", None], [[]], [{}], {"0": "h"}, {"x": "h"}, {"01": "h"}, {"name": "AVG"},
    {"name": "AVG", "options": {"a": [1]}}, {"name": "AVG", "other": 1}, {"lease_ms": 1_000},
    {"lease_ms": 999}, {"lease": 1}, {"client_id": "c"}, {"timestamp_ms": 10**12, "offset": 0},
]  # fmt: skip


def _places(body: Any) -> list[list[str | int]]:
    found: list[list[str | int]] = []
    for name, value in body.items() if isinstance(body, dict) else enumerate(body):
        found.append([name])
        if isinstance(value, dict | list):
            found += [[name, *rest] for rest in _places(value)]
    return found


def _changed(kind: str, path: list[str | int], value: Any) -> dict[str, Any]:
    body = example(kind)
    inner: Any = body
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return body


def _agree(kind: str, body: dict[str, Any]) -> None:
    """Compare the verdicts, for a record in its right place."""
    try:
        record = raw_of(body)
    except (TypeError, KeyError, AttributeError, UnicodeEncodeError):
        # The key cannot even be made, so the record has none that fits; the schema must refuse too.
        assert not validator(kind).is_valid(body)
        return
    valid = validator(kind).is_valid(body)
    error = refusal(TOPIC_OF[kind], record)
    if error is None:
        assert valid, [wrong.message for wrong in validator(kind).iter_errors(body)]
    else:
        assert not valid or error.reason in BEYOND_SCHEMAS, str(error)


@pytest.mark.parametrize("kind", TOPIC_OF)
def test_schema_and_decoder_agree_on_each_field(kind: str) -> None:
    """Whatever stands in any one place of an example, schema and decoder agree."""
    for path in _places(example(kind)):
        if path == ["kind"]:
            continue
        for value in VALUES:
            _agree(kind, _changed(kind, path, orjson.loads(orjson.dumps(value))))


@pytest.mark.parametrize("kind", TOPIC_OF)
def test_schema_and_decoder_agree_on_each_missing_field(kind: str) -> None:
    """Whichever field of an example is missing, at any depth, schema and decoder agree."""
    for path in _places(example(kind)):
        body = example(kind)
        inner: Any = body
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]
        if path != ["kind"]:
            _agree(kind, body)


DECIMALS: list[Any] = [
    "0", "1", "2.5", "0.000001", "999999999.999999", "0.0", "0.000", "00", "01", ".5", "5.", "-1",
    "+1", "1e3", "1000000000", "0.0000001", "1,5", "٣", " 1", "1\t", "", "NaN", 1, 2.5, None, True,
]  # fmt: skip

RULES: list[tuple[str, Any]] = [
    (rule, value)
    for rule in schemas()["rule.json"]["properties"]["rule"]["enum"]
    for value in [
        *VALUES, *(word for words in WORDS.values() for word in words),
        {"margin_ms": 0}, {"margin_ms": 1}, {"drain_deadline_ms": 0}, {"drain_deadline_ms": 1},
        {"restart_grace_ms": 0}, {"restart_grace_ms": -1}, {"restart_grace_ms": 3_600_001},
        {"settle_ms": 0}, {"settle_ms": 600_000}, {"settle_ms": 600_001}, {"settle_ms": "1"},
        {"queue": ["orders", "main", 2], "client_id": "c"},
        {"by": "count"}, {"by": "rate", "over_ms": 1_000}, {"by": "lag", "change_percent": 0},
        {"by": "size"}, {"by": "rate", "over_ms": 999}, {"by": "rate", "over_ms": 3_600_001},
        {"by": "lag", "change_percent": 10_001}, {"by": "lag", "change_percent": None},
        {"by": "lag", "damping": 1}, {"over_ms": 60_000},
        *({"client_id": "c", "capacity": number} for number in DECIMALS),
        *({"queue": ["orders", "main", 2], "weight": number} for number in DECIMALS),
        {"queue": ["orders", "main", 2], "client_ids": ["c", "d"]},
        {"queue": ["orders", "main", 2], "client_ids": []},
        {"queue": ["orders", "main", 2], "client_ids": ["c", "c"]},
        {"queue": ["orders", "main", 2], "client_ids": ["c d"]},
        {"queue": ["orders", "main", 2], "client_ids": "c"},
        {"queue": ["orders", "main", 2], "client_ids": [f"c{number}" for number in range(100)]},
        {"queue": ["orders", "main", 2], "client_ids": [f"c{number}" for number in range(101)]},
        {"queue": ["..", "main", 2], "weight": "1"},
        {"only": ["a*"]},
        {"only": ["a*", "10.0.0.0/8"], "topics": None, "if_nobody": "nobody"},
        {"only": ["a"], "topics": ["orders"], "if_nobody": "all"},
        {"only": ["a", "a"]},
        {"only": []},
        {"only": [""]},
        {"only": ["a b"]},
        {"only": [7]},
        {"only": "a"},
        {"only": [f"c{number}" for number in range(1_000)]},
        {"only": [f"c{number}" for number in range(1_001)]},
        {"only": ["a"], "topics": []},
        {"only": ["a"], "topics": [".."]},
        {"only": ["a"], "topics": [f"t{number}" for number in range(1_001)]},
        {"only": ["a"], "if_nobody": "none"},
        {"only": ["a"], "if_nobody": None},
        {"only": ["a"], "clients": ["a"]},
        {"topics": None},
    ]
]  # fmt: skip


@pytest.mark.parametrize("group", ["orders", "*"])
def test_schema_and_decoder_agree_on_every_rule(group: str) -> None:
    """Schema and decoder agree on every rule's value, for one group and for all."""
    for rule, value in RULES:
        _agree("rule", example("rule", group=group, rule=rule, value=value))


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from([*TOPIC_OF]), st.data())
def test_schema_and_decoder_agree_on_two_changes(kind: str, data: st.DataObject) -> None:
    """Two changes at once change nothing about that."""
    body = example(kind)
    for _ in range(2):
        path = data.draw(st.sampled_from([path for path in _places(body) if path != ["kind"]]))
        inner: Any = body
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = orjson.loads(orjson.dumps(data.draw(st.sampled_from(VALUES))))
    _agree(kind, body)
