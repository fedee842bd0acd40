"""Two processes with one client id and the real sessions: one owner, no turning back, both told."""

from itertools import product

import pytest
from fairlead_client import DuplicateClientIdError
from fairlead_client import model as words

from tests.handover.story import Client, Story

LESSER, GREATER = words.Process(500, "p-1"), words.Process(500, "p-2")


def _twins(first: words.Process, second: words.Process) -> tuple[Story, Client, Client]:
    """Two queues, and the client id a twice: the second process comes when the first owns both."""
    story = Story(queues=2)
    one = story.joins("a", process=first)
    story.engine()
    one.reads_all()
    story.time(1_000)
    two = story.joins("a", process=second, life=10)
    story.engine()
    return story, one, two


def _turn(client: Client) -> None:
    """A process reads everything there is, and stops what it was asked to stop."""
    client.reads_all()
    for queue, work in list(client.works.items()):
        if work.stopping:
            client.stops(queue)


def _live(story: Story, order: tuple[bool, ...], owners: list[str]) -> None:
    """Let the processes take turns; at each of them the second one may go first."""
    for second_first in order:
        clients = list(story.clients.values())
        for client in reversed(clients) if second_first else clients:
            _turn(client)
            story.time(500)
            owner = story.owner()
            if owner is not None and owners[-1:] != [owner]:
                owners.append(owner)


@pytest.mark.parametrize("greater_first", [False, True])
@pytest.mark.parametrize("restart", [None, 0, 2])
def test_of_twins_the_greater_owns_in_the_end(greater_first: bool, restart: int | None) -> None:  # noqa: FBT001 - two cases
    """In every order, also over a driver's start, the greater owns in the end (rule H12)."""
    processes = (GREATER, LESSER) if greater_first else (LESSER, GREATER)
    for order in product((False, True), repeat=4):
        story, *twins = _twins(*processes)
        owners = ["a"]
        for at, turn in enumerate(order):
            if at == restart:
                story.restarts()
            _live(story, (turn,), owners)
        _live(story, (False,) * 16, owners)
        lesser, greater = sorted(twins, key=lambda twin: twin.process.rank)
        assert greater.alive, order
        assert set(greater.works) == {0, 1}, order
        assert not lesser.alive, order
        assert lesser.notices == [], order
        assert greater.notices == ["duplicate_client_id"], order
        # From the first to the greater and never back; from the greater to nobody.
        assert owners == (["a"] if greater_first else ["a", "a'"]), order
        assert "duplicate_client_id" in story.decisions[-1].alarms or any(
            "duplicate_client_id" in decision.alarms for decision in story.decisions
        )


def test_lesser_stops_with_an_error() -> None:
    """The lesser releases what it holds, leaves, and ends with an error that names the winner."""
    story, one, two = _twins(LESSER, GREATER)
    one.processes(3)
    _live(story, (False,) * 8, ["a"])
    assert not one.alive
    error = one.session._memory.error  # noqa: SLF001 - what the thread is handed with Stopped
    assert isinstance(error, DuplicateClientIdError)
    assert "p-2" in str(error)
    assert (two.starts[0][0], two.starts[0][2]) in {(0, 3), (1, 0)}
    assert {(queue, offset) for queue, _, offset in two.starts} == {(0, 3), (1, 0)}


def test_frozen_twin_comes_back() -> None:
    """The greater stood still for longer than its lease: nobody stops for it until it is back."""
    story, one, two = _twins(LESSER, GREATER)
    _turn(one)
    _turn(two)
    story.deaths = True
    two.frozen = True
    for _ in range(40):
        _turn(one)
        story.time(500)
    assert story.owner() == "a"
    assert one.alive
    two.frozen = False
    two.passes()
    _live(story, (True,) * 16, [])
    assert story.owner() == "a'"
    assert two.alive
    assert not one.alive


def test_restarted_where_the_clock_is_behind() -> None:
    """The greater is dead: the lesser, started in its place, outlives it without a notice."""
    story = Story(queues=1)
    dead = story.joins("a", process=GREATER)
    story.engine()
    dead.reads_all()
    dead.crashes()
    story.deaths = True
    again = story.joins("a", process=LESSER, life=10)
    for _ in range(40):
        _turn(again)
        story.time(500)
    assert again.alive
    assert again.notices == []
    assert story.owner() == "a'"
    assert not any("duplicate_client_id" in decision.alarms for decision in story.decisions)
