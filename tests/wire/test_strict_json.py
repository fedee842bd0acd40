"""The fast reader accepts nothing that the strict reader refuses, and reads nothing otherwise."""

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairlead.wire.errors import WireError
from fairlead.wire.strict_json import check_plain, read_fast, read_strict
from tests.kit.wire_records import example as heartbeat
from tests.kit.wire_records import raw_of, refusal
from tests.wire.json_texts import any_value, json_bytes


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal, types included: true is not 1, and 1.0 is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return [*one] == [*other] and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _vouched(value: bytes) -> Any | None:
    """Return what the fast reader and the check of numbers and levels let pass."""
    body = read_fast(value)
    try:
        check_plain(body, 0)
    except WireError:
        return None
    return body


@settings(max_examples=4 * settings().max_examples)
@given(json_bytes())
@example(b'{"a":1,"a":2}')
@example(b'{"a":":","a":2}')
@example(b'{"a":{"b":1},"a":{}}')
@example(b'{"a":"\\u003a","\\u0061":1}')
@example(b'{"a":1,"a":"\\u003a"}')
@example(b'{"a":18446744073709551616}')
def test_the_fast_reader_agrees_with_the_strict_one(value: bytes) -> None:
    """What the fast path accepts, the strict reader accepts, with the same result."""
    body = _vouched(value)
    if body is not None:
        assert _same(body, read_strict(value))


@settings(max_examples=2 * settings().max_examples)
@given(any_value())
def test_plain_json_takes_the_fast_path(body: Any) -> None:
    """Plainly written JSON takes the fast path unless it is refused, or has a backslash."""
    value = orjson.dumps(body)
    if b"\\" in value or body is None:
        return
    try:
        strict = read_strict(value)
    except WireError:
        assert _vouched(value) is None
    else:
        assert _same(_vouched(value), strict)


@settings(max_examples=2 * settings().max_examples)
@given(json_bytes())
def test_what_the_strict_reader_accepts_is_json(value: bytes) -> None:
    """What the strict reader accepts is JSON, and means what the standard library says it means."""
    try:
        body = read_strict(value)
    except WireError:
        return
    assert _same(body, json.loads(value.decode()))
    assert orjson.loads(orjson.dumps(body)) == body


@given(st.integers(0, 40))
def test_sixteen_levels_are_read_and_seventeen_refused(depth: int) -> None:
    """Sixteen levels are read, seventeen are refused, by both readers alike."""
    value = b"[" * depth + b"1" + b"]" * depth
    if depth <= 16:
        assert _same(_vouched(value), read_strict(value))
    else:
        assert _vouched(value) is None
        with pytest.raises(WireError, match="too_deep"):
            read_strict(value)


@pytest.mark.parametrize(
    "value",
    [b'"' * 524_288, b'\\"' * 262_144, b'"\\' * 262_144, b"[" * 524_288, b'["' * 262_144],
    ids=["quotes", "escaped-quotes", "quotes-and-backslashes", "brackets", "bracket-quote"],
)
def test_the_greatest_record_is_refused_in_a_moment(value: bytes) -> None:
    """The greatest record is refused in a moment, whatever it is made of."""
    started = time.monotonic()
    with pytest.raises(WireError):
        read_strict(b"[{[{[{[{[{[{" + value)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("place, level", [("record", 1), ("process", 2), ("subscription", 3)])
def test_levels_of_unknown_fields(place: str, level: int) -> None:
    """A field that nobody knows may go down to level sixteen, wherever it stands."""
    for arrays, verdict in ((16 - level, None), (17 - level, "too_deep")):
        body = heartbeat("heartbeat")
        places = {
            "record": body,
            "process": body["process"],
            "subscription": body["subscriptions"][0],
        }
        places[place]["x"] = orjson.loads(b"[" * arrays + b"]" * arrays)
        error = refusal("heartbeats", raw_of(body))
        assert (error and str(error.reason)) == verdict


def test_deep_nesting_is_refused_before_recursion() -> None:
    """Deep nesting is refused before the parser recurses, however deep its caller is."""

    def deep(levels: int) -> None:
        if levels:
            deep(levels - 1)
        else:
            with pytest.raises(WireError, match="too_deep"):
                read_strict(b'{"a":' * 5_000)

    deep(500)
