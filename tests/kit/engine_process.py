"""`fairlead run` as a process of its own, as an operator runs it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, Self

from fairlead.settings import Settings
from tests.kit.awaiting import LONGEST_SECONDS, await_seen

_COPIES_MAX: Final = 20


class EngineProcess:
    """One `fairlead run`; as a context it is killed on exit if it has not ended.

    ``python`` and ``folder``: of another installation, and where it runs.
    """

    def __init__(
        self,
        settings: Settings,
        log_file: Path,
        *options: str,
        python: Path | str = sys.executable,
        folder: Path | None = None,
    ) -> None:
        command = [str(python), "-m", "fairlead", "run"]
        command += ["--bootstrap", settings.kafka.bootstrap]
        command += ["--topic-prefix", settings.kafka.topic_prefix]
        command += ["--checkpoint", str(settings.engine.checkpoint)]
        command += ["--metrics-port", str(settings.metrics.port), *options]
        self._log_file = log_file
        partitions = str(settings.topics.assignments_partitions)
        environment = os.environ | {"FAIRLEAD__TOPICS__ASSIGNMENTS_PARTITIONS": partitions}
        with log_file.open("wb") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, env=environment, cwd=folder
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(LONGEST_SECONDS)

    @property
    def pid(self) -> int:
        """The process id: of the supervisor, if there is one."""
        return self._process.pid

    def text(self) -> str:
        """Return what it has said until now."""
        return self._log_file.read_text(encoding="utf-8", errors="replace")

    def check(self) -> None:
        """Raise if it has ended."""
        code = self._process.poll()
        assert code is None, f"ended with {code}: {self.text()[-3000:]}"

    def await_said(self, pattern: str, times: int = 1) -> None:
        """Wait until it has said something, so many times."""

        def said() -> str:
            text = self.text()
            if len(re.findall(pattern, text)) < times:
                self.check()
            return text

        await_seen(
            said,
            lambda text: len(re.findall(pattern, text)) >= times,
            what=f"line with {pattern!r}",
            seconds=LONGEST_SECONDS,
        )

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def await_end(self) -> int:
        """Wait for its end and return the exit code."""
        return self._process.wait(LONGEST_SECONDS)


def children_of(process_id: int) -> list[int]:
    """Return the process ids of what a process has started: a supervisor's driver, its JVM."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process_id:
            found.append(int(path.parent.name))
    return found


def kill_at_once(*process_ids: int) -> None:
    """End processes as a power failure would."""
    assert process_ids
    for process_id in process_ids:
        os.kill(process_id, signal.SIGKILL)


def copy_checkpoint(checkpoint: Path, copy: Path) -> None:
    """Copy a checkpoint in use, without its locks, as an operator's backup does."""
    for attempt in range(_COPIES_MAX):
        shutil.rmtree(copy, ignore_errors=True)
        try:
            shutil.copytree(checkpoint, copy, ignore=shutil.ignore_patterns("*lock"))
        except shutil.Error:
            # A file of an old batch went while it was being copied.
            assert attempt < _COPIES_MAX - 1
            continue
        break
