"""A Java program that a test drives: settings in its argument, commands in, lines out."""

import json
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

from tests.kit.awaiting import SECONDS, child_process, ended

__all__ = ["Probe", "probe"]

Line = list[Any]


class Program(Protocol):
    """What is built, and says how its test programs are run."""

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command that runs a test program."""


class Probe:
    """A running program."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: queue.Queue[Line | None] = queue.Queue()
        self.errors: list[str] = []
        self._threads = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._listen_to_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def say(self, *command: Any) -> None:
        """Give a command."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(json.dumps(command) + "\n")
        stdin.flush()

    def next(self, kind: str = "") -> Line:
        """Return the next line; it is of this kind."""
        line = self._lines.get(timeout=SECONDS)
        assert line is not None, self.errors
        assert not kind or line[0] == kind, (line, self.errors)
        return line

    def until(self, kind: str) -> list[Line]:
        """Return the lines up to the first of this kind."""
        lines = [self.next()]
        while lines[-1][0] != kind:
            lines.append(self.next())
        return lines

    def ask(self, *command: Any) -> Line:
        """Give a command that is answered by a line of its name."""
        self.say(*command)
        return self.until(command[0])[-1]

    def freeze(self) -> None:
        """Let the process stand still."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End its input, and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        for thread in self._threads:
            ended(thread)

    def _listen(self) -> None:
        for line in _lines(self._process.stdout):
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def _listen_to_errors(self) -> None:
        self.errors.extend(_lines(self._process.stderr))


def _lines(pipe: IO[str] | None) -> Iterator[str]:
    assert pipe is not None
    yield from pipe


@contextmanager
def probe(client: Program, program: str, **settings: Any) -> Iterator[Probe]:
    """Run a program of the client's tests until the block ends."""
    pipe = subprocess.PIPE
    command = client.command(program, json.dumps(settings))
    with child_process(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        running = Probe(process)
        yield running
        running.end()
