"""docs/rocketmq.md names modules and tests that there are, and says of each row how it is."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.tidy.source_tree import ROOT

PAGE = ROOT / "docs" / "rocketmq.md"
VERDICTS = ("Same", "Differs", "Replaced", "Out of scope")
ROW = re.compile(r"^\| (?!in RocketMQ|when |---)(.+) \|$", re.MULTILINE)


def _rows(columns: int) -> list[list[str]]:
    """Return the rows of tables with so many columns; 0: all."""
    rows = [match[1].split(" | ") for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]
    return [row for row in rows if columns in (0, len(row))]


def _cells(text: str) -> list[str]:
    """Return what stands in backticks and is a path, with or without a test's name."""
    return [cell for cell in re.findall(r"`([^`]+)`", text) if "/" in cell]


@cache
def _functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _is_there(proof: str) -> bool:
    path, _, name = proof.partition("::")
    place = ROOT / path
    return place.is_file() and (not name or name in _functions(place))


def test_every_row_says_how_it_is() -> None:
    """A row has one of the words of the page's head, and one that is out of scope its reason."""
    rows = _rows(4)
    assert len(rows) > 60
    assert len(rows) + len(_rows(3)) == len(_rows(0)), "a row has too many cells, or too few"
    for name, _, how, _ in rows:
        words = re.findall(r"\*\*([A-Z][a-z ]+)[.:]?\*\*", how)
        assert words, name
        assert set(words) <= set(VERDICTS), name
        assert words[0] != "Out of scope" or len(how) > len("**Out of scope.**") + 10, name


def test_every_module_is_there() -> None:
    """What is here is where the page says, and whatever is here is proved."""
    for name, here, how, proof in _rows(4):
        modules = _cells(here)
        assert [module for module in modules if not (ROOT / module).is_file()] == [], name
        if not how.startswith("**Out of scope"):
            assert modules, name
            assert _cells(proof), name


def test_every_proof_is_there() -> None:
    """A test that was renamed or removed is not told of any more."""
    proofs = [proof for row in (*_rows(4), *_rows(3)) for proof in _cells(row[-1])]
    assert len(proofs) > 80
    assert [proof for proof in proofs if not _is_there(proof)] == []


def test_a_proof_that_is_not_there_is_found() -> None:
    """The look-up is not blind."""
    assert _is_there("tests/tidy/test_rocketmq_page.py::test_every_proof_is_there")
    assert not _is_there("tests/tidy/test_rocketmq_page.py::test_nothing")
    assert not _is_there("tests/tidy/test_no_page.py")
