"""A group with a rule that is rejected: plan, check and describe say so once, and go on."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fairlead.cli.main import app
from tests.kit.live_group import GROUP
from tests.kit.moving_world import recorded
from tests.kit.world import world_of

SAID = "the engine rejects the rule strategy (there is no strategy 'MINE'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A group of two members with a rule that names a strategy of somebody's own."""
    world = world_of("c1", "c2", queues={"orders": 4})
    world.topics.rule(GROUP, "strategy", {"name": "MINE", "options": {}})
    world.pass_seconds(3)
    return recorded(world, tmp_path_factory.mktemp("run") / "recording").folder


def _run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--dump", str(folder)])


@pytest.mark.parametrize(
    "words",
    [
        ("plan", GROUP, "--leave", "c2"),
        ("group", "check", GROUP),
        ("group", "check", "--all"),
        ("group", "describe", GROUP),
        ("offsets", "show", GROUP),
    ],
)
def test_a_rejected_rule_is_said_once(folder: Path, words: tuple[str, ...]) -> None:
    """Whoever asks about the group learns once which rule does not count, and what may help."""
    ended = _run(folder, *words)
    whole = " ".join(ended.output.split())
    assert whole.count("MINE") == 1, ended.output
    assert SAID in whole
    assert "give --config as to `fairlead run`" in whole


def test_a_plan_goes_on_with_the_rule_before(folder: Path) -> None:
    """A plan shows what moves under the rule that counts."""
    ended = _run(folder, "plan", GROUP, "--leave", "c2")
    assert (ended.exit_code, ended.exception) == (0, None)
    assert "c2" in ended.stdout
