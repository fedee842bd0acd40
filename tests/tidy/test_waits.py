"""Tests wait with a bound: `tests/kit/awaiting.py` tells what was seen last."""

import ast

import pytest

from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.tidy.source_tree import ROOT, named, python_files, syntax
from tests.tidy.waits import unbounded

OWN = {ROOT / "tests" / name for name in ("kit/awaiting.py", "tidy/waits.py", "tidy/test_waits.py")}


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(command, check=True)",
        "thread.join()",
        "process.communicate()",
        "with subprocess.Popen(command) as process: pass",
        "while not there(): time.sleep(0.1)",
    ],
)
def test_an_unbounded_wait_is_found(source: str) -> None:
    """The search finds each wait that it is there to find."""
    assert list(unbounded(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(command, timeout=9)",
        "', '.join(names)",
        "process.communicate(timeout=9)",
        "with child_process(command) as process: pass",
        "while found: found.pop()",
    ],
)
def test_a_bounded_wait_is_left_alone(source: str) -> None:
    """The search leaves alone what has a bound."""
    assert not list(unbounded(ast.parse(source)))


def test_no_test_waits_without_a_bound() -> None:
    """No test waits without a bound; tests.kit.awaiting has what to use instead."""
    files = [path for path in python_files("tests", "client/tests") if path not in OWN]
    assert files
    found = [
        f"{named(path)}:{line} {remedy}"
        for path in files
        for line, remedy in unbounded(syntax(path))
    ]
    assert found == []


def test_what_was_seen_is_told() -> None:
    """Who waits in vain says what was seen last; nobody may wait longer than the longest time."""
    seen = iter(range(100))
    with pytest.raises(TimeoutError, match=r"no seventh within 0\.01 s; seen last: [1-9]"):
        await_seen(lambda: next(seen), lambda _: False, what="seventh", seconds=0.01, pause=0.02)
    with pytest.raises(AssertionError, match="no test waits so long"):
        await_seen(lambda: True, what="it", seconds=LONGEST_SECONDS + 1)
    assert await_seen(lambda: 7, what="it", seconds=0) == 7
