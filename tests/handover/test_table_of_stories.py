"""The table of stories in docs/handover.md names tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = "tests/handover/"


def _named() -> list[tuple[str, str]]:
    """Return (file, beginning of a test's name) of everything in the table's last column."""
    text = (ROOT / "docs" / "handover.md").read_text(encoding="utf-8")
    found = []
    for row in text.splitlines():
        if row.count("|") != 5:
            continue
        file = ""
        for cell in re.findall(r"`([^`]+)`", row.split("|")[4]):
            path, _, name = cell.rpartition("::") if "::" in cell else ("", "", cell)
            if cell.endswith((".py", ".txt")):
                path, name = cell, ""
            file = path or file
            if file:
                found.append((file if "/" in file else FOLDER + file, name.rstrip("…")))
    return found


def test_every_test_of_the_table_exists() -> None:
    """A story that was renamed or removed is not told of any more."""
    named = _named()
    assert len(named) > 40
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).is_file()
        or (name and f"def {name}" not in (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []
