"""The last heartbeat of a client explains its death, on the clock of the engine."""

import orjson

from fairlead.history.last_heard import LastHeard, Patience, last_heard
from fairlead.wire.raw import RawRecord
from tests.kit.decision_bodies import START_MS

TOPIC = "t.heartbeats"


def _row(offset: int, seconds: float, key: str | None, **body: object) -> RawRecord:
    value = orjson.dumps(body) if body else b"{"
    place = (TOPIC, 0, offset, START_MS + int(seconds * 1_000))
    return RawRecord(*place, True, key and key.encode(), value)  # type: ignore[arg-type]  # noqa: FBT003


def _beat(offset: int, seconds: float, client_id: str, group: str = "orders") -> RawRecord:
    said = {"kind": "heartbeat", "client_id": client_id, "lease_ms": 20_000}
    return _row(offset, seconds, group, **said)


ROWS = [
    _beat(0, 0, "c1"),
    _beat(1, 1, "c1"),
    _beat(2, 1, "c1", group="payments"),
    _row(3, 2, None, kind="tick"),
    _row(4, 3, "orders"),
    _row(5, 4, "orders", kind="progress", client_id="c1"),
    _row(6, 60, None, kind="tick"),
    _beat(7, 61, "c1"),
]


def test_the_last_heartbeat_before_the_cut_counts() -> None:
    """The last heartbeat before the cut counts; the clock moves two ticks at most at once."""
    found = last_heard(ROWS, "orders", {"c1", "c2"}, 7, 1_000)
    assert found == {"c1": LastHeard((TOPIC, 0, 1), START_MS + 1_000, 20_000, 5_000)}
    assert last_heard(ROWS, "orders", {"c1"}, 8, 1_000)["c1"].silent_ms == 0
    assert last_heard(ROWS, "orders", {"c2"}, 8, 1_000) == {}


def test_of_one_client_id_the_silent_incarnation_counts() -> None:
    """Of a client id that heartbeats again, the life that fell silent counts."""
    rows = [
        _row(number, number, "orders", kind="heartbeat", client_id="c1", incarnation=life)
        for number, life in enumerate(["old", "old", *[None] * 13, "new", "new"])
    ]
    assert last_heard(rows, "orders", {"c1"}, 17, 1_000, lease_ms=10_000)["c1"].place[2] == 1
    newest = last_heard(rows, "orders", {"c1"}, 17, 1_000, lease_ms=10_000, newest=True)
    assert newest["c1"].place[2] == 16
    assert last_heard(rows[15:], "orders", {"c1"}, 17, 1_000, lease_ms=10_000)["c1"].place[2] == 16


def test_the_greater_of_two_leases_counts() -> None:
    """The greater of the two leases counts; the text says if rules changed since."""
    heard = LastHeard((TOPIC, 0, 1), START_MS + 1_000, 20_000, 23_500)
    said = "its last heartbeat was appended at 10:13:21.000 (t.heartbeats/0@1), 23.5 s before"
    assert heard.words(Patience(10_000, 3_000)) == (
        f"{said} on the engine's clock: longer than lease 20 s + margin 3 s"
    )
    assert heard.words(Patience(60_000, 3_000)) == (
        f"{said} on the engine's clock; the present lease 60 s + margin 3 s is longer than the "
        "one at that time"
    )
