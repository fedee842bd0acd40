"""Cases about start offsets: what is stored, what brokers answer, and how a date is read."""

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from fairlead_proof.conformance.answer import answer
from fairlead_proof.conformance.consume_timestamp import parse_consume_timestamp

CASE: dict[str, Any] = {
    "kind": "start_offset",
    "version": "4.9",
    "consumer": "push",
    "consume_from": "CONSUME_FROM_TIMESTAMP",
    "stored": -1,
    "topic": "orders",
    "min": 5,
    "max": 900,
    "search": 120,
    "consume_timestamp": "20260131120000",
    "tz": "UTC",
}
NOON = 1_769_860_800_000


def answered(**change: object) -> tuple[int, int | None]:
    """Return the offset, and the time that was searched for."""
    result = answer(CASE | change)["result"]
    return result["offset"], result["searched_timestamp_ms"]


def test_only_a_search_has_a_time() -> None:
    """Only a search tells a time, and only where it is made."""
    assert answered() == (120, NOON)
    assert answered(stored=7) == (7, None)
    assert answered(stored=-2) == (-1, None)
    assert answered(topic="%RETRY%orders") == (900, None)
    last = "CONSUME_FROM_LAST_OFFSET"
    assert answered(consume_from=last) == (900, None)
    assert answered(consume_from=last, topic="%RETRY%orders") == (0, None)
    assert answered(consume_from="CONSUME_FROM_FIRST_OFFSET") == (0, None)
    assert answered(consume_from="CONSUME_FROM_MIN_OFFSET") == (900, None)
    assert answered(consume_from="CONSUME_FROM_MIN_OFFSET", consumer="litepull") == (-1, None)


def test_answers_that_are_no_offset() -> None:
    """A broker that does not answer leaves none; 4.9 and lite-pull pass on a negative answer."""
    assert answered(search=None) == (-1, NOON)
    assert answered(search=-5) == (-5, NOON)
    assert answered(search=-5, version="5") == (-1, NOON)
    assert answered(search=-5, version="5", consumer="litepull") == (-5, NOON)


def test_dates_that_are_none() -> None:
    """What is no date is an error where it is searched by, and nothing elsewhere."""
    for text in ("", "yesterday", "2026", "202601311200", "2026-01-31T12:00:00"):
        assert answer(CASE | {"consume_timestamp": text})["error"]["code"] == (
            "consume_timestamp_invalid"
        )
        assert answered(consume_timestamp=text, stored=3) == (3, None)
    assert answered(consume_timestamp=None, stored=3) == (3, None)


@pytest.mark.parametrize(
    "change, path",
    [
        ({"version": "4.3"}, "version:"),
        ({"consumer": "pull"}, "consumer:"),
        ({"consume_from": "LAST_OFFSET"}, "consume_from:"),
        ({"stored": None}, "stored:"),
        ({"stored": 2**63}, "stored:"),
        ({"min": "0"}, "min:"),
        ({"max": 1.0}, "max:"),
        ({"topic": None}, "topic:"),
        ({"consume_timestamp": 20260131120000}, "consume_timestamp:"),
        ({"consume_timestamp": None}, "consume_timestamp:"),
        ({"tz": "Mars/Base"}, "tz:"),
        ({"tz": "../etc/passwd"}, "tz:"),
        ({"tz": 1}, "tz:"),
    ],
)
def test_a_bad_start_case_names_its_field(change: dict[str, object], path: str) -> None:
    """A case that lacks a field, or has a wrong one, names it."""
    error = answer(CASE | change)["error"]
    assert (error["code"], error["message"].startswith(path)) == ("bad_case", True)
    if change == {"tz": 1}:
        left_out = {name: value for name, value in CASE.items() if name != "consume_timestamp"}
        assert answer(left_out)["error"]["message"] == "consume_timestamp: it is missing"


@pytest.mark.parametrize(
    "text, zone, ms",
    [
        ("19700101000001", "UTC", 1_000),
        ("20260131120000", "Asia/Shanghai", NOON - 28_800_000),
        ("20261301000000", "UTC", 1_798_761_600_000),
        ("20260100000000", "UTC", 1_767_139_200_000),
        ("202601311200600", "UTC", NOON + 600_000),
        ("20260131120000.5 whatever", "UTC", NOON),
        ("2026 131 2 0 0", "UTC", NOON - 36_000_000),
        ("2026-1-1-1-1-1", "UTC", 1_761_778_739_000),
        ("  26 131120000", "UTC", -61_344_216_000_000),
        ("\uff12\uff10260131120000", "UTC", NOON),
        ("15821004000000", "UTC", -12_219_379_200_000),
        ("15821015000000", "UTC", -12_219_292_800_000),
        # Skipped and repeated hours of Berlin's clocks.
        ("20260329023000", "Europe/Berlin", 1_774_747_800_000),
        ("20261025023000", "Europe/Berlin", 1_792_891_800_000),
    ],
)
def test_a_date_is_read_as_leniently_as_in_java(text: str, zone: str, ms: int) -> None:
    """A date is read as leniently as Java reads it, by the clocks of its zone."""
    assert parse_consume_timestamp(text, ZoneInfo(zone)) == ms
