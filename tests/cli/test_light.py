"""Help and completion are quick because nothing heavy is imported for them, by any command."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.awaiting import LONGEST_SECONDS

HEAVY = (
    "pyspark", "py4j", "pandas", "pyarrow", "numpy", "kafka", "starlette", "uvicorn",
    "prometheus_client", "structlog", "pydantic_settings",
)  # fmt: skip

ALL_HELP = """
import contextlib, io, json, sys
import typer
from fairlead.cli.commands import COMMANDS
from fairlead.cli.lazy import load_command
from fairlead.cli.main import main
from fairlead_proof.cli.proof import PROOFS

def heavy_after(words):
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main([*words, "--help"])
    found = sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:]))
    for name in [name for name in sys.modules if name.partition(".")[0] in found]:
        del sys.modules[name]
    return found

shown = {"": heavy_after([])}
for name, entry in COMMANDS.items():
    shown[name] = heavy_after([name])
    for verb in getattr(load_command(name, entry), "commands", {}):
        shown[f"{name} {verb}"] = heavy_after([name, verb])
for name in PROOFS:
    shown[f"proof {name}"] = heavy_after(["proof", name])
print(json.dumps(shown))
"""

COMPLETING = """
import json, sys
from fairlead.cli.main import main
try:
    main([])
except SystemExit:
    heavy = sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:]))
    print(json.dumps(heavy), file=sys.stderr)
"""


def test_help_imports_no_heavy_library() -> None:
    """The help of no command and of no verb imports Spark, Kafka, pandas or a web server."""
    done = subprocess.run(
        [sys.executable, "-c", ALL_HELP, *HEAVY],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    shown = json.loads(done.stdout)
    assert len(shown) > 50
    assert {words: heavy for words, heavy in shown.items() if heavy} == {}


def test_help_is_quick() -> None:
    """The help of the whole takes no more than 0.3 s of a processor."""
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "fairlead", "--help"],
            capture_output=True,
            check=True,
            timeout=LONGEST_SECONDS,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(spent) <= 0.3


@pytest.mark.parametrize(
    "words, offered",
    [
        ("fairlead ", "rejects"),
        ("fairlead ", "doctor"),
        ("fairlead broker st", "start"),
        ("fairlead run --che", "--checkpoint"),
        ("fairlead group set orders --strategy ST", "STICKY"),
        ("fairlead run --profile ", "rocketmq"),
    ],
)
def test_completion_imports_no_heavy_library(words: str, offered: str, tmp_path: Path) -> None:
    """Neither does completion: of commands, of options, of values."""
    environment = {
        **os.environ,
        "_FAIRLEAD_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPLETING, *HEAVY],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    assert offered in done.stdout.split()
    assert json.loads(done.stderr.splitlines()[-1]) == []
