"""A consumer of RocketMQ in a JVM of its own, led by a test: ConsumerProbe."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import orjson
from fairlead_proof.local.child import Child

from tests.kit.awaiting import await_seen

__all__ = ["END_SECONDS", "JavaConsumer", "Program", "java_consumer"]

END_SECONDS = 45.0
"""RocketMQ's shutdown, behind our own 30 s."""


class Program(Protocol):
    """What knows the command of a consumer with a journal."""

    def command(self, program: str, *arguments: str) -> list[str]:
        """Return the command that runs a program of this name."""
        ...


class JavaConsumer:
    """One process, and what it has said besides its journal."""

    def __init__(self, java: Program, folder: Path, client_id: str, **flags: Any) -> None:
        self.client_id = client_id
        self.journal = folder / f"{client_id}.jsonl"
        self._events: list[dict[str, Any]] = []
        self._heard = threading.Lock()
        own = {"client-id": client_id, "journal": self.journal}
        given = {name.replace("_", "-"): value for name, value in flags.items()}
        texts = [(f"--{name}", _text(value)) for name, value in {**given, **own}.items()]
        command = java.command("ConsumerProbe", *(text for pair in texts for text in pair))
        log = folder / f"{client_id}.log"
        self.child = Child(client_id, command, log, on_line=self._hear)

    def join(self) -> None:
        """Start its consumer; return when it has started."""
        self.child.send(do="join")
        self.await_event("joined")

    def await_event(self, name: str) -> dict[str, Any]:
        """Return an event once it has been said."""
        found = await_seen(
            lambda: self._said(name) or self._check(), what=f"{name} of {self.client_id}"
        )
        return found[-1]

    def counters(self) -> dict[str, Any]:
        """Return what it has counted."""
        with self._heard:
            self._events = [each for each in self._events if each["event"] != "counters"]
        self.child.send(do="counters")
        return self.await_event("counters")

    def leave(self) -> None:
        """Let it leave in order, and wait for its end."""
        self.child.send(do="leave")
        assert self.child.wait(END_SECONDS) == 0, self.child.log_tail()

    def log(self) -> str:
        """Return what it has logged."""
        return self.child.log.read_text(encoding="utf-8")

    def _said(self, name: str) -> list[dict[str, Any]]:
        with self._heard:
            return [each for each in self._events if each["event"] == name]

    def _check(self) -> list[dict[str, Any]]:
        assert self.child.exit_code is None, self.child.log_tail()
        return []

    def _hear(self, _name: str, line: bytes) -> None:
        said = orjson.loads(line) if line else {}
        if "event" in said:
            with self._heard:
                self._events.append(said)


@contextmanager
def java_consumer(
    java: Program, folder: Path, client_id: str, **flags: Any
) -> Iterator[JavaConsumer]:
    """Have a consumer until the block ends; then it is killed if it is still there."""
    consumer = JavaConsumer(java, folder, client_id, **flags)
    try:
        yield consumer
    finally:
        consumer.child.kill()


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
