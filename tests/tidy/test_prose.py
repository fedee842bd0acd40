"""Where a reader reads, sentences are whole and have an actor."""

from pathlib import Path

import pytest

from tests.tidy.prose import prose_faults
from tests.tidy.source_tree import ROOT, named, text_files

GOLDEN = {
    ("docs/pitfalls.md", "is told"),
    ("proof/fairlead_proof/pitfalls/handovers.py", "is told"),
    ("proof/fairlead_proof/pitfalls/members.py", "is told"),
    ("proof/fairlead_proof/pitfalls/ours/world.py", "is told"),
}
"""Texts that golden stories hold byte for byte."""

OWN = {ROOT / "tests" / "tidy" / name for name in ("prose.py", "test_prose.py")}


@pytest.mark.parametrize(
    "text",
    [
        '"""Nobody is told of it."""',
        "# The queue, of\n# which nothing is known.",
        'HELP = "it Is told"',
        '"""A topic that was made anew."""',
        '"""One (of two."""',
        '"""What one `step returns."""',
        '"""No end"""',
        '"""A whole line.\n\nNor is this one.\n"""',
    ],
)
def test_a_fault_is_found(tmp_path: Path, text: str) -> None:
    """The search finds each fault that it is there to find."""
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    assert list(prose_faults(path))


@pytest.mark.parametrize(
    "text",
    [
        '"""The engine tells the client (once)."""',
        '"""A whole line.\n\nNormal words follow.\n"""',
        '"""Is it told?"""',
        "of, which = 1, 2",
    ],
)
def test_plain_prose_is_left_alone(tmp_path: Path, text: str) -> None:
    """The search leaves plain sentences alone."""
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    assert not list(prose_faults(path))


def test_code_of_a_page_is_left_alone(tmp_path: Path) -> None:
    """What stands in a fence of a page is no prose, and the lines after it keep their numbers."""
    path = tmp_path / "page.md"
    path.write_text("# Page\n\n```sh\nof which\n```\n\nHe is told.\n", encoding="utf-8")
    assert list(prose_faults(path)) == [(7, "is told")]


def test_no_file_has_a_fault() -> None:
    """Every Python file and every page of the repository is plain, but for golden texts."""
    files = [path for path in text_files() if path.suffix in (".py", ".md") and path not in OWN]
    assert files
    faults = [
        f"{named(path)}:{line} {what}"
        for path in files
        for line, what in prose_faults(path)
        if (named(path), what) not in GOLDEN
    ]
    assert faults == []
