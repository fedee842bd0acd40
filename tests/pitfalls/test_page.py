"""The page and its pictures are what the stories say.

``REWRITE_GOLDEN=1 pytest tests/pitfalls/test_page.py`` writes both.
"""

import os
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.pitfalls.page import MARK, all_runs, page
from tests.pitfalls.svg import svg_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = DOCS / "pitfalls"


def test_the_page_says_what_the_stories_say() -> None:
    """Every word and figure of the page, and every picture, comes from a story."""
    runs = all_runs()
    head, mark, _ = (DOCS / "pitfalls.md").read_text().partition(MARK)
    assert mark, "the page has no mark behind its head"
    written = {DOCS / "pitfalls.md": page(head, runs)}
    written |= {PICTURES / f"{each.pitfall.name}.svg": svg_of(each) for each in runs}
    if os.environ.get("REWRITE_GOLDEN"):
        PICTURES.mkdir(exist_ok=True)
        for path, text in written.items():
            path.write_text(text)
    for path, text in written.items():
        assert path.read_text() == text, path.name
    assert set(PICTURES.iterdir()) == written.keys() - {DOCS / "pitfalls.md"}


def test_every_picture_can_be_drawn() -> None:
    """Each picture is well-formed, and no bar stands outside of it."""
    for path in sorted(PICTURES.iterdir()):
        drawn = ET.fromstring(path.read_text())  # noqa: S314 - our own file
        _, _, width, height = map(float, drawn.attrib["viewBox"].split())
        bars = drawn.findall("{http://www.w3.org/2000/svg}rect")
        assert len(bars) > 4
        for bar in bars:
            place = {name: float(bar.get(name, 0)) for name in ("x", "y", "width", "height")}
            assert place["x"] + place["width"] <= width
            assert place["y"] + place["height"] <= height
