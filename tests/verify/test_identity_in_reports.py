"""A client's reports name the identity of a grant's topic too, where compaction took the add."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.core.model import Epoch, MessageQueue
from fairlead.recording import RecordingFolder
from fairlead.verify.evidence import history_of
from tests.kit.journaled_world import Life, Rows, rich_life
from tests.kit.judged_scene import FIRST, recreated

NOW = "identity-of-orders"


@pytest.fixture(scope="module")
def life() -> Life:
    """A life in which everything happens, and nothing wrong."""
    return rich_life()


def _tell(rows: Rows, identity: str) -> None:
    """Let clients name the identity of each grant in their progress."""
    for number in (0, 1):
        log = rows["heartbeats", number]
        for at, row in enumerate(log):
            body: dict[str, Any] = {}
            if row.value is not None and b'"progress"' in row.value:
                body = orjson.loads(row.value)
            if body.get("kind") == "progress":
                body["queues"] = [{**each, "identity": identity} for each in body["queues"]]
                log[at] = row._replace(value=orjson.dumps(body))


def _identities(recording: RecordingFolder) -> dict[tuple[MessageQueue, Epoch], str]:
    return dict(history_of(recording, "orders", (), (), {}, refused=()).identities)


def test_a_grant_without_its_add_has_its_identity_from_reports(life: Life, tmp_path: Path) -> None:
    """Compaction leaves a grant without its add: what its client reported tells its identity."""
    rows = life.rows()
    whole = _identities(life.record(tmp_path / "whole", rows))
    for (suffix, _), log in rows.items():
        if suffix == "assignments":
            log[:] = log[-1:]
    bare = _identities(life.record(tmp_path / "bare", rows))
    _tell(rows, NOW)
    told = _identities(life.record(tmp_path / "told", rows))
    assert bare.items() < told.items() <= whole.items()
    assert set(told.values()) == {NOW}


def test_the_engines_word_goes_before_the_clients(life: Life, tmp_path: Path) -> None:
    """What the engine told of a grant counts, whatever its client says."""
    rows = life.rows()
    whole = _identities(life.record(tmp_path / "whole", rows))
    _tell(rows, "another")
    assert _identities(life.record(tmp_path / "told", rows)) == whole


def test_a_grant_without_an_identity_is_taken_as_new() -> None:
    """A grant of the former topic that names no identity counts as one of the new topic."""
    scene = recreated()
    assert scene.judge()[0] == ()
    del scene.lives[FIRST]
    broken, told, _ = scene.judge()
    assert broken == ("S5",)
    assert "read twice" in told
