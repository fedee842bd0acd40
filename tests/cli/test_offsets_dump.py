"""`fairlead offsets show --dump`: the last known positions of a recorded group."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import UsageError
from tests.answers.schema import assert_answers
from tests.kit.moving_world import GROUP, moving_life, recorded
from tests.kit.world import World


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A life in which queues moved, and one was reset; a queue's end is older than its position."""
    world: World = moving_life()
    client = next(each for each in world.clients if not each.gone and each.held)
    queue = next(queue for queue in client.held if queue[2] != 5)
    for position, end in ((100, 1_052), (1_630, None)):
        entry = {"queue": [*queue], "epoch": client.held[queue][0], "position": [0, position]}
        entry |= {} if end is None else {"end": end}
        sender = {"client_id": client.client_id, "incarnation": client.incarnation}
        record = {"kind": "progress", "group": GROUP, **sender, "queues": [entry]}
        world.topics.append_of("heartbeats", GROUP, record)
    return recorded(world, tmp_path_factory.mktemp("run") / "recording").folder


def _run(*words: str | Path) -> list[dict[str, Any]]:
    ended = CliRunner().invoke(app, ["offsets", "show", *map(str, words), "-o", "json"])
    if ended.exception is not None:
        raise ended.exception
    found: list[dict[str, Any]] = orjson.loads(ended.stdout)
    assert_answers("QueuePlace", found)
    return found


def test_each_queue_has_its_last_position_and_lag(folder: Path) -> None:
    """Each queue has its last known position; where the end is older, it has no lag."""
    rows = _run(GROUP, "--dump", folder)
    assert [row["queue"] for row in rows] == [["orders", "main", number] for number in range(6)]
    (old,) = [row for row in rows if (row["position"] or (0, 0))[1] == 1_630]
    assert (old["end"], old["lag_messages"], old["end_is_older"]) == (1_052, None, True)
    assert not any(row["end_is_older"] for row in rows if row is not old)
    assert rows[5]["position"][0] > 0
    assert {row["why"] for row in rows} <= {"progress", "release", "committed", "reset", None}


def test_queues_and_topics_can_be_chosen(folder: Path) -> None:
    """Queues and topics can be named; what the recording does not have is refused by name."""
    queues = ("--queue", "orders/main/4", "--queue", "orders/main/1")
    assert [row["queue"][-1] for row in _run(GROUP, "--dump", folder, *queues)] == [1, 4]
    assert len(_run(GROUP, "--dump", folder, "--topic", "orders")) == 6
    for text in ("orders/4", "4"):
        assert [row["queue"][-1] for row in _run(GROUP, "--dump", folder, "--queue", text)] == [4]
    for text in ("orders/9", "9", "x"):
        with pytest.raises(UsageError, match=f"--queue: {text}: the group has no") as refused:
            _run(GROUP, "--dump", folder, "--queue", text)
        assert (refused.value.remedy or "").startswith("Write TOPIC/BROKER/NUMBER, such as orders")
    for words in (["--queue", "orders/main/9"], ["--topic", "payments"]):
        with pytest.raises(UsageError, match=f"{words[1]}: nothing is known of it for orders in"):
            _run(GROUP, "--dump", folder, *words)
    with pytest.raises(UsageError, match="a recording cannot be compared"):
        _run(GROUP, "--dump", folder, "--data-bootstrap", "a:1")


def test_a_group_without_queues_is_a_sentence(tmp_path: Path) -> None:
    """Where there is no queue to show, the table is a sentence and JSON is an empty list."""
    world = World(queues={"orders": 4})
    world.join("c1", subscribed=("bills",))
    world.pass_seconds(3)
    folder = recorded(world, tmp_path / "recording").folder
    words = ["offsets", "show", GROUP, "--dump", str(folder)]
    assert orjson.loads(CliRunner().invoke(app, [*words, "-o", "json"]).stdout) == []
    ended = CliRunner().invoke(app, words)
    said = "orders has no queues: no topic that it reads has a route or a position\n"
    assert (ended.exit_code, ended.stdout) == (0, said)
