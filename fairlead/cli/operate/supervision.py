"""`--supervise` of a bridge: run this command as a child until it ends for good."""

import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

__all__ = ["supervised"]

_SUPERVISE = "--supervise"


def supervised(arguments: Sequence[str]) -> NoReturn:
    """Run the command of these arguments without --supervise; exit with its code."""
    from streaming.supervise import Supervisor

    kept = [argument for argument in arguments if argument != _SUPERVISE]
    raise typer.Exit(Supervisor(lambda _restarts: [sys.executable, "-m", "fairlead", *kept]).run())
