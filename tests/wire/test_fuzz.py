"""No bytes whatever make the decoder raise anything but its own error."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.wire import decode as decoding
from fairlead.wire.decode import decode
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.errors import WireError
from fairlead.wire.kinds import KINDS, NULLS
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import INPUT_TOPICS, TopicNames
from tests.kit.protocol_page import validator
from tests.kit.wire_records import EXAMPLES, LIMITS, TOPIC_OF, example, key_of, raw
from tests.wire.json_texts import any_value, json_bytes

KEYS = st.one_of(
    st.none(),
    st.binary(max_size=20),
    json_bytes(),
    st.sampled_from([key_of(EXAMPLES[kind]) for kind in TOPIC_OF]),
)


def _verdict(topic: str, record: RawRecord) -> object:
    """Return the record, or reason and field; a refusal must make a dead letter that fits."""
    try:
        return decode(topic, record, LIMITS)
    except WireError as error:
        letter = encode_reject(error, record, TopicNames(), "0.1.0")
        assert letter.value is not None
        assert validator("reject").is_valid(orjson.loads(letter.value))
        return (error.reason, error.field)


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(INPUT_TOPICS), st.one_of(st.none(), json_bytes()), KEYS)
def test_any_bytes_are_a_record_or_a_wire_error(
    topic: str, value: bytes | None, key: bytes | None
) -> None:
    """Any bytes on any topic are a record or a WireError."""
    assert _verdict(topic, raw(topic, value, key)) is not None


def _places(body: Any) -> list[list[str | int]]:
    """Return the path of every value inside a body."""
    found: list[list[str | int]] = []
    entries = body.items() if isinstance(body, dict) else enumerate(body)
    for name, value in entries:
        found.append([name])
        if isinstance(value, dict | list):
            found += [[name, *rest] for rest in _places(value)]
    return found


@st.composite
def changed_example(draw: st.DrawFn) -> dict[str, Any]:
    """Return an example of the page with one value, at any depth, replaced by another."""
    body = example(draw(st.sampled_from([*TOPIC_OF])))
    *path, last = draw(st.sampled_from(_places(body)))
    inner: Any = body
    for name in path:
        inner = inner[name]
    inner[last] = draw(any_value())
    return body


def _record_of(body: dict[str, Any], topic: str, value: bytes) -> RawRecord:
    try:
        key = key_of(body)
    except (TypeError, KeyError, AttributeError):
        key = b"orders"
    return raw(topic, value, key)


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from([*TOPIC_OF]), changed_example())
def test_any_changed_example_is_a_record_or_a_wire_error(kind: str, body: dict[str, Any]) -> None:
    """An example with anything in any place, on any topic, is a record or a WireError."""
    topic = TOPIC_OF[kind]
    assert _verdict(topic, _record_of(body, topic, orjson.dumps(body))) is not None


@settings(max_examples=2 * settings().max_examples)
@given(changed_example(), st.booleans())
def test_verdict_of_both_readers(body: dict[str, Any], spaced: bool) -> None:  # noqa: FBT001
    """The verdict is the same when only the strict reader is asked."""
    option = orjson.OPT_INDENT_2 if spaced else 0
    kind = body.get("kind")
    topic = TOPIC_OF.get(kind, "heartbeats") if isinstance(kind, str) else "heartbeats"
    record = _record_of(body, topic, orjson.dumps(body, option=option))
    both = _verdict(topic, record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "read_fast", lambda _value: None)
        assert _verdict(topic, record) == both


def test_every_input_topic_has_kinds_and_a_rule_for_null() -> None:
    """Every input topic has its kinds and its rule for null."""
    assert {*KINDS} == {*NULLS} == {*INPUT_TOPICS, "requests"}
