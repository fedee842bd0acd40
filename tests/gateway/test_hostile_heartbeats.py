"""A record that no gateway writes is counted and passed over; what follows it is read."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.gateway.session_log import SessionLog, incarnation_of_session
from fairlead.wire.raw import RawRecord

SESSION = incarnation_of_session(7)
GOOD: dict[str, Any] = {
    "v": 1,
    "kind": "heartbeat",
    "group": "orders",
    "client_id": "c1",
    "incarnation": SESSION,
    "lease_ms": 10_000,
    "gateway": {"id": "g0", "poll": 0, "state": 0},
}
ODD: list[Any] = [None, True, -1, 1.5, 1e300, "", "7", [], {}, 2**63, [[]]]
PLACES = [
    ("lease_ms",),
    ("incarnation",),
    ("group",),
    ("kind",),
    ("gateway",),
    *(("gateway", name) for name in ("id", "poll", "state")),
]


def rows(*values: bytes) -> list[RawRecord]:
    """Return rows of the heartbeats topic."""
    return [
        RawRecord("heartbeats", 0, offset, 1_000 + offset, True, b"orders", value)  # noqa: FBT003 - the row of a log has no names
        for offset, value in enumerate(values)
    ]


def changed(place: tuple[str, ...], value: Any) -> bytes:
    """Return a heartbeat with one value changed."""
    record = {**GOOD, "gateway": dict(GOOD["gateway"])}
    inner = record if len(place) == 1 else record["gateway"]
    inner[place[-1]] = value
    return orjson.dumps(record)


@pytest.mark.parametrize("place", PLACES, ids=".".join)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_an_odd_value_costs_its_own_record_alone(place: tuple[str, ...], value: Any) -> None:
    """Whatever stands in a field, the next record is read."""
    log = SessionLog(60_000, 0)
    for row in rows(changed(place, value), orjson.dumps(GOOD)):
        log.apply("heartbeats", row)
    heard = log.sessions[SESSION].heard
    assert heard is not None
    assert heard.at == (0, 1)


def test_a_missing_field_costs_its_own_record_alone() -> None:
    """A heartbeat without its lease, too."""
    log = SessionLog(60_000, 0)
    record = {name: value for name, value in GOOD.items() if name != "lease_ms"}
    for row in rows(orjson.dumps(record), orjson.dumps(GOOD)):
        log.apply("heartbeats", row)
    assert log.malformed == 1
    assert log.sessions[SESSION].heard is not None


@given(st.binary(max_size=60))
def test_any_bytes_behind_the_mark_are_survived(tail: bytes) -> None:
    """The quick look for the word gateway lets anything through; the reader does not."""
    log = SessionLog(60_000, 0)
    for row in rows(b'{"v":1,"gateway":' + tail, orjson.dumps(GOOD)):
        log.apply("heartbeats", row)
    assert log.sessions[SESSION].heard is not None
