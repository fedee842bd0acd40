"""Whatever core and engine count has a metric that shows it; a log names a word that has none."""

import ast
import importlib
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest
import structlog

from fairlead.engine.quarantine import counted_name
from streaming.families import COUNTED
from streaming.metrics import OF_NOW, EngineMetrics

ROOT = Path(__file__).parents[2]
_NAME = re.compile(r"[a-z_]+(/|\Z)")


def _modules(folder: str) -> Iterator[tuple[ModuleType, ast.Module]]:
    for path in sorted((ROOT / "fairlead" / folder).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield importlib.import_module(name), ast.parse(path.read_text(encoding="utf-8"))


def _texts(node: ast.expr, module: ModuleType) -> list[str]:
    """Return the texts that an expression may be; what only a run can tell is an x."""
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, module), *_texts(node.orelse, module)]
    if isinstance(node, ast.JoinedStr):
        return [
            "".join(parts) for parts in product(*(_texts(each, module) for each in node.values))
        ]
    if isinstance(node, ast.FormattedValue):
        return _texts(node.value, module)
    known = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name):
        known = getattr(module, node.id, None)
    return [known if isinstance(known, str) else "x"]


def _keys(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield what stands in brackets after a name that ends in counts, and what it is updated by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("counts"):
            yield node.slice
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("counts.update"):
            yield from (each.elt for each in node.args if isinstance(each, ast.GeneratorExp))
            yield from (each.key for each in node.args if isinstance(each, ast.DictComp))
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            first = node.elts[0]
            if isinstance(first, ast.Constant) and "/" in str(first.value):
                yield first


def _of_core() -> Iterator[str]:
    for module, tree in _modules("core"):
        for key in _keys(tree):
            if isinstance(key, ast.Tuple):
                kinds, outcomes = (_texts(each, module) for each in key.elts)
                yield from (counted_name(*each) for each in product(kinds, outcomes))


def _of_engine() -> Iterator[str]:
    for module, tree in _modules("engine"):
        for key in _keys(tree):
            yield from (each for each in _texts(key, module) if _NAME.match(each) and each != "x")


COUNTS = sorted({*_of_core(), *_of_engine()})


def test_every_family_is_counted_and_every_count_has_a_family() -> None:
    """The words that core and engine count are those of the table and of the gauges, no others."""
    assert {each.partition("/")[0] for each in COUNTS} == {*COUNTED, *OF_NOW}


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_has_as_many_labels_as_its_family(name: str) -> None:
    """A word's labels are those of its family, so that its number is shown."""
    metrics = EngineMetrics("4.0.1")
    with structlog.testing.capture_logs() as logs:
        metrics.add_counts(0, {name: 1})
    assert logs == []


def test_a_word_of_no_family_is_logged_once() -> None:
    """A word that no metric shows is logged, once however often it is counted."""
    metrics = EngineMetrics("4.0.1")
    with structlog.testing.capture_logs() as logs:
        for number in range(3):
            metrics.add_counts(number, {"unheard/a": 1, "unheard/b": 1, "rows/read": 1})
    assert [(each["log_level"], each["word"]) for each in logs] == [("warning", "unheard")]
