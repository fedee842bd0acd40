"""The clients of examples/ as processes, run by the lines of examples/README.md."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from tests.kit.awaiting import await_seen
from tests.tidy.source_tree import ROOT

__all__ = ["LANGUAGES", "ExampleClient", "Place", "build", "lines_of"]

LANGUAGES: Final = ("go", "node", "shell")
_BASH: Final = "/bin/bash"


def lines_of(language: str) -> list[str]:
    """Return what the page says: the last line runs the client, those before build it."""
    page = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{language}-client\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(block).splitlines()


def build(language: str, environment: Mapping[str, str]) -> None:
    """Run the lines that build a client."""
    for line in lines_of(language)[:-1]:
        subprocess.run(
            [_BASH, "-c", line], cwd=ROOT, env=dict(environment), check=True, timeout=120
        )


class Place(NamedTuple):
    """Where clients run: the gateway's address, the topic, a folder, and the environment."""

    gateway: str
    topic: str
    folder: Path
    environment: Mapping[str, str]


class ExampleClient:
    """One process, and what it has written."""

    def __init__(
        self, place: Place, language: str, group: str, client_id: str, pace: float = 0.05
    ) -> None:
        self.client_id = client_id
        self._journal = place.folder / f"{group}-{client_id}.jsonl"
        self._errors = self._journal.with_suffix(".log")
        words = {"GATEWAY": place.gateway, "GROUP": group, "CLIENT": client_id}
        words |= {"TOPIC": place.topic, "PACE": str(pace)}
        with self._journal.open("wb") as output, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [_BASH, "-c", f"exec {lines_of(language)[-1]}"],
                cwd=ROOT,
                env={**place.environment, **words},
                stdout=output,
                stderr=errors,
                # A shell has children: signals go to all of them, as from a terminal or a kernel.
                start_new_session=True,
            )
        self.faults: list[dict[str, Any]] = []

    def lines(self) -> list[dict[str, Any]]:
        """Return the whole lines of the journal."""
        data = self._journal.read_bytes()
        return [orjson.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]

    def holds(self) -> dict[int, int]:
        """Return what it works on by its own words: queue -> how many messages since its start."""
        held: dict[int, int] = {}
        for line in self.lines():
            queue = line["queue"][2]
            if line["event"] in ("stopped", "lost"):
                held.pop(queue, None)
            else:
                held[queue] = 0 if line["event"] == "start" else held[queue] + 1
        return held

    def await_holding(self, queues: int) -> None:
        """Wait until it works on so many queues at least, and has processed a message of each."""

        def look() -> dict[int, int]:
            assert self.process.poll() is None, self.said()
            return self.holds()

        await_seen(
            look,
            lambda held: len(held) >= queues and all(held.values()),
            what=f"work of {self.client_id} on {queues} queues",
        )

    def said(self) -> str:
        """Return what it wrote to its standard error."""
        return self._errors.read_text(encoding="utf-8")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the client and all of its children."""
        os.killpg(self.process.pid, number)

    def leave(self) -> None:
        """Ask it to leave, as whoever ends a service does, and await its clean end."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.said()
        assert self.holds() == {}

    def kill(self) -> None:
        """Kill it without a word, and await its end."""
        sent = _now_ns()
        self.signal(signal.SIGKILL)
        self.process.wait(60)
        fault = {"kind": "client_killed", "client_id": self.client_id, "pid": self.process.pid}
        self.faults.append({**fault, "sent": sent, "dead": _now_ns()})

    def freeze(self) -> None:
        """Let nothing of it run."""
        self.signal(signal.SIGSTOP)
        fault = {"kind": "client_frozen", "client_id": self.client_id, "pid": self.process.pid}
        self.faults.append({**fault, "begin": _now_ns()})

    def thaw(self) -> None:
        """Let it go on."""
        # Its lines have whole milliseconds: the first one may look older than this moment.
        self.faults[-1]["end"] = _now_ns() // 1_000_000 * 1_000_000 - 1
        self.signal(signal.SIGCONT)

    def end(self) -> None:
        """End what is left of it."""
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGKILL)
        self.process.wait(60)


def _now_ns() -> int:
    """Return the time on the clock of the clients' lines."""
    return time.time_ns()
