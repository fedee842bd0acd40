"""The commands of the demo's consumers in other languages, where the checkout with them is."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

__all__ = ["foreign_commands"]

_BUILDERS: Final[Mapping[str, Sequence[str]]] = {
    "Java": ("tools.java_client", "--command", "JournaledConsumer"),
    "Node": ("tools.node_consumer",),
}
"""Language -> the module that prepares the consumer and prints its command, and its arguments."""


def foreign_commands(say: Callable[[str], None]) -> Mapping[str, Sequence[str]]:
    """Return the commands, by language; each consumer is prepared first, if it has changed.

    Says why a language is not among them: only a checkout has the consumers, and Node's packages
    come from a registry.
    """
    if not _is_here("tools.java_client"):
        say("no checkout is here: all consumers are in Python")
        return {}
    commands: dict[str, Sequence[str]] = {}
    for language, builder in _BUILDERS.items():
        made = subprocess.run([sys.executable, "-m", *builder], stdout=subprocess.PIPE, check=False)
        if made.returncode == 0:
            commands[language] = json.loads(made.stdout)
        else:
            say(f"no consumer is in {language}: it could not be prepared")
    return commands


def _is_here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
