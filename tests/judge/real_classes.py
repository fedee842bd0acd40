"""Runs the judge, which answers cases with RocketMQ's own classes.

Its source stands in `java`: what all of RocketMQ's lines share, and in a folder for each line what
they do not. It is compiled once for each set of jars; what was compiled stays beside the jars.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from fairlead.jars import cache_root, ensure_jars
from fairlead.java import find_java

RocketMQ = Literal["rocketmq", "rocketmq-5", "rocketmq-4.7"]
"""The sets of jars: 4.9.8, 5.3.3 and 4.7.1."""
SOURCE: Final = Path(__file__).with_name("java")
_LINES: Final[Mapping[RocketMQ, str]] = {
    "rocketmq": "line4",
    "rocketmq-5": "line5",
    "rocketmq-4.7": "line4",
}
_SECONDS_MAX: Final = 240
_OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1",
    # The place that threw tells the code; a hot place would throw without its trace.
    "-XX:-OmitStackTraceInFastThrow",
    # The hash ring of 4.9 takes the bytes of a text in the platform's charset.
    "-Dfile.encoding=UTF-8",
    "-Drocketmq.client.logLevel=ERROR",
)


def judged(
    cases: Iterable[Mapping[str, Any]], folder: Path, jars: RocketMQ = "rocketmq"
) -> list[dict[str, Any]]:
    """Return what RocketMQ answers, case by case.

    Args:
        cases: in the format of `fairlead proof conform`.
        folder: where RocketMQ may write its log; it would take the user's home otherwise.
        jars: which RocketMQ.
    """
    asked = "".join(f"{json.dumps(case)}\n" for case in cases)
    command: Sequence[str] = (
        str(find_java().executable),
        *_OPTIONS,
        f"-Drocketmq.client.logRoot={folder}",
        f"-Duser.home={folder}",
        "-cp",
        f"{_compiled(jars)}{os.pathsep}{ensure_jars(jars)}/*",
        "Judge",
    )
    run = subprocess.run(
        command,
        input=asked,
        capture_output=True,
        encoding="ascii",
        check=False,
        timeout=_SECONDS_MAX,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    answers: list[dict[str, Any]] = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(answers) == asked.count("\n"), run.stderr[-2000:]
    return answers


def _compiled(jars: RocketMQ) -> Path:
    """Return the folder with the judge's classes; compile them if nobody did."""
    sources = sorted((*SOURCE.glob("*.java"), *(SOURCE / _LINES[jars]).glob("*.java")))
    content = b"".join(source.read_bytes() for source in sources)
    folder = ensure_jars(jars)
    digest = hashlib.sha256(folder.name.encode() + content).hexdigest()
    target = cache_root() / "judge" / digest[:16]
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".compiled-", dir=target.parent))
    _compile(sources, folder, made)
    try:
        made.rename(target)
    except OSError:
        # Another process of these tests was first.
        shutil.rmtree(made)
    return target


def _compile(sources: Iterable[Path], jars: Path, folder: Path) -> None:
    # By its module, since a Java that runs Spark need not come with a javac on the path.
    command = (
        *(str(find_java().executable), "-XX:TieredStopAtLevel=1"),
        *("--add-modules", "jdk.compiler", "-m", "jdk.compiler/com.sun.tools.javac.Main"),
        *("-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", str(folder)),
        *("-cp", os.pathsep.join(map(str, sorted(jars.glob("*.jar"))))),
        *map(str, sources),
    )
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
