"""How the command line starts, and how it ends."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

import fairlead
from fairlead.cli.commands import COMMANDS, CommandEntry
from fairlead.cli.lazy import load_command
from fairlead.cli.main import main
from fairlead.errors import ExitCode
from tests.kit.awaiting import LONGEST_SECONDS

PANELS = {
    "Run": ["run", "serve", "bridge", "doctor"],
    "Ask": ["group", "observe", "watch", "explain", "moves"],
    "Change": ["plan", "apply", "offsets", "adopt", "release"],
    "Judge": ["verify", "replay"],
}
RARER = [
    *("config", "token", "setup", "record", "rejects", "route", "broker", "rocketmq", "demo"),
    *("demo-rocketmq", "proof"),
]


@pytest.fixture(autouse=True)
def failing_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the commands of tests.cli.failing into the table."""
    monkeypatch.setitem(COMMANDS, "failing", CommandEntry("tests.cli.failing:app", "Fail."))
    monkeypatch.setitem(COMMANDS, "single", CommandEntry("tests.cli.failing:single", "Count."))
    monkeypatch.setitem(COMMANDS, "absent", CommandEntry("tests.cli.absent:app", "Not there."))


def _run(arguments: Sequence[str]) -> int:
    """Run the command line in this process and return its exit code."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    code = end.value.code
    assert isinstance(code, int)
    return code


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["failing", "refuse"], 3, "error: java: none was found\n  install one\n"),
        (["failing", "superseded"], 5, "error: generation 4 has taken over\n"),
        (["failing", "plain"], 2, "error: the topic: is empty\n"),
    ],
)
def test_an_error_is_a_message_with_remedy_and_exit_code(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error of ours is one message and its remedy on the standard error, and its exit code."""
    assert _run(arguments) == code
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", message)


def test_a_defect_shows_its_traceback_and_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    """An exception nobody expected shows its traceback and has a code of its own."""
    assert _run(["failing", "defect"]) == ExitCode.DEFECT
    error = capsys.readouterr().err
    assert "ZeroDivisionError: nobody expected this" in error
    assert error.endswith("please report the lines above\n")


def test_ctrl_c_ends_with_130() -> None:
    """Ctrl-C ends with 130, as shells expect."""
    assert _run(["failing", "interrupted"]) == ExitCode.INTERRUPTED


@pytest.mark.parametrize("code", [0, 1, 6])
def test_a_command_may_end_with_its_own_code(code: int) -> None:
    """A command may end with a code of its own."""
    assert _run(["failing", "verdict", "--code", str(code)]) == code


def test_a_function_of_the_table_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """A function in the table is a command with its options."""
    assert _run(["single", "--count", "21"]) == ExitCode.OK
    assert capsys.readouterr().out == "42\n"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["faling"], "Did you mean 'failing'?"),
        (["resume", "orders"], "Did you mean 'group resume'?"),
        (["start"], "Did you mean 'broker start' or 'rocketmq start'?"),
        (["single", "--cuont", "1"], "No such option"),
        (["single", "--count", "x"], "Invalid value"),
    ],
)
def test_an_unreadable_command_line_ends_with_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command line that cannot be read ends with 2 and says where."""
    assert _run(arguments) == ExitCode.USAGE
    assert words in capsys.readouterr().err


def test_help_imports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Help lists a command whose module is not there, because it imports none."""
    assert _run(["--help"]) == ExitCode.OK
    assert "absent" in capsys.readouterr().out


def test_help_shows_what_operators_need(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each panel has its commands in a line each, and words below name the rarer ones."""
    monkeypatch.setenv("COLUMNS", "80")
    assert _run(["--help"]) == ExitCode.OK
    text = capsys.readouterr().out
    panels = {panel: text.partition(f"─ {panel} ─")[2].partition("╰")[0] for panel in PANELS}
    shown = {
        panel: [line.split()[1] for line in block.splitlines()[1:] if line.startswith("│")]
        for panel, block in panels.items()
    }
    assert shown == PANELS
    rarer, _, rest = text.partition(" More: ")[2].partition("\n ".ljust(81) + "\n")
    assert rarer.split() == ", ".join(RARER).split()
    assert "fairlead COMMAND --help" in rest
    known = [name for names in PANELS.values() for name in names] + RARER
    assert [name for name, entry in COMMANDS.items() if entry.panel] == known


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is that of the package."""
    assert _run(["--version"]) == ExitCode.OK
    assert capsys.readouterr().out == f"fairlead {fairlead.__version__}\n"


def test_the_package_runs_as_a_module() -> None:
    """The package runs as a module."""
    done = subprocess.run(
        [sys.executable, "-m", "fairlead", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    assert done.stdout == f"fairlead {fairlead.__version__}\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command of the table is there and explains itself."""
    assert load_command(name, COMMANDS[name]).name == name
    assert _run([name, "--help"]) == ExitCode.OK
    assert f"fairlead {name}" in capsys.readouterr().out


def test_help_fits_its_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paragraphs of a help text are filled up to the terminal's width, whatever the source has."""
    monkeypatch.setenv("COLUMNS", "80")
    assert _run(["run", "--help"]) == 0
    words = capsys.readouterr().out
    assert "explains the other  \n codes. With --supervise a parent process" in words
    assert _run(["doctor", "--help"]) == 0
    words = capsys.readouterr().out
    # No word of a role is cut by the frame.
    assert {"engine,", "bridge,", "client,", "producer,", "reader,", "operator,", "gateway."} <= {
        *words.split()
    }
