"""The exit codes that are promised are those that are given."""

import re
from pathlib import Path

import pytest

from fairlead import errors
from fairlead.errors import ExitCode, FairleadError
from streaming.supervise import FINAL_CODES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "exit-codes.md"
RUNNING = PAGE.with_name("running.md")
ROW = re.compile(r"^\| (\d+) \| (\w+) \|", re.MULTILINE)


def test_the_page_lists_every_code_in_order() -> None:
    """docs/exit-codes.md lists every code with its name, in order."""
    listed = [(int(code), name) for code, name in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    assert listed == [(code.value, code.name.lower()) for code in ExitCode]


@pytest.mark.parametrize(
    "error",
    [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, FairleadError)
    ],
)
def test_every_error_has_a_code_and_a_remedy(error: type[FairleadError]) -> None:
    """Every error has a code that is no success, and shows its message and remedy."""
    failure = error("the field: is wrong", remedy="write it right")
    assert failure.exit_code in set(ExitCode) - {ExitCode.OK}
    assert failure.lines() == ["the field: is wrong", "  write it right"]
    assert str(failure) == "the field: is wrong (write it right)"
    assert str(error("alone")) == "alone"


def test_what_is_never_restarted() -> None:
    """Both pages keep a service manager from restarting exactly what `--supervise` passes on."""
    final = sorted(FINAL_CODES)
    kept = re.search(r"RestartPreventExitStatus=([\d ]+)", RUNNING.read_text(encoding="utf-8"))
    assert kept is not None
    assert [int(code) for code in kept[1].split()] == final
    *codes, last = map(str, final)
    passed_on = f"`--supervise` passes {', '.join(codes)} and {last} on"
    assert passed_on in PAGE.read_text(encoding="utf-8")
