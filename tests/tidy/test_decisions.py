"""Every decision is a page of the same shape."""

import re
from pathlib import Path

import pytest

from tests.tidy.source_tree import ROOT

PAGES = sorted(path for path in (ROOT / "docs" / "adr").glob("*.md") if path.name != "README.md")
HEADINGS = ["Status", "Context", "Decision", "Rejected", "Consequences"]


def test_numbers() -> None:
    """Decisions have four-digit numbers, each given once."""
    numbers = [match[1] for page in PAGES if (match := re.match(r"(\d{4})-[a-z0-9-]+$", page.stem))]
    assert len(numbers) == len(PAGES)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_headings(page: Path) -> None:
    """A decision has the headings that docs/adr/README.md names, in their order."""
    assert re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE) == HEADINGS
