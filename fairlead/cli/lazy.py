"""A group of commands that imports a command only when it runs."""

import copy
import importlib
import inspect
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import typer
import typer.core
import typer.main
from typer._click.exceptions import UsageError as ClickUsageError

from fairlead.cli.commands import COMMANDS, MORE, CommandEntry
from fairlead.errors import EnvironmentMissingError

if TYPE_CHECKING:
    # Typer carries its own copy of click; these names are for the type checker alone.
    from typer._click import Command, Context, HelpFormatter


class LazyGroup(typer.core.TyperGroup):
    """The commands of a table. Help and completion use placeholders with the table's help."""

    table: ClassVar[Mapping[str, CommandEntry]] = COMMANDS

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: typer.core.TyperCommand(name, help=entry.help, rich_help_panel=entry.panel)
            for name, entry in self.table.items()
        }

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the help: the panels, and below them the names of the rarer commands."""
        rarer = [name for name, entry in self.table.items() if entry.panel == MORE]
        shown = copy.copy(self)
        shown.commands = {
            name: command for name, command in self.commands.items() if name not in rarer
        }
        if rarer:
            # A blank line keeps the two lines apart.
            shown.epilog = f"More: {', '.join(rarer)}\n\n{self.epilog}"
        super(LazyGroup, shown).format_help(ctx, formatter)

    def resolve_command(
        self, ctx: "Context", args: list[str]
    ) -> "tuple[str | None, Command | None, list[str]]":
        """Import and return the command to run."""
        try:
            name, placeholder, rest = super().resolve_command(ctx, args)
        except ClickUsageError as error:
            verbs = [f"'{group} {args[0]}'" for group in _groups_with(args[0], self.table)]
            if verbs:
                error.message = f"No such command {args[0]!r}. Did you mean {' or '.join(verbs)}?"
            raise
        if name is None or placeholder is None:
            return name, placeholder, rest
        return name, load_command(name, self.table[name]), rest


def _groups_with(verb: str, table: Mapping[str, CommandEntry]) -> list[str]:
    """Return the importable commands with this verb."""
    groups = []
    for name, entry in table.items():
        if entry.target.endswith(":app"):
            with suppress(ImportError, EnvironmentMissingError):
                if verb in getattr(load_command(name, entry), "commands", {}):
                    groups.append(name)
    return groups


def load_command(name: str, entry: CommandEntry) -> "Command":
    """Import a command of a table.

    Raises:
        EnvironmentMissingError: the command belongs to the proof, which is not installed.
        ImportError: its module, or an import of it, is missing.
        AttributeError: the module has no such attribute.
    """
    module_name, _, attribute = entry.target.partition(":")
    room = module_name.partition(".")[0]
    if find_spec(room) is None:
        raise EnvironmentMissingError(
            f"fairlead {name} needs the package {room.replace('_', '-')}, which is not installed.",
            remedy="pip install 'fairlead[proof]'",
        )
    target: Any = getattr(importlib.import_module(module_name), attribute)
    command: Command
    if isinstance(target, typer.Typer):
        command = typer.main.get_group(target)
    else:
        single = typer.Typer(add_completion=False)
        single.command(name)(target)
        command = typer.main.get_command(single)
    command.name = name
    _unfold(command)
    return command


def _unfold(command: "Command") -> None:
    """Join the lines of each paragraph of a help text: terminals have widths of their own."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(each.replace("\n", " ") for each in paragraphs)
    for each in getattr(command, "commands", {}).values():
        _unfold(each)
