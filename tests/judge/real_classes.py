"""Runs Judge.java, which answers cases with RocketMQ's own classes."""

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fairlead.jars import ensure_jars
from fairlead.java import find_java

JUDGE: Final = Path(__file__).with_name("Judge.java")
_SECONDS_MAX: Final = 120
_OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1",
    # A code is told by the place that threw; a hot place would throw without its trace.
    "-XX:-OmitStackTraceInFastThrow",
    # The hash ring of 4.9 takes the bytes of a text in the platform's charset.
    "-Dfile.encoding=UTF-8",
    "-Drocketmq.client.logLevel=ERROR",
)


def judged(cases: Iterable[Mapping[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Return what RocketMQ answers, case by case.

    Args:
        cases: in the format of `fairlead conform`.
        folder: where RocketMQ may write its log; it would take the user's home otherwise.
    """
    asked = "".join(f"{json.dumps(case)}\n" for case in cases)
    command: Sequence[str] = (
        str(find_java().executable),
        *_OPTIONS,
        f"-Drocketmq.client.logRoot={folder}",
        "-cp",
        f"{ensure_jars('rocketmq')}/*",
        str(JUDGE),
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
    assert len(answers) == asked.count("\n")
    return answers
