"""The entry point: runs a command and turns its end into an exit code."""

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

import fairlead
from fairlead.cli.errors import show_error
from fairlead.cli.lazy import LazyGroup
from fairlead.errors import ExitCode, FairleadError

app = typer.Typer(
    name="fairlead",
    cls=LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _show_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairlead {fairlead.__version__}")
        raise typer.Exit


@app.callback(epilog="Help of each: fairlead COMMAND --help. Exit codes: docs/exit-codes.md.")
def top(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Decide which consumer of a group reads which queue, in real time."""
    del version


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line (``sys.argv`` without arguments) and exit.

    A ``FairleadError`` becomes a message on the standard error and an exit code; any other
    exception is a defect and shows its traceback.
    """
    try:
        app(None if arguments is None else list(arguments), prog_name="fairlead")
    except FairleadError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except Exception:  # noqa: BLE001 - the last resort: a defect has its own exit code
        traceback.print_exc()
        typer.echo("error: this is a defect of fairlead; please report the lines above", err=True)
        sys.exit(ExitCode.DEFECT)
