"""The command of the demo's consumers in Java, where the checkout with their sources is."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

__all__ = ["java_command"]

_BUILDER: Final = "tools.java_client"
_PROGRAM: Final = "JournaledConsumer"


def java_command() -> Sequence[str] | None:
    """Return the command; None: only a checkout has the consumer.

    It is built first, if something has changed since.

    Raises:
        CalledProcessError: it could not be built; the builder has said why.
    """
    try:
        found = importlib.util.find_spec(_BUILDER)
    except ModuleNotFoundError:
        found = None
    if found is None:
        return None
    made = subprocess.run(
        [sys.executable, "-m", _BUILDER, "--command", _PROGRAM],
        stdout=subprocess.PIPE,
        check=True,
    )
    command: list[str] = json.loads(made.stdout)
    return command
