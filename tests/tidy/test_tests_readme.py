"""tests/README.md names what there is, and every folder and part of the kit is named."""

import re
import tomllib

from tests.tidy.source_tree import ROOT

PAGE = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`((?:client/)?tests(?:/\w+)*(?:\.py)?)`")
PART = re.compile(r"`(?:tests/kit/)?(\w+)\.py`")
KIT = ROOT / "tests" / "kit"
NO_ROOMS = {"kit", "fixtures"}


def test_every_place_of_the_page_is_there() -> None:
    """Each folder and file that the page names exists."""
    places = PLACE.findall(PAGE)
    assert len(places) > 40
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_every_folder_of_tests_is_named() -> None:
    """A reader finds each folder with tests on the page."""
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in KIT.parent.rglob("test_*.py")}
    assert [name for name in sorted(folders - NO_ROOMS) if f"`tests/{name}`" not in PAGE] == []


def test_the_kit_of_the_page_is_the_kit() -> None:
    """Each part of the kit is on the page, and each one on the page is there."""
    named = set(PART.findall(PAGE.partition("## The kit")[2]))
    assert named - {"kafka"} == {path.stem for path in KIT.glob("*.py")}


def test_the_marks_of_the_page_are_the_marks() -> None:
    """Each mark of pyproject.toml has a row."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    marks = [re.split(r"\W", mark)[0] for mark in project["tool"]["pytest"]["markers"]]
    assert sorted(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == sorted(marks)
