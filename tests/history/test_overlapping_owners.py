"""What `fairlead explain` and `moves` tell of owners that did not wait for the one before."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from tests.answers.schema import assert_answers
from tests.kit.live_group import GROUP, rule, set_rules
from tests.kit.moving_world import recorded
from tests.kit.observations import stubborn
from tests.kit.world import World, world_of


def _explained(world: World, folder: Path) -> tuple[dict[str, Any], str]:
    """Return the story of orders/main/2 for programs and for people."""
    place = recorded(world, folder).folder
    words = ["explain", GROUP, "--queue", "2", "--dump", str(place)]
    runner = CliRunner()
    text = runner.invoke(app, words, catch_exceptions=False).stdout
    (story,) = orjson.loads(
        runner.invoke(app, [*words, "-o", "json"], catch_exceptions=False).stdout
    )
    assert_answers("Story", [story])
    return story, text


@pytest.mark.parametrize(
    "rules, seconds", [(rule("mode", "eager"), 10), (rule("on_mute", "force"), 50)]
)
def test_an_owner_that_did_not_wait(rules: Any, seconds: int, tmp_path: Path) -> None:
    """The new owner has the queue, the old one still drains, and the grant is unsafe for good."""
    world = world_of("c1", "c2", queues=6)
    set_rules(world, rules)
    world.pass_seconds(2)
    stubborn(world, "c1")
    world.join("c3")
    world.pass_seconds(seconds)
    story, text = _explained(world, tmp_path / "both")
    assert (story["owner"], story["state"], story["unsafe"]) == ("c2", "held", True)
    assert [each["client_id"] for each in story["draining"]] == ["c1"]
    assert "owner    c2 (held)\n  holder   c1 (draining: it has not released it yet)" in text
    assert "unsafe   c1 was not waited for, and may be working on it too" in text

    world.clients[0].leave()
    world.pass_seconds(3)
    story, text = _explained(world, tmp_path / "released")
    newest = story["owners"][0]
    assert (story["unsafe"], newest["unsafe"], story["draining"]) == (True, True, [])
    handover = newest["handover"]
    assert handover["gap_ms"] == handover["granted_ms"] - handover["released_ms"]
    assert handover["gap_ms"] < 0
    assert newest["start_why"] == "progress", "it began before that release"
    told, granted, released, both = [
        next(number for number, line in enumerate(text.splitlines()) if words in line)
        for words in ("told c1 to stop", "granted to c2", "c1 released it at", "both held it")
    ]
    assert told < granted < released < both
    assert "after the release" not in text
