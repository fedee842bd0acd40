"""Small rules of form that no linter knows."""

import ast
import re

from tests.tidy.source_tree import functions, named, python_files, syntax, text_files

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
H1 = re.compile(r"^# \S", re.MULTILINE)
EMPTY_NAMES = frozenset({"utils", "util", "common", "helpers", "helper", "manager", "misc"})


def test_every_test_says_which_fact_it_proves() -> None:
    """Every test says in one paragraph which fact it proves."""
    silent = []
    for path in python_files("tests", "client/tests", "benchmarks"):
        for function in functions(path):
            if not function.name.startswith("test"):
                continue
            fact = ast.get_docstring(function) or ""
            if not fact.endswith(".") or "\n\n" in fact:
                silent.append(f"{named(path)}:{function.lineno} {function.name}")
    assert silent == []


def test_no_test_imports_from_another_test() -> None:
    """What two tests need stands in tests/kit or beside them, in a module without tests."""
    found = [
        f"{named(path)}:{node.lineno} {node.module}"
        for path in python_files("tests", "client/tests")
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.ImportFrom) and ".test_" in (node.module or "")
    ]
    assert found == []


def test_a_package_decides_nothing() -> None:
    """A package's __init__ re-exports and decides nothing; the client's does so when asked."""
    found = []
    for path in python_files("fairlead", "strategies", "streaming", "sinks", "client", "proof"):
        if path.name != "__init__.py" or named(path) == "client/fairlead_client/__init__.py":
            continue
        for node in syntax(path).body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            names = [target.id for target in getattr(node, "targets", []) if hasattr(target, "id")]
            if not (
                docstring
                or isinstance(node, ast.Import | ast.ImportFrom)
                or names in (["__all__"], ["__version__"])
            ):
                found.append(f"{named(path)}:{node.lineno}")
    assert found == []


def test_a_module_is_named_after_what_it_decides() -> None:
    """A module is named after what it decides, not after a drawer."""
    assert [named(path) for path in python_files() if path.stem in EMPTY_NAMES] == []


def test_one_place_asks_kafka_for_a_position() -> None:
    """Only one piece asks kafka-python for a position, which is None where an order is expected."""
    asked = re.compile(r"consumer\.position\(")
    found = [
        named(path)
        for path in python_files("fairlead", "streaming", "sinks", "benchmarks")
        if asked.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["fairlead/kafka/reading_position.py"]


def test_a_page_has_one_title() -> None:
    """A markdown file has one title."""
    pages = [path for path in text_files() if path.suffix == ".md"]
    assert pages
    titles = {
        named(path): len(H1.findall(FENCE.sub("", path.read_text(encoding="utf-8"))))
        for path in pages
    }
    assert {name: count for name, count in titles.items() if count != 1} == {}
