"""What README.md and docs/ tell the reader to type is what the programs understand."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fairlead_client.produce.producer_settings import ProducerArguments
from fairlead_client.settings.client_settings import SettingsArguments
from fairlead_proof.cli.proof import PROOFS
from kafka.cli import admin, producer

from fairlead.cli.commands import COMMANDS
from fairlead.cli.lazy import load_command
from fairlead.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "client" / "README.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
ENDS = frozenset({"&", "&&", "|", ";"})
REDIRECTION = re.compile(r"\d?>>?|<")
SHELLS = ("", "console", "sh", "bash")


class Line(NamedTuple):
    """One command as a page has it: the page, and the words after the program's name."""

    page: str
    program: str
    words: tuple[str, ...]


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell line, without comments and redirections."""
    words: list[str] = []
    lexer = shlex.shlex(text.removeprefix("$ "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    skip = False
    for word in lexer:
        if word in ENDS:
            yield words
            words = []
        elif REDIRECTION.fullmatch(word):
            if words and words[-1] == "2":
                words.pop()
            skip = True
        elif skip:
            skip = False
        else:
            words.append(word)
    yield words


def _lines(page: Path) -> Iterator[Line]:
    """Yield every command of ours, of make and of kafka-python in a page's blocks and texts."""
    text = page.read_text(encoding="utf-8")
    shell = [body for language, body in BLOCK.findall(text) if language in SHELLS]
    said = [line for body in shell for line in body.splitlines()]
    said += INLINE.findall(BLOCK.sub("", text))
    name = page.relative_to(ROOT).as_posix()
    for line in said:
        try:
            commands = list(_commands(line))
        except ValueError:  # a quotation of something that is no shell line
            continue
        for words in commands:
            match words:
                case ["fairlead" | ".venv/bin/fairlead", *rest]:
                    yield Line(name, "fairlead", tuple(rest))
                case ["make", *rest]:
                    yield Line(name, "make", tuple(rest))
                case ["python", "-m", ("kafka.admin" | "kafka.producer") as module, *rest]:
                    yield Line(name, module, tuple(rest))


LINES = sorted({line for page in PAGES for line in _lines(page)})


def _of(program: str) -> pytest.MarkDecorator:
    """Return the mark that runs a test for each line of one program."""
    lines = [line for line in LINES if line.program == program]
    return pytest.mark.parametrize(
        "line", lines, ids=[f"{line.page}:{' '.join(line.words)}" for line in lines]
    )


@_of("fairlead")
def test_each_documented_command_takes_its_flags(line: Line) -> None:
    """Each command is there and takes the flags that a page gives it."""
    name, *rest = (word for word in line.words or ("--help",) if word != "…")
    if name.startswith("-"):
        return
    assert name in COMMANDS
    command: Any = load_command(name, COMMANDS[name])
    if name == "proof" and rest:
        name, *rest = rest
        command = load_command(name, PROOFS[name])
    if rest and hasattr(command, "commands"):
        verb, *rest = rest
        assert verb in command.commands
        command = command.commands[verb]
    if not hasattr(command, "commands"):
        # Reads the words as the command would, and runs nothing.
        command.make_context(name, rest)


@_of("make")
def test_each_documented_target_is_in_the_makefile(line: Line) -> None:
    """Each target that a page names is in the Makefile."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {word for word in line.words if "=" not in word} <= {*targets}


@pytest.mark.parametrize("line", [line for line in LINES if line.program.startswith("kafka.")])
def test_commands_of_the_kafka_client(line: Line) -> None:
    """The topic and the messages of the first steps are made by commands that there are."""
    parser = (admin if line.program == "kafka.admin" else producer).main_parser()
    parser.parse_args(list(line.words))


def test_the_first_steps_stand_in_working_order() -> None:
    """README has the steps in the order in which they work, all on the default address."""
    first = [line for line in _lines(ROOT / "README.md") if line.program != "make"]
    steps = [line.words[:2] for line in first if "kafka-1:9092" not in line.words]
    order = [
        ("broker", "start"),
        ("-b", "localhost:9092"),
        ("bridge", "kafka"),
        ("run", "--supervise"),
    ]
    assert [steps.index(step) for step in order] == sorted(steps.index(step) for step in order)
    started = next(line.words for line in first if line.words[:2] == ("broker", "start"))
    assert load_settings().kafka.bootstrap == f"localhost:{started[-1]}"


def test_the_python_of_the_pages_can_be_parsed() -> None:
    """The Python of the pages can be parsed, and gives clients settings that there are."""
    known = {"observer", "explicit_done", "offset_store", "on_assigned", "on_revoked"}
    known |= SettingsArguments.__annotations__.keys() | ProducerArguments.__annotations__.keys()
    given = set()
    for page in PAGES:
        for language, body in BLOCK.findall(page.read_text(encoding="utf-8")):
            tree = ast.parse(body if language == "python" else "")
            calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
            for call in calls:
                if getattr(call.func, "id", "") in ("Client", "Consumer", "Producer"):
                    given |= {keyword.arg for keyword in call.keywords}
    assert {"bootstrap", "group", "topics"} <= given <= known
