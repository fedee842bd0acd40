"""`--supervise` of a bridge: this command again as a child, until it ends for good."""

import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

__all__ = ["supervised"]

_SUPERVISE = "--supervise"


def supervised(arguments: Sequence[str]) -> NoReturn:
    """Run the command of these arguments without the supervisor; leave with its code."""
    from streaming.supervise import Supervisor

    kept = [argument for argument in arguments if argument != _SUPERVISE]
    raise typer.Exit(Supervisor(lambda _restarts: [sys.executable, "-m", "fairlead", *kept]).run())
