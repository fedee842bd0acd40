"""RocketMQ's own consumers in a JVM of their own, led by a test."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fairlead.jars import ensure_jars
from fairlead.java import find_java
from tests.kit.awaiting import child_process

__all__ = ["JavaConsumers", "java_consumers"]

_SOURCE: Final = Path(__file__).with_name("java") / "Consumers.java"


class JavaConsumers:
    """The consumers of one JVM."""

    def __init__(self, process: "subprocess.Popen[str]", namesrv: str) -> None:
        self._process, self._namesrv = process, namesrv

    def start(self, group: str, topic: str, name: str) -> None:
        """Start a consumer and wait until it has started."""
        self._ask(f"start {self._namesrv} {group} {topic} {name}")

    def stop(self, name: str) -> None:
        """Shut a consumer down and wait until that is done."""
        self._ask(f"stop {name}")

    def freeze(self) -> None:
        """Stop the process as a long pause does: its connections stay."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def _ask(self, line: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip() == f"done {line}"


@contextlib.contextmanager
def java_consumers(namesrv: str, folder: Path) -> Iterator[JavaConsumers]:
    """Run a JVM for consumers of RocketMQ's client 4.9.8; `folder` gets its logs."""
    command = [
        *(str(find_java().executable), "-XX:TieredStopAtLevel=1", "-Xmx256m"),
        *(f"-Duser.home={folder}", f"-Drocketmq.client.logRoot={folder}"),
        *("-cp", f"{ensure_jars('rocketmq')}/*", str(_SOURCE)),
    ]
    with (
        (folder / "consumers.err").open("w") as errors,
        child_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        yield JavaConsumers(process, namesrv)
