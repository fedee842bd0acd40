"""docs/logging.md has every event of the code, and no other."""

import ast
import re
from pathlib import Path

from fairlead.logs.tidying import REPEATING

ROOT = Path(__file__).parents[2]
ROOMS = (
    "streaming",
    *(f"fairlead/{room}" for room in ("bridges", "gateway", "http", "kafka", "native", "serve")),
)
METHODS = {"info", "warning", "error", "exception"}


def _events() -> dict[str, str]:
    """Return each event that a process of ours may log, and where."""
    found = {}
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="log"), attr=method),
                    args=[event, *_],
                ) if method in METHODS:
                    names = _names(event)
                    assert names, f"{path}:{node.lineno}: no event can be told from this call"
                    found.update(dict.fromkeys(names, str(path.relative_to(ROOT))))
    return found


def _names(event: ast.expr) -> list[str]:
    """Return the events that an argument may stand for; none if it is not written out."""
    match event:
        case ast.Constant(value=str(name)):
            return [name]
        case ast.IfExp(body=one, orelse=other):
            return [*_names(one), *_names(other)]
    return []


def _documented() -> set[str]:
    """Return the events in the first columns of the page's tables."""
    page = (ROOT / "docs" / "logging.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \| \w+ \|", page, re.MULTILINE)
    return {event for row in rows for event in re.findall(r"`([^`]+)`", row)}


def test_every_logged_event_is_on_the_page() -> None:
    """What is logged is explained, and what is explained is logged."""
    events = _events()
    assert len(events) > 30
    unexplained = {event: place for event, place in events.items() if event not in _documented()}
    assert unexplained == {}
    assert _documented() - events.keys() == set()


def test_every_limited_event_is_logged_by_that_name() -> None:
    """What is limited is logged by somebody under that very name."""
    assert REPEATING.keys() <= _events().keys()
