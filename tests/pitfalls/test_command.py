"""The command that tells the pitfalls, from its arguments to its exit code."""

import orjson
from fairlead_proof.pitfalls.catalogue import PITFALLS
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import UsageError

RUNNER = CliRunner()


def test_all_are_counted_in_one_table() -> None:
    """Without a name every story has a line for each side."""
    ran = RUNNER.invoke(app, ["proof", "pitfalls"])
    assert ran.exit_code == 0, ran.output
    for pitfall in PITFALLS:
        assert pitfall.name in ran.stdout
    assert ran.stdout.count("Fairlead") == len(PITFALLS)


def test_one_is_told_with_its_picture() -> None:
    """With a name the command tells the whole story."""
    ran = RUNNER.invoke(app, ["proof", "pitfalls", "late-by-a-tick"])
    assert ran.exit_code == 0, ran.output
    assert "c1 stops q3" in ran.stdout
    assert "111#" in ran.stdout


def test_programs_get_a_story_as_json() -> None:
    """Programs get the counts and both courses of the story that they name."""
    ran = RUNNER.invoke(app, ["proof", "pitfalls", "one-id-twice", "-o", "json"])
    (document,) = orjson.loads(ran.stdout)
    assert document["sides"]["fairlead"]["counts"]["twice"] == []
    assert document["sides"]["rocketmq"]["counts"]["nobody"] == [
        ["orders", "broker-a", 2],
        ["orders", "broker-a", 3],
    ]


def test_an_unknown_name_is_told_the_known_ones() -> None:
    """A mistake names what there is."""
    ran = RUNNER.invoke(app, ["proof", "pitfalls", "late"])
    assert isinstance(ran.exception, UsageError)
    assert "late-by-a-tick" in str(ran.exception.lines())
