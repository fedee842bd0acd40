"""The tables of the screen show owners, epochs, moves and times."""

import io

import pytest
from fairlead_proof.demo.floor import Floor, Seat
from fairlead_proof.demo.script import StepNote
from fairlead_proof.demo.tables import header, member_table, queue_grid, ranges, step_table
from fairlead_proof.local.ownership import Ownership
from rich.console import Console, RenderableType

from fairlead.core.model import Epoch
from fairlead.verify.history import Held, Start
from tests.kit.recorded_history import queue


def _text(renderable: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.strip() for line in console.file.getvalue().splitlines())


def _floor() -> Floor:
    floor = Floor(seats={"c1": Seat(state="in"), "c2": Seat(state="killed")})
    for number in (0, 1, 3):
        floor.apply("c1", Start(queue(number), Epoch(1, 4), 0, 100))
    floor.apply("c1", Held(queue(1), 9, 100))
    return floor


@pytest.mark.parametrize(
    "numbers, text",
    [([], ""), ([3], "3"), ([2, 0, 1], "0-2"), ([9, 0, 2, 1, 10], "0-2, 9-10")],
)
def test_numbers_in_a_row_are_a_range(numbers: list[int], text: str) -> None:
    """Numbers in a row are written as a range."""
    assert ranges(numbers) == text


def test_each_client_has_its_state_queues_and_epoch() -> None:
    """Each client stands with its state, its queues and its newest epoch."""
    text = _text(member_table(_floor()))
    _, first, second = (line for line in text.splitlines() if line.startswith("c"))
    assert first.split() == ["c1", "in,", "message", "in", "hand", "3", "0-1,", "3", "1.4", "0"]
    assert second.split()[:3] == ["c2", "killed", "0"]


def test_a_queue_shows_owner_epoch_and_handover() -> None:
    """A queue shows its owner and epoch; one that changes hands shows how far that is."""
    granted = {queue(n): ("c1", Epoch(1, 4)) for n in (0, 1)}
    granted[queue(3)] = ("c9", Epoch(1, 6))
    granted[queue(5)] = ("c9", Epoch(1, 6))
    granted[queue(6)] = ("c2", Epoch(1, 3))
    dropped = {(queue(1), Epoch(1, 4)), (queue(6), Epoch(1, 3))}
    text = _text(queue_grid(_floor(), Ownership(granted=granted, dropped=dropped)))
    assert text.split() == [
        "0", "c1", "1.4", "1", "c1→", "3", "c1→c9", "5", "→c9", "6", "→",
    ]  # fmt: skip


def test_a_step_shows_its_moves_and_seconds() -> None:
    """A step that is over has its moves and seconds, a running one the seconds so far."""
    notes = [
        StepNote("join", "c7 joins", 1_000_000_000, 2_500_000_000, moves=5),
        StepNote("kill", "c2 is killed", 1_000_000_000),
    ]
    rows = [line.split() for line in _text(step_table(notes)).splitlines()]
    assert [row[-2:] for row in rows if row[:1] == ["join"]] == [["5", "1.50"]]
    assert [row[-2] for row in rows if row[:1] == ["kill"]] == ["…"]


def test_before_the_first_decision_the_header_says_so() -> None:
    """Before the first decision the header says so."""
    assert "no decision yet" in _text(header("demo", Ownership(), Floor(), 12))
