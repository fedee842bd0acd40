"""Each case of bad input gets its stated verdict, and never another error."""

import orjson
import pytest

from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from tests.kit.wire_records import (
    EXAMPLES,
    LIMITS,
    TOPIC_OF,
    example,
    key_of,
    raw,
    raw_of,
    refusal,
)
from tests.wire.bad_input import CASES, Case

TRUNCATED = [kind for kind in EXAMPLES if kind in TOPIC_OF]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_bad_record_has_its_reason_and_field(case: Case) -> None:
    """The record is accepted, or refused with its stated reason and field."""
    error = refusal(case.topic, case.record)
    if error is None:
        assert case.reason is None
    else:
        assert (str(error.reason), error.field) == (case.reason, case.field)
        assert error.detail
        assert error.remedy
        assert ": send " not in error.remedy


def test_no_two_cases_have_one_name() -> None:
    """No two cases have one name."""
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("kind", TRUNCATED)
def test_a_truncated_record_is_refused(kind: str) -> None:
    """A record cut off at any byte is refused."""
    value = orjson.dumps(example(kind))
    for end in range(len(value)):
        with pytest.raises(WireError) as caught:
            decode(TOPIC_OF[kind], raw(TOPIC_OF[kind], value[:end], key_of(example(kind))), LIMITS)
        assert caught.value.reason == "not_json", end


def test_unknown_fields_are_counted_per_kind() -> None:
    """Fields that the protocol does not know are counted per kind, at any level, once accepted."""
    body = example("heartbeat", colour="red", mood={"a": [1, None, "x", True]})
    body["process"]["threads"] = 4
    body["subscriptions"][0]["since"] = 1
    ignored: dict[str, int] = {"heartbeat": 10}
    record = decode("heartbeats", raw("heartbeats", orjson.dumps(body)), LIMITS, ignored)
    assert ignored == {"heartbeat": 14}
    plain = decode("heartbeats", raw("heartbeats", orjson.dumps(example("heartbeat"))), LIMITS)
    assert record == plain
    with pytest.raises(WireError):
        decode(
            "heartbeats",
            raw("heartbeats", orjson.dumps(body | {"sequence": -1})),
            LIMITS,
            ignored,
        )
    assert ignored == {"heartbeat": 14}


@pytest.mark.parametrize("kind", ["progress", "claims", "release", "reset", "leave"])
def test_ignored_counted_where_something_is_left_out(kind: str) -> None:
    """An unknown field is counted, and no missing one that need not be there hides it."""
    body = example(kind)
    entry = body["queues"][0] if "queues" in body else body
    for name in ("identity", "last_started"):
        entry.pop(name, None)
    ignored: dict[str, int] = {}
    decode(TOPIC_OF[kind], raw_of(body), LIMITS, ignored)
    assert ignored == {}
    entry["colour"] = "red"
    decode(TOPIC_OF[kind], raw_of(body), LIMITS, ignored)
    assert ignored == {kind: 1}
