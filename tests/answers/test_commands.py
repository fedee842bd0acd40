"""Every command that writes JSON is in the schema of answers, and the tests know it."""

from collections.abc import Iterator
from typing import Any

from fairlead.cli.commands import COMMANDS, PROOF
from fairlead.cli.lazy import load_command
from tests.answers.schema import ANSWERED
from tools.json_page import answer_schema


def _writing(name: str, command: Any) -> Iterator[str]:
    """Yield the commands that have the option ``-o``, a verb with its command."""
    if any("-o" in each.opts for each in command.params):
        yield name
    for verb, below in getattr(command, "commands", {}).items():
        yield from _writing(f"{name} {verb}", below)


def _told(asked: str) -> list[str]:
    """Return the commands of a line such as ``group set, unset`` or ``watch -o jsonl``."""
    command, _, verbs = asked.partition(" -")[0].partition(" ")
    return [f"{command} {verb}".rstrip() for verb in verbs.split(", ")]


def test_each_command_with_json_is_told() -> None:
    """A command with ``-o json`` is among those that the page of answers names."""
    writing = {
        each
        for name, entry in COMMANDS.items()
        if not entry.target.startswith(PROOF)
        for each in _writing(name, load_command(name, entry))
    }
    told = {each for answer in answer_schema()["x-answers"] for each in _told(answer["asked"])}
    assert {"verify", "group list", "config show"} <= writing
    assert writing - told == set()
    assert {each for each in writing if {each, each.split()[0]}.isdisjoint(ANSWERED)} == set()
