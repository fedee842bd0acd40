"""How errors reach the user: as sentences, on the standard error."""

import typer

from fairlead.errors import FairleadError

__all__ = ["sentence", "show_error"]


def sentence(words: str) -> str:
    """Return the words of a core error as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."


def show_error(error: FairleadError) -> None:
    """Write an error and its remedy to the standard error."""
    typer.echo("error: " + "\n".join(error.lines()), err=True)
