"""A rule that is named by its number stands on a page of docs/, and a test proves it."""

import ast
import re
from itertools import count

import pytest

from tests.tidy.source_tree import ROOT, functions, named, python_files, text_files

NAMED = re.compile(r"\b[Rr]ules?\s+\(?([A-Z]\d+(?:(?:,| and| to)\s+[A-Z]\d+)*)")
NUMBER = re.compile(r"[A-Z]\d+")
PAGES = {
    "docs/handover.md": re.compile(r"^- \*\*(H\d+)\*\* ", re.MULTILINE),
    "docs/protocol.md": re.compile(r"^\| (C\d+) \| ", re.MULTILINE),
}


def _stated(page: str) -> list[str]:
    """Return the numbers of the rules of a page, in its order."""
    return PAGES[page].findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("(rule H3).", ["H3"]),
        ("each rule (H1 to H7 of", ["H1", "H7"]),
        ("the rules\nC1 to C13 of", ["C1", "C13"]),
        ("rules H14, H15", ["H14", "H15"]),
    ],
)
def test_each_way_to_name_a_rule_is_found(text: str, numbers: list[str]) -> None:
    """The search finds each way to name a rule."""
    match = NAMED.search(text)
    assert match is not None
    assert NUMBER.findall(match[1]) == numbers


@pytest.mark.parametrize("page", PAGES)
def test_the_rules_of_a_page_are_numbered_without_a_gap(page: str) -> None:
    """The rules of a page are numbered without a gap."""
    numbers = _stated(page)
    assert numbers
    letter = numbers[0][0]
    assert numbers == [f"{letter}{number}" for number, _ in zip(count(1), numbers, strict=False)]


def test_every_named_rule_is_stated() -> None:
    """Wherever a rule is named, a page states it."""
    stated = {number for page in PAGES for number in _stated(page)}
    found = [
        f"{named(path)} {number}"
        for path in text_files()
        if path.suffix in (".py", ".md") and path.name != "test_named_rules.py"
        for match in NAMED.finditer(path.read_text(encoding="utf-8"))
        for number in NUMBER.findall(match[1])
        if number not in stated
    ]
    assert found == []


def test_each_rule_is_proved_by_a_test() -> None:
    """The docstring of at least one test names each rule: that test proves it."""
    proved = {
        number
        for path in python_files("tests", "client/tests")
        for function in functions(path)
        if function.name.startswith("test_")
        for match in NAMED.finditer(ast.get_docstring(function) or "")
        for number in NUMBER.findall(match[1])
    }
    assert [rule for page in PAGES for rule in _stated(page) if rule not in proved] == []


def test_each_counter_example_names_its_rules() -> None:
    """The column *rules* of the counter-examples has rules that a page states, in each row."""
    table = (ROOT / "docs" / "handover.md").read_text("utf-8").partition("| rules | would end")[2]
    rows = [line.split(" | ")[1] for line in table.partition("\n\n")[0].splitlines()[2:]]
    stated = {rule for page in PAGES for rule in _stated(page)}
    assert len(rows) > 40
    assert [row for row in rows if not row or not {*row.split(", ")} <= stated] == []
