"""axe-core on a page: what shuts people out of it."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["shut_out"]

_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@cache
def _script() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def shut_out(page: "Page", *rules: str) -> list[str]:
    """Return what axe finds on the page as it stands: the rule, where, and the remedy.

    ``rules``: look for these alone; none: for all of WCAG 2.2 AA and of good practice.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_script())
    wanted = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": _TAGS}
    options = {"runOnly": wanted, "resultTypes": ["violations"]}
    found: dict[str, Any] = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
