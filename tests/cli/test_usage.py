"""How a command says in its help what it takes."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer._click import Context

from fairlead.cli.commands import COMMANDS
from fairlead.cli.lazy import load_command


def _each(command: Any, context: Context) -> Iterator[tuple[str, Any, Context]]:
    verbs, table = getattr(command, "commands", {}), getattr(command, "table", {})
    if not verbs:
        yield context.command_path, command, context
    for verb in verbs:
        lazy = table.get(verb)
        found = load_command(verb, lazy) if lazy else command.get_command(context, verb)
        yield from _each(found, Context(found, parent=context, info_name=verb))


def _all() -> Iterator[tuple[str, Any, Context]]:
    for name, entry in COMMANDS.items():
        command = load_command(name, entry)
        yield from _each(command, Context(command, info_name=name))


EVERY = list(_all())


@pytest.mark.parametrize("path, command, context", EVERY, ids=[path for path, *_ in EVERY])
def test_each_word_stands_in_one_pair_of_brackets(
    path: str, command: Any, context: Context
) -> None:
    """A usage line brackets each argument once, in capitals, with dots where there may be many."""
    usage = command.get_usage(context)
    assert not any(twice in usage for twice in ("[[", "{{", "...]...", "...}..."))
    words = usage.split(path)[1].split()
    assert [word for word in words if word != word.upper()] == []


@pytest.mark.parametrize("path, command, context", EVERY, ids=[path for path, *_ in EVERY])
def test_what_may_be_given_again_says_so(path: str, command: Any, context: Context) -> None:
    """The help of an option ends with Repeatable where it may be given again, and nowhere else."""
    del path, context
    said = {
        name: "Repeatable" in (each.help or "")
        for each in command.params
        if each.param_type_name == "option"
        for name in each.opts[:1]
    }
    assert said == {
        each.opts[0]: each.multiple for each in command.params if each.param_type_name == "option"
    }
