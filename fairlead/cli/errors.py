"""How errors reach the user: as sentences, on the standard error."""

import typer

from fairlead.errors import FairleadError

__all__ = ["show_error"]


def show_error(error: FairleadError) -> None:
    """Write an error and its remedy to the standard error."""
    typer.echo("error: " + "\n".join(error.lines()), err=True)
