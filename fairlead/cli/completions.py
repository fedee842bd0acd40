"""Values that a shell completes: fixed names, and the groups of `fairlead serve`.

A shell asks at each key, so this file imports nothing heavy and waits for nobody: if `serve` does
not answer at once, no group is offered.
"""

import json
import os
import tomllib
from collections.abc import Callable
from typing import Final

__all__ = ["complete_group", "complete_profile", "complete_strategy", "complete_word"]

_SECONDS_MAX: Final = 0.4
_URL_VARIABLE: Final = "FAIRLEAD__SERVE__URL"


def complete_group(incomplete: str) -> list[str]:
    """Return the groups with this prefix, by `fairlead serve`."""
    from urllib.request import ProxyHandler, build_opener

    try:
        with build_opener(ProxyHandler({})).open(
            f"{_serve_url()}/api/v1/groups", timeout=_SECONDS_MAX
        ) as answer:
            groups = json.load(answer)["groups"]
        names = [str(each["group"]) for each in groups]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return sorted(name for name in names if name.startswith(incomplete))


def complete_profile(incomplete: str) -> list[str]:
    """Return the profiles of conf/ with this prefix."""
    from fairlead.conf_folder import profiles

    return [name for name in profiles() if name.startswith(incomplete)]


def complete_strategy(incomplete: str) -> list[str]:
    """Return the built-in strategies with this prefix, in either case."""
    from strategies.registry import STRATEGIES

    return sorted(name for name in STRATEGIES if name.startswith(incomplete.upper()))


def complete_word(*words: str) -> Callable[[str], list[str]]:
    """Return a function that completes one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def _serve_url() -> str:
    """Return the address of `serve`: of the environment, else the default. No file is read."""
    from fairlead.conf_folder import conf_directory

    named = os.environ.get(_URL_VARIABLE)
    if named is not None:
        return named
    text = (conf_directory() / "default.toml").read_text(encoding="utf-8")
    url: str = tomllib.loads(text)["serve"]["url"]
    return url
