"""Where a test waits without a bound."""

import ast
from collections.abc import Iterator

__all__ = ["unbounded"]

_RUNNING = {"run", "check_call", "check_output"}


def unbounded(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, remedy) of each wait that nothing ends but what it waits for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _of_call(node, node.func)
        elif isinstance(node, ast.With):
            for item in node.items:
                if _is(item.context_expr, "Popen"):
                    yield node.lineno, "child_process in place of Popen"
        elif (
            isinstance(node, ast.While) and _calls(node, "sleep") and not _calls(node, "monotonic")
        ):
            yield node.lineno, "await_seen in place of a loop that sleeps"


def _of_call(call: ast.Call, called: ast.Attribute) -> Iterator[tuple[int, str]]:
    of_subprocess = isinstance(called.value, ast.Name) and called.value.id == "subprocess"
    if of_subprocess and called.attr in _RUNNING and not _has_timeout(call):
        yield call.lineno, f"timeout= for subprocess.{called.attr}"
    elif called.attr == "join" and not call.args and _is_of_thread(called.value):
        yield call.lineno, "ended(thread) in place of join()"
    elif called.attr == "communicate" and not _has_timeout(call) and len(call.args) <= 1:
        yield call.lineno, "timeout= for communicate()"


def _has_timeout(call: ast.Call) -> bool:
    return any(keyword.arg == "timeout" for keyword in call.keywords)


def _is(node: ast.expr, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    )


def _sleeps_for_ever(loop: ast.While) -> bool:
    return _calls(loop, "sleep") and not _calls(loop, "monotonic")


def _calls(loop: ast.While, name: str) -> bool:
    return any(_is(node, name) for node in ast.walk(loop) if isinstance(node, ast.expr))


def _is_of_thread(receiver: ast.expr) -> bool:
    return ast.unparse(receiver).lower().endswith("thread")
