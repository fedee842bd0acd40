"""Commands that end in each of the ways a command can end, for the tests of the entry point."""

import typer

from fairlead.errors import EnvironmentMissingError, FairleadError, SupersededError

app = typer.Typer(no_args_is_help=True)


@app.command()
def refuse() -> None:
    """End with an error that has a remedy."""
    raise EnvironmentMissingError("java: none was found", remedy="install one")


@app.command()
def superseded() -> None:
    """End with an error that has no remedy."""
    raise SupersededError("generation 4 has taken over")


@app.command()
def plain() -> None:
    """End with the base class, whose code is that of usage."""
    raise FairleadError("the topic: is empty")


@app.command()
def defect() -> None:
    """End with an exception that nobody expected."""
    raise ZeroDivisionError("nobody expected this")


@app.command()
def interrupted() -> None:
    """End as Ctrl-C ends a command."""
    raise KeyboardInterrupt


@app.command()
def verdict(*, code: int = 1) -> None:
    """End with a code of its own."""
    raise typer.Exit(code)


def single(*, count: int = 1) -> None:
    """Write a number: a command that is a function."""
    typer.echo(count * 2)
