"""Every decision is a page of the same shape, and code, docs and pages find each other."""

import re
from pathlib import Path

import pytest

from tests.tidy.source_tree import ROOT, named, text_files

FOLDER = ROOT / "docs" / "adr"
INDEX = FOLDER / "README.md"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path != INDEX)
HEADINGS = ["Status", "Context", "Decision", "Rejected", "Consequences"]
NUMBER = re.compile(r"ADR\s+(\d{4})\b")
PAGE_NAME = re.compile(r"(?:adr/|\]\()(\d{4}-[a-z0-9-]+\.md)")


def test_numbers_of_decisions_are_given_once() -> None:
    """Decisions have four-digit numbers, each given once."""
    numbers = [match[1] for page in PAGES if (match := re.match(r"(\d{4})-[a-z0-9-]+$", page.stem))]
    assert len(numbers) == len(PAGES)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_decision_has_its_headings(page: Path) -> None:
    """A decision has the headings that docs/adr/README.md names, in their order."""
    assert re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) == HEADINGS


def test_the_index_lists_every_decision() -> None:
    """The index lists every decision once, by its number and with the title of its page."""
    listed = re.findall(
        r"^- \[(\d{4})\]\((.+)\) (.+)$", INDEX.read_text(encoding="utf-8"), re.MULTILINE
    )
    titles = {page: page.read_text(encoding="utf-8").splitlines()[0] for page in PAGES}
    assert sorted((name, f"# {number} {title}") for number, name, title in listed) == [
        (page.name, title) for page, title in titles.items()
    ]


def test_every_decision_is_mentioned() -> None:
    """Something outside docs names each decision, so that whoever reads it finds the page."""
    outside = (path for path in text_files() if not path.is_relative_to(ROOT / "docs"))
    mentioned = {
        number for path in outside for number in NUMBER.findall(path.read_text(encoding="utf-8"))
    }
    assert [page.name for page in PAGES if page.name[:4] not in mentioned] == []


def test_every_mention_of_a_decision_has_a_page() -> None:
    """Every decision that a text names has a page, under this number and this file's name."""
    numbers = {page.name[:4] for page in PAGES}
    names = {page.name for page in PAGES}
    found = []
    for path in text_files():
        text = path.read_text(encoding="utf-8")
        found += [(named(path), number) for number in NUMBER.findall(text) if number not in numbers]
        found += [(named(path), name) for name in PAGE_NAME.findall(text) if name not in names]
    assert found == []
