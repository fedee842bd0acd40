"""Whoever may write an engine's topics may write anything: it is found, and ends nothing."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.verify.judgement import Journals, judge_recording
from fairlead.wire.decision_records import DecisionReader
from fairlead.wire.engine_shapes import check_assignment, check_decision
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Body, Life, forge, rich_life
from tests.kit.judgements import told_by

FORGED: list[tuple[str, tuple[str | int, ...], Any]] = [
    ("decisions", ("triggers", 0), [1]),
    ("decisions", ("cause", 0), "x"),
    ("decisions", ("cause", 0, "at"), []),
    ("decisions", ("moves", 0, "queue"), ["a", [1], 2]),
    ("decisions", ("moves", 0, "position"), []),
    ("decisions", ("moves", 0, "epoch", 1), "x"),
    ("decisions", ("cut", "begin", "t.releases", "0"), None),
    ("decisions", ("cut", "positions", "t.heartbeats", "0"), "x"),
    ("decisions", ("cut", "positions", "t.offsets"), -1),
    ("decisions", ("cut", "positions", "t.offsets", "0"), [1]),
    ("decisions", ("state", "queues"), {}),
    ("assignments", ("client_id",), ["a"]),
    ("assignments", ("at_ms",), "x"),
    ("assignments", ("add", 0, "epoch", 1), [[]]),
    ("assignments", ("add", 0, "queue", 2), "x"),
    ("assignments", ("add", 0, "position", 0), "x"),
    ("assignments", ("add", 0, "identity"), {}),
    ("assignments", ("add", 0, "after"), [{"client_id": [], "incarnation": "x", "epoch": [1, 1]}]),
]


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


@pytest.mark.parametrize(
    "suffix, path, value", FORGED, ids=[".".join(map(str, each[1])) for each in FORGED]
)
def test_a_field_of_another_type_cannot_be_read(
    life: Life, tmp_path: Path, suffix: str, path: tuple[str | int, ...], value: object
) -> None:
    """A field of another type is one that cannot be read, beside journals too."""

    def edit(body: Body) -> bool:
        inner: Any = body
        try:
            for step in path[:-1]:
                inner = inner[step]
            known = inner[path[-1]]
        except (KeyError, IndexError):
            return False
        inner[path[-1]] = value
        return bool(body["group"] == "orders" and known != value)

    rows = {place: list(log) for place, log in life.rows().items()}
    forged = forge(rows, suffix, edit)
    given = Journals(life.diary.journals(), "orders", life.diary.steps)
    judgement = judge_recording(life.record(tmp_path / "r", rows), STRATEGIES, given)
    assert "S3" in judgement.broken
    assert "cannot be read" in told_by(judgement)
    assert forged.value is not None
    check = check_decision if suffix == "decisions" else check_assignment
    with pytest.raises(ValueError, match="has another type"):
        check(orjson.loads(forged.value))
    if suffix == "decisions":
        with pytest.raises(ValueError, match="has another type"):
            DecisionReader("orders").read(forged)


def test_everything_that_is_written_is_of_its_type(life: Life) -> None:
    """What engines write is read as ever; null values remove, and tell nothing."""
    checks = {"decisions": check_decision, "assignments": check_assignment}
    for (suffix, _), log in life.rows().items():
        for row in log if suffix in checks else ():
            if row.value is not None:
                checks[suffix](orjson.loads(row.value))
