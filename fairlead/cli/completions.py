"""What a shell completes as values: names that are written down here, and groups that `serve` has.

A shell asks with each press of a key, so nothing heavy is imported, and nobody is waited for long:
a view that does not answer at once means that no group is offered.
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
    """Return the groups that begin so, as the view of all groups knows them."""
    from urllib.request import ProxyHandler, build_opener

    try:
        with build_opener(ProxyHandler({})).open(
            f"{_serve_url()}/api/v1/groups", timeout=_SECONDS_MAX
        ) as answer:
            found = json.load(answer)["groups"]
        names = [str(each["group"]) for each in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return sorted(name for name in names if name.startswith(incomplete))


def complete_profile(incomplete: str) -> list[str]:
    """Return the profiles of conf/ that begin so."""
    from fairlead.conf_folder import profiles

    return [name for name in profiles() if name.startswith(incomplete)]


def complete_strategy(incomplete: str) -> list[str]:
    """Return the strategies that begin so, in either case; one's own are not known here."""
    from strategies.registry import STRATEGIES

    return sorted(name for name in STRATEGIES if name.startswith(incomplete.upper()))


def complete_word(*words: str) -> Callable[[str], list[str]]:
    """Return what completes one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def _serve_url() -> str:
    """Return where the view is: by the environment, else by default. Files are not asked."""
    from fairlead.conf_folder import conf_directory

    named = os.environ.get(_URL_VARIABLE)
    if named is not None:
        return named
    text = (conf_directory() / "default.toml").read_text(encoding="utf-8")
    url: str = tomllib.loads(text)["serve"]["url"]
    return url
