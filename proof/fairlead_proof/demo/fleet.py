"""The consumer processes of a run: started, told what to do, listened to, killed."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from fairlead.verify.journal import parse_record
from fairlead_proof.demo.floor import Floor, Seat, SeatState
from fairlead_proof.local.child import Child, Killing

CONSUMER_PROGRAM: Final = "fairlead_proof.demo.consumer_process"


class Fleet:
    """Starts consumer processes and keeps the floor up to date with what they say.

    ``condition`` guards the floor and is notified after each thing said.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Mapping[str, str],
        condition: threading.Condition,
        program: str = CONSUMER_PROGRAM,
        *,
        commands: Callable[[str], Sequence[str] | None] = lambda _: None,
        own: Callable[[str], Mapping[str, str]] = lambda _: {},
    ) -> None:
        """Describe the fleet.

        Args:
            folder: where journals and logs are written.
            arguments: what every consumer process is given: bootstrap, prefix, group, topic.
            condition: guards the floor.
            program: the module that each process runs.
            commands: returns what runs a client in place of the program; None: nothing does.
            own: returns what a client is given besides.
        """
        self.condition = condition
        self.floor = Floor()
        self.journals: dict[str, Path] = {}
        self.journal_folder = folder / "journals"
        self.journal_folder.mkdir(exist_ok=True)
        self._folder = folder
        self._arguments = arguments
        self._program = program
        self._commands = commands
        self._own = own
        self._children: dict[str, Child] = {}

    def start(self, client_id: str, program: str | None = None, **arguments: str) -> None:
        """Start a process that joins when told to. Call it on the main thread.

        Args:
            client_id: who it is.
            program: the module that it runs; None: the one of the fleet.
            arguments: what it is given in place of, or besides, what every process is given.
        """
        self.journals[client_id] = self.journal_folder / f"{client_id}.jsonl"
        # A process that dies before it writes has done nothing: the judge reads an empty journal.
        self.journals[client_id].touch()
        own = {"client-id": client_id, "journal": self.journals[client_id]}
        given = {**self._arguments, **own, **self._own(client_id), **arguments}
        flags = [text for name, value in given.items() for text in (f"--{name}", str(value))]
        command = [sys.executable, "-m", program or self._program]
        if program is None:
            command = [*(self._commands(client_id) or command)]
        with self.condition:
            self.floor.seats[client_id] = Seat()
        self._children[client_id] = Child(
            client_id,
            [*command, *flags],
            self._folder / f"{client_id}.log",
            on_line=self._hear,
        )

    def join(self, *client_ids: str) -> None:
        """Let processes that are ready join the group."""
        for client_id in client_ids:
            self._set_state(client_id, "joining")
            self._children[client_id].send(do="join")

    def leave(self, *client_ids: str) -> None:
        """Let consumers stop, release and leave."""
        for client_id in client_ids:
            self._set_state(client_id, "leaving")
            self._children[client_id].send(do="leave")

    def hold(self, client_id: str, queue_id: int | None = None) -> None:
        """Let a consumer keep the next message in hand: of this queue, or of any."""
        self._children[client_id].send(do="hold", queue_id=queue_id)

    def resume(self, client_id: str) -> None:
        """Let a consumer finish the message in hand."""
        self._children[client_id].send(do="resume")

    def kill(self, client_id: str) -> Killing:
        """SIGKILL, in the middle of whatever it does."""
        self._set_state(client_id, "killed")
        killing = self._children[client_id].kill()
        with self.condition:
            self.floor.leave(client_id, "killed")
            self.condition.notify_all()
        return killing

    def terminate(self, client_id: str) -> None:
        """SIGTERM: a consumer stops, releases and leaves, as by a command."""
        self._set_state(client_id, "leaving")
        os.kill(self._children[client_id].pid, signal.SIGTERM)

    def process(self, client_id: str) -> Child:
        """The process of a client."""
        return self._children[client_id]

    def wait_until(self, holds: Callable[[Floor], bool], timeout_s: float) -> bool:
        """Return True as soon as it holds, False when the time is over."""
        deadline = time.monotonic() + timeout_s
        with self.condition:
            while not holds(self.floor):
                left = deadline - time.monotonic()
                if left <= 0 or not self.condition.wait(left):
                    return holds(self.floor)
            return True

    def failed(self) -> list[str]:
        """The clients that ended without having been told to."""
        with self.condition:
            return [c for c, seat in self.floor.seats.items() if seat.state == "failed"]

    def log_tail(self, client_id: str) -> str:
        """The last lines of a consumer's log."""
        return self._children[client_id].log_tail()

    def members(self) -> frozenset[str]:
        """The clients that are, or are about to be, members of the group."""
        with self.condition:
            states = {client_id: seat.state for client_id, seat in self.floor.seats.items()}
        return frozenset(c for c, state in states.items() if state in ("joining", "in"))

    def stop(self) -> None:
        """End every process, whatever it does."""
        for child in self._children.values():
            child.kill()

    def _hear(self, client_id: str, line: bytes) -> None:
        fields = orjson.loads(line) if line else {"event": "ended"}
        with self.condition:
            seat = self.floor.seats[client_id]
            match fields.get("event"):
                case "ready":
                    seat.state = "ready"
                case "joined":
                    seat.state = "in"
                case "left" | "replaced" as state:
                    self.floor.leave(client_id, state)
                case "ended" if seat.state not in ("left", "killed", "replaced"):
                    self.floor.leave(client_id, "failed")
                case "ended" | "leaving":
                    pass
                case None if fields.get("kind") == "opened":
                    pass
                case _ if seat.state != "killed":
                    self.floor.apply(client_id, parse_record(line))
            self.condition.notify_all()

    def _set_state(self, client_id: str, state: SeatState) -> None:
        with self.condition:
            self.floor.seats[client_id].state = state
            self.condition.notify_all()
