"""The tables of the demo's screen: members, owner and epoch of each queue, steps."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from fairlead_proof.demo.floor import Floor
from fairlead_proof.demo.script import StepNote
from fairlead_proof.local.ownership import Ownership

_COLUMNS: Final = 8
_COLOURS: Final = (
    "cyan", "green", "yellow", "magenta", "blue", "bright_red", "bright_cyan", "bright_green",
    "bright_yellow", "bright_magenta",
)  # fmt: skip
_STATE_STYLES: Final = {"in": "green", "killed": "red", "failed": "bold red", "left": "dim"}


def header(group: str, ownership: Ownership, floor: Floor, told: int) -> Text:
    """One line about the whole group; ``told``: as many messages the producer has told of."""
    newest, (produced, processed) = ownership.newest, floor.counts(told)
    engine = f"epoch {newest.epoch} {newest.phase}" if newest else "no decision yet"
    return Text(
        f"group {group} · {engine} · {ownership.decisions} decisions · {ownership.moves} moves ·"
        f" {produced:,} produced · {processed:,} processed",
        style="bold",
    )


def member_table(floor: Floor) -> Table:
    """Each consumer process, its state, and what it works on."""
    table = _table("client", "state", "n", "queues", "newest epoch", "processed")
    for client_id, seat in sorted(floor.seats.items()):
        queues = floor.queues_of(client_id)
        epochs = [floor.working[queue].epoch for queue in queues]
        state = f"{seat.state}, message in hand" if seat.held else seat.state
        table.add_row(
            Text(client_id, style=colour_of(client_id)),
            Text(state, style=_STATE_STYLES.get(seat.state, "")),
            str(len(queues)),
            ranges(queue.queue_id for queue in queues),
            str(max(epochs, default="")),
            f"{seat.consumed:,}",
        )
    return table


def queue_grid(floor: Floor, ownership: Ownership) -> Table:
    """Each queue with its owner and epoch.

    One that changes hands is shown with its next owner (`c1→c2`), as dropped while its owner has
    yet to let go (`c1→`), or as waiting for its grant (`→`).
    """
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
    cells: list[Text] = []
    for queue, (granted_to, epoch) in sorted(ownership.granted.items()):
        working = floor.working.get(queue)
        owner = working.client_id if working else ""
        text = Text(f"{queue.queue_id:>2} ", style="dim")
        text.append(owner, style=colour_of(owner))
        if (queue, epoch) in ownership.dropped:
            text.append("→", style="reverse")
        elif working and (working.client_id, working.epoch) == (granted_to, epoch):
            text.append(f" {epoch}", style="dim")
        else:
            text.append(f"→{granted_to}", style=f"reverse {colour_of(granted_to)}")
        cells.append(text)
    for first in range(0, len(cells), _COLUMNS):
        grid.add_row(*cells[first : first + _COLUMNS])
    return grid


def step_table(notes: Sequence[StepNote]) -> Table:
    """Each step: what was done, how many queues moved, how long it took."""
    table = _table("step", "event", "moves", "seconds")
    now_ns = time.monotonic_ns()
    for note in notes:
        seconds = ((note.settled_ns or now_ns) - note.begun_ns) / 1e9
        over = note.settled_ns is not None
        table.add_row(
            note.name,
            note.event,
            str(note.moves) if over else "…",
            Text(f"{seconds:.2f}", style="green" if over else "yellow"),
        )
    return table


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as ranges: 0-3, 7, 9-10."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def colour_of(client_id: str) -> str:
    """The colour of a client, always the same."""
    digits = "".join(letter for letter in client_id if letter.isdigit())
    return _COLOURS[int(digits) % len(_COLOURS)] if digits else "dim"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in ("n", "moves", "seconds") else "left")
    return table
