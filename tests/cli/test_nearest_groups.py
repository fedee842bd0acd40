"""Whoever mistypes a group is offered groups that are there, and none that is gone."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import UsageError
from fairlead.observed.live_group import UnknownGroupError
from tests.kit.live_group import GROUP, look
from tests.kit.moving_world import recorded
from tests.kit.world import World, world_of

GONE = "order"


@pytest.fixture
def world() -> World:
    """A group that lives, and one whose rules are unset: only old records name it."""
    world = world_of("c1", "c2", queues={"orders": 4})
    world.topics.rule(GONE, "slots", "group")
    world.topics.append_of("releases", GONE, {"kind": "release", "group": GONE})
    world.topics.rule(GONE, "slots", None)
    world.pass_seconds(2)
    return world


def test_a_group_that_is_gone_is_no_suggestion(world: World) -> None:
    """The names beside an unknown one are of groups that are there now."""
    key = f'["{GONE}","c9","i9",0]'.encode()
    for value in (b"{}", None):
        world.topics.append("assignments", 0, key, value)
    with pytest.raises(UnknownGroupError) as unknown:
        look(world, "ordrs")
    assert unknown.value.known == {GROUP}


@pytest.mark.parametrize(
    "words", [("plan", "ordrs"), ("group", "check", "ordrs"), ("watch", "ordrs", "-o", "jsonl")]
)
def test_commands_suggest_what_is_there(
    words: tuple[str, ...], world: World, tmp_path: Path
) -> None:
    """Every command offers the one group that is there, in the same words."""
    folder = recorded(world, tmp_path / "recording").folder
    ended = CliRunner().invoke(app, [*words, "--dump", str(folder)])
    assert isinstance(ended.exception, UsageError), ended.output
    assert (ended.exception.remedy or "").startswith("The nearest is orders; `fairlead group list`")
