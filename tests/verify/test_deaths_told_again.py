"""One death counts once: who came back under the same client id lives until it is silent too."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.kit.journaled_world import Body, Life, Rows
from tests.kit.judgements import judged, told_by


def _returned(*, again: bool = False) -> Life:
    """B dies and comes back; with ``again`` it does so once more."""
    life = Life()
    life.join("a")
    client = life.join("b")
    life.world.pass_seconds(5)
    for incarnation in (2, 3) if again else (2,):
        life.kill(client)
        life.world.pass_seconds(20)
        client = life.join("b", life=incarnation)
        life.world.pass_seconds(5)
    life.close()
    return life


def _last_decision(rows: Rows, edit: Callable[[Body], None]) -> None:
    log = next(log for (suffix, _), log in rows.items() if suffix == "decisions" and log)
    at = max(at for at, row in enumerate(log) if b"client_joined" in (row.value or b""))
    body = orjson.loads(log[at].value or b"")
    edit(body)
    log[at] = log[at]._replace(value=orjson.dumps(body))


@pytest.mark.parametrize("again", [False, True])
def test_each_death_is_its_own(tmp_path: Path, again: bool) -> None:  # noqa: FBT001 - a parameter
    """Each death of a client id is one of its own."""
    judgement = judged(_returned(again=again).record(tmp_path / "r"))
    assert told_by(judgement) == ""
    assert judgement.counts["lapses"] == 1 + again


def test_a_death_told_again_accuses_nobody(tmp_path: Path) -> None:
    """That a process of this client id died long ago takes nobody else for dead."""
    life = _returned()
    rows = life.rows()

    def expired(body: Body) -> None:
        assert "b" in body["members"]
        body["cause"].append({"kind": "client_expired", "client_id": "b"})

    _last_decision(rows, expired)
    judgement = judged(life.record(tmp_path / "r", rows))
    assert "L3" in judgement.broken, told_by(judgement)
    assert "the engine calls b dead, which was not silent" in told_by(judgement)
