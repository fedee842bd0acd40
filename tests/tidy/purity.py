"""Finds what would make the same input give another output: clocks, addresses, set order."""

import ast
from collections.abc import Iterator

CLOCKS = frozenset({"now", "utcnow", "today", "time", "time_ns", "monotonic", "perf_counter"})
"""Attributes that, called, tell the hour: datetime.now(), time.time() and their kin."""

ADDRESSES = frozenset({"hash", "id"})
"""Builtins whose result differs between two processes."""

SETS = frozenset({"set", "frozenset"})


def impurities(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, what is wrong) for each construct that has no place in the pure rooms."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ADDRESSES:
                yield node.lineno, f"{node.func.id}() differs between processes"
            if isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS:
                yield node.lineno, f".{node.func.attr}() asks the time"
        if isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter):
            yield node.iter.lineno, "the order of a set is not fixed; sort it"


def _is_set(node: ast.expr) -> bool:
    """Tell whether an expression is a set at sight."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SETS
