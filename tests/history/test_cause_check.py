"""A cause is believed when the record that it names is the event that it tells of."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from fairlead.history.cause_check import CauseChecks, place_of
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.raw import RawRecord
from tests.kit.decision_bodies import audits
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.moving_world import GROUP, moving_life, timed_rows

CHECKS = CauseChecks(GROUP, NAMES, PARTITIONS.shards)


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, int, int], RawRecord]:
    """Every record of a life in which queues moved for many reasons, by its place."""
    return {
        (row.topic, row.partition, row.offset): row
        for log in timed_rows(moving_life()).values()
        for row in log
    }


@pytest.fixture(scope="module")
def causes(
    rows: dict[tuple[str, int, int], RawRecord],
) -> dict[str, tuple[dict[str, Any], DecisionRecord]]:
    """The last cause of each kind that names a record, and its decision."""
    bodies = [orjson.loads(row.value or b"") for place, row in rows.items() if "deci" in place[0]]
    return {
        str(cause["kind"]): (dict(cause), audit)
        for audit in audits(*bodies)
        for cause in audit.causes
        if place_of(cause) is not None
    }


def test_the_record_of_a_true_cause_is_the_event(
    rows: dict[tuple[str, int, int], RawRecord],
    causes: dict[str, tuple[dict[str, Any], DecisionRecord]],
) -> None:
    """The record of every true cause is the event."""
    assert causes.keys() >= {
        "client_joined", "client_left", "released", "route_changed", "offsets_known",
        "rules_changed", "pins_changed", "reset",
    }  # fmt: skip
    for cause, audit in causes.values():
        place = place_of(cause)
        assert place is not None
        check = CHECKS.check(cause, audit.cut, rows[place])
        assert (check.status, check.append_ms) == ("verified", rows[place].append_ms)


Damage = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    "kind, damage, told",
    [
        ("client_joined", lambda cause: cause.update(client_id="c9"), "of the client c3"),
        ("client_left", lambda cause: cause.update(kind="client_joined"), "a leave"),
        ("released", lambda cause: cause.update(client_id="c9"), "of the client c1"),
        ("route_changed", lambda cause: cause.update(topic="payments"), "of the topic orders"),
        ("route_changed", lambda cause: cause.update(kind="offsets_known"), "a route"),
        ("rules_changed", lambda cause: cause.update(by="mallory"), "its by is 'test'"),
        ("rules_changed", lambda cause: cause.update(removed=True), "its removed is None"),
        ("rules_changed", lambda cause: cause.pop("because"), "its because is 'fewer moves'"),
        ("pins_changed", lambda cause: cause["queue"].append(1), "its queue is"),
        ("reset", lambda cause: cause.update(queue=["orders", "main", 4]), "queue orders/main/5"),
        ("reset", lambda cause: cause.update(by="alice"), "it is by 'bob'"),
        ("client_joined", lambda cause: cause.update(kind="decision_asked"), "asks for no dec"),
    ],
)
def test_a_forged_cause_does_not_agree_with_its_record(
    rows: dict[tuple[str, int, int], RawRecord],
    causes: dict[str, tuple[dict[str, Any], DecisionRecord]],
    kind: str,
    damage: Damage,
    told: str,
) -> None:
    """A cause that says anything else than its record does not agree with it."""
    cause, audit = causes[kind]
    place = place_of(cause)
    assert place is not None
    forged = orjson.loads(orjson.dumps(cause))
    damage(forged)
    check = CHECKS.check(forged, audit.cut, rows[place])
    assert check.status == "disagrees"
    assert told in check.text


def test_a_record_that_was_not_read_is_not_the_event(
    rows: dict[tuple[str, int, int], RawRecord],
    causes: dict[str, tuple[dict[str, Any], DecisionRecord]],
) -> None:
    """A record of another group, one that nobody reads, or one read later is not the event."""
    cause, audit = causes["client_joined"]
    place = place_of(cause)
    assert place is not None
    row = rows[place]
    body = orjson.loads(row.value or b"")
    for group in ("other", "payments"):
        # At least one of the two groups belongs in this partition; the check sees another group.
        other = row._replace(key=group.encode(), value=orjson.dumps({**body, "group": group}))
        assert CHECKS.check(cause, audit.cut, other).status == "disagrees"
    damaged = row._replace(value=b"{")
    assert "the engine takes no such record" in CHECKS.check(cause, audit.cut, damaged).text
    early = audits(*[orjson.loads(_first_decision(rows))])[0]
    check = CHECKS.check(cause, early.cut, row)
    assert (check.status, "had read up to" in check.text) == ("disagrees", True)


def _first_decision(rows: dict[tuple[str, int, int], RawRecord]) -> bytes:
    return rows[NAMES.name("decisions"), 0, 0].value or b""


def test_a_missing_record_proves_nothing_unless_it_never_was(
    causes: dict[str, tuple[dict[str, Any], DecisionRecord]],
) -> None:
    """A record that is gone proves nothing; one that was never there contradicts its cause."""
    cause, audit = causes["released"]
    assert CHECKS.check(cause, audit.cut, "retention").status == "retention"
    assert CHECKS.check(cause, audit.cut, "compacted").status == "compacted"
    assert CHECKS.check(cause, audit.cut, "never").status == "disagrees"
    assert CHECKS.check(cause, audit.cut, "not_yet").status == "disagrees"
    assert CHECKS.check({"kind": "trigger"}, audit.cut, None).status == "no_record"
    assert place_of({"kind": "trigger"}) is None
