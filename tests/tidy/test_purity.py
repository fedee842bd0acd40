"""Core and strategies give the same output for the same input, in every process."""

import ast
import sys
from collections.abc import Iterator

import pytest

from tests.tidy.purity import impurities
from tests.tidy.source_tree import PURE, named, python_files, syntax

FORBIDDEN = frozenset(
    {"time", "datetime", "random", "secrets", "uuid", "os", "threading", "socket"}
)

EXCEPTIONS = {("strategies/own_strategies.py", "fairlead.errors")}
"""It loads what a user names in a setting, and tells the user what is wrong with that."""


@pytest.mark.parametrize(
    "source",
    [
        "hash(queue)",
        "id(queue)",
        "datetime.now()",
        "time.time()",
        "for queue in set(queues): pass",
        "[queue for queue in {1, 2}]",
        "{queue: 1 for queue in frozenset(queues)}",
        "sum(queue for queue in {abs(q) for q in queues})",
    ],
)
def test_an_impure_construct_is_found(source: str) -> None:
    """The search finds each construct that it is there to find."""
    assert list(impurities(ast.parse(source)))


@pytest.mark.parametrize(
    "source", ["queue.hash", "sorted(set(queues))", "for q in sorted({1}): pass", "member.clock_ms"]
)
def test_a_harmless_construct_is_left_alone(source: str) -> None:
    """The search leaves harmless constructs alone."""
    assert not list(impurities(ast.parse(source)))


def test_the_pure_rooms_have_no_impure_construct() -> None:
    """Core and strategies ask neither clock nor address, and iterate no set as it comes."""
    files = python_files(*PURE)
    assert files
    found = [
        f"{named(path)}:{line} {what}" for path in files for line, what in impurities(syntax(path))
    ]
    assert found == []


def _imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, module) for each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "."


def test_the_pure_rooms_import_no_clock() -> None:
    """Core and strategies import the standard library and themselves, and of it no clock."""
    allowed = (sys.stdlib_module_names - FORBIDDEN) | {"strategies"}
    found = [
        f"{named(path)}:{line} {module}"
        for path in python_files(*PURE)
        for line, module in _imported(syntax(path))
        if module.split(".")[0] not in allowed
        and not module.startswith("fairlead.core")
        and (named(path), module) not in EXCEPTIONS
    ]
    assert found == []
