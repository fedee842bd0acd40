"""A gap is the time between two owners' own words, and a crash counts from the last heartbeat."""

import pytest
from fairlead_proof.bench.crashes import Crash
from fairlead_proof.bench.gaps import Turns

from fairlead.core.model import MessageQueue

QUEUE = MessageQueue("orders", "main", 0)
MILLISECOND = 1_000_000
ALWAYS = [(0, 1_000 * MILLISECOND)]


def _turns(*words: tuple[str, int, str]) -> Turns:
    turns = Turns()
    for word, at_ms, client_id in words:
        said = turns.starts if word == "start" else turns.stops
        said.setdefault(QUEUE, []).append((at_ms * MILLISECOND, client_id))
    return turns


def test_a_gap_lasts_from_the_stop_to_the_next_start() -> None:
    """From the old owner's stop to the new owner's start, in whatever order they are heard."""
    turns = _turns(("start", 130, "b"), ("start", 10, "a"), ("stop", 100, "a"), ("stop", 5, "b"))
    assert turns.gaps_ms(ALWAYS) == [30.0]


def test_a_move_counts_where_it_ends() -> None:
    """A move counts where it ends."""
    turns = _turns(("start", 10, "a"), ("stop", 100, "a"), ("start", 130, "b"))
    assert turns.gaps_ms([(0, 120 * MILLISECOND)]) == []
    assert turns.gaps_ms([(120 * MILLISECOND, 130 * MILLISECOND)]) == [30.0]


@pytest.mark.parametrize(
    "words",
    [
        [("start", 10, "a")],
        [("start", 10, "a"), ("start", 130, "b")],
        [("start", 10, "a"), ("stop", 100, "a"), ("start", 130, "a")],
        [("stop", 5, "a"), ("start", 10, "a"), ("start", 130, "b"), ("stop", 140, "a")],
    ],
    ids=["first", "crash", "came back", "stopped before and after"],
)
def test_what_is_no_move_has_no_gap(words: list[tuple[str, int, str]]) -> None:
    """What is no move from one who stopped to another has no gap."""
    assert _turns(*words).gaps_ms(ALWAYS) == []


def test_a_crash_counts_from_the_newest_heartbeat() -> None:
    """A crash counts from the newest heartbeat before its queues were adopted."""
    crash = Crash("a", adopted_ns=900 * MILLISECOND, wall_ahead_ns=5_000 * MILLISECOND)
    assert crash.total_ms({"a": [5_100, 5_200, 6_000], "b": [5_800]}) == 700.0
    with pytest.raises(ValueError, match="no heartbeat"):
        crash.total_ms({"a": [6_000]})
