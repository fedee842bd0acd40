"""What a person sees while the demo runs: a live table on a terminal, plain lines elsewhere."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live

from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.script import Script
from fairlead_proof.demo.tables import header, member_table, queue_grid, step_table
from fairlead_proof.local.follower import DecisionFollower

_REFRESHES_PER_SECOND: Final = 4
_LINE_SECONDS: Final = 5.0


@dataclass(slots=True)
class Show:
    """Everything the screen shows of a running demo; guarded by the fleet's condition."""

    group: str
    fleet: Fleet
    follower: DecisionFollower
    script: Script
    produced: int = 0


class Screen:
    """A console, with the live table on it while there is a show and the console is a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._begun = time.monotonic()
        self._show: Show | None = None
        self._live: Live | None = None
        self._ended = threading.Event()
        self._lines: threading.Thread | None = None

    def say(self, text: str) -> None:
        """Print one line, with the seconds since the start."""
        line = f"{time.monotonic() - self._begun:6.1f} s  {text}"
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        """Nothing is live before `open`."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the live table; what it showed last stays."""
        self.close()

    def open(self, show: Show) -> None:
        """Begin to show a run."""
        self._show = show
        self._ended.clear()
        if self.console.is_terminal:
            self._live = Live(
                console=self.console,
                get_renderable=self._render,
                refresh_per_second=_REFRESHES_PER_SECOND,
            )
            self._live.start()
        else:
            self._lines = threading.Thread(target=self._print_lines, name="lines", daemon=True)
            self._lines.start()

    def close(self) -> None:
        """Show the last state, and end."""
        self._ended.set()
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._lines is not None:
            self._lines.join()
            self._lines = None
        self._show = None

    def _render(self) -> RenderableType:
        show = self._show
        if show is None:
            return ""
        with show.fleet.condition:
            floor, ownership = show.fleet.floor, show.follower.ownership
            return Group(
                header(show.group, ownership, floor, show.produced),
                member_table(floor),
                queue_grid(floor, ownership),
                step_table(show.script.notes),
            )

    def _print_lines(self) -> None:
        """Say what changed: each step at its begin and its end, and the state now and then."""
        show = self._show
        assert show is not None
        printer = _LinePrinter(show, self.say)
        while not self._ended.wait(1 / _REFRESHES_PER_SECOND):
            printer.print_new()
        printer.print_new()


class _LinePrinter:
    """Turns a running demo into lines, each fact once."""

    def __init__(self, show: Show, say: Callable[[str], None]) -> None:
        self._show = show
        self._say = say
        self._begun = 0
        self._settled = 0
        self._next_state = time.monotonic() + _LINE_SECONDS

    def print_new(self) -> None:
        """Say what is new."""
        for line in self._news():
            self._say(line)

    def _news(self) -> list[str]:
        lines: list[str] = []
        with self._show.fleet.condition:
            for number, note in enumerate(self._show.script.notes):
                if number >= self._begun:
                    self._begun += 1
                    lines.append(f"{note.name}: {note.event}")
                if number >= self._settled and note.settled_ns is not None:
                    self._settled += 1
                    took = (note.settled_ns - note.begun_ns) / 1e9
                    lines.append(f"{note.name}: {note.moves} queues moved, over in {took:.2f} s")
            if time.monotonic() >= self._next_state:
                self._next_state += _LINE_SECONDS
                lines.append(self._state())
        return lines

    def _state(self) -> str:
        floor, ownership = self._show.fleet.floor, self._show.follower.ownership
        shares = ", ".join(
            f"{client_id} {len(floor.queues_of(client_id))}"
            for client_id, seat in sorted(floor.seats.items())
            if seat.state in ("in", "leaving")
        )
        epoch = ownership.newest.epoch if ownership.newest else "-"
        produced, processed = floor.counts(self._show.produced)
        return (
            f"epoch {epoch}, {ownership.moves} moves, {produced:,} produced,"
            f" {processed:,} processed; queues: {shares or 'none owned'}"
        )
