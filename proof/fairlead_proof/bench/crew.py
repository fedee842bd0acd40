"""The client processes of the measurement, and who reads what by their own words."""

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.errors import QueryDiedError
from fairlead_proof.bench.gaps import Turns
from fairlead_proof.local.child import Child

_PROGRAM: Final = "fairlead_proof.bench.client_process"


class Crew:
    """Long-lived client processes.

    ``condition`` guards everything and is notified after each line of words.

    Attributes:
        states: per client, the last of ready, joined, left, ended that it said.
        reading: per queue, who stands at its position: client, epoch, since when (monotonic, ns).
        turns: who started and who stopped on each queue, since the beginning.
    """

    def __init__(
        self, folder: Path, arguments: Mapping[str, str], condition: threading.Condition
    ) -> None:
        self.condition = condition
        self.states: dict[str, str] = {}
        self.reading: dict[MessageQueue, tuple[str, Epoch, int]] = {}
        self.turns = Turns()
        self._folder = folder
        self._arguments = arguments
        self._children: dict[str, Child] = {}

    def start(self, client_id: str) -> None:
        """Start a process. Call it on the main thread."""
        given = {**self._arguments, "client-id": client_id}
        flags = [text for name, value in given.items() for text in (f"--{name}", value)]
        self.states[client_id] = "starting"
        self._children[client_id] = Child(
            client_id,
            [sys.executable, "-m", _PROGRAM, *flags],
            self._folder / f"{client_id}.log",
            on_line=self._hear,
        )

    def send(self, client_id: str, do: str) -> None:
        """Let a client join or leave."""
        self._children[client_id].send(do=do)

    def kill(self, client_id: str) -> None:
        """SIGKILL; return when the kernel has reported the death. It may be started again."""
        with self.condition:
            self.states[client_id] = "killed"
        self._children[client_id].kill()

    def agrees_with(self, granted: Mapping[MessageQueue, tuple[str, Epoch]]) -> bool:
        """Tell whether every queue is read by whom it was granted to, under that epoch."""
        return {queue: (who, epoch) for queue, (who, epoch, _) in self.reading.items()} == granted

    def check(self) -> None:
        """Make sure that all processes live.

        Raises:
            QueryDiedError: one died; its last lines are in the message.
        """
        with self.condition:
            dead = [client_id for client_id, state in self.states.items() if state == "ended"]
        if dead:
            raise QueryDiedError(f"client {dead[0]} died:\n{self._children[dead[0]].log_tail()}")

    def stop(self) -> None:
        """End every process, whatever it does."""
        for child in self._children.values():
            child.kill()

    def _hear(self, client_id: str, line: bytes) -> None:
        words = orjson.loads(line) if line else [{"event": "ended"}]
        with self.condition:
            for message in words:
                self._note(client_id, message)
            self.condition.notify_all()

    def _note(self, client_id: str, message: Mapping[str, Any]) -> None:
        match message["event"]:
            case "started":
                word = (int(message["t"]), client_id)
                self.turns.starts.setdefault(MessageQueue(*message["queue"]), []).append(word)
            case "reading":
                queue, epoch = MessageQueue(*message["queue"]), Epoch(*message["epoch"])
                self.reading[queue] = (client_id, epoch, int(message["t"]))
            case "stopped":
                queue, epoch = MessageQueue(*message["queue"]), Epoch(*message["epoch"])
                self.turns.stops.setdefault(queue, []).append((int(message["t"]), client_id))
                if self.reading.get(queue, ())[:2] == (client_id, epoch):
                    del self.reading[queue]
            case "ended" if self.states[client_id] == "killed":
                pass
            case state:
                self.states[client_id] = str(state)
