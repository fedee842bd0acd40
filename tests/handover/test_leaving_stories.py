"""Clients that leave, with the records of their leave read in every order of topics.

Nobody waits for a lease here: no time passes.
"""

import pytest

from tests.handover.beginnings import holders
from tests.handover.story import Client, Story

TOPICS = ("releases", "heartbeats")


def _three(queues: int = 2) -> tuple[Story, Client, Client, Client]:
    """A works on all queues; B and C own nothing."""
    story = Story(queues=queues)
    a, b, c = (story.joins(name) for name in "abc")
    story.points(dict.fromkeys(range(queues), "a"))
    story.engine()
    for client in (a, b, c):
        client.reads_all()
    assert sorted(a.works) == list(range(queues))
    return story, a, b, c


def _is_handed(story: Story, queue: int, a: Client, b: Client) -> None:
    """A hands a queue over to B, which starts it."""
    story.moves(queue, "b")
    a.reads_all()
    a.stops(queue)
    b.reads_all()


@pytest.mark.parametrize("unread", TOPICS)
def test_one_decision_is_enough(unread: str) -> None:
    """One decision gives B the queues of A at A's positions, in either reading order (rule H11)."""
    story, a, b, _ = _three()
    a.processes(3, 0)
    a.processes(5, 1)
    a.leaves()
    told = len(a.starts)
    story.engine(unread)
    b.reads_all()
    assert sorted(start[2] for start in b.starts) == [3, 5]
    story.engine()
    b.reads_all()
    assert (story.owner(0), story.owner(1), len(a.starts)) == ("b", "b", told)
    assert holders(story) == ["b"]


@pytest.mark.parametrize("unread", TOPICS)
def test_a_slow_queue_is_waited_for(unread: str) -> None:
    """A has released one queue and is busy with the other: B gets the one, and waits."""
    story, a, b, _ = _three()
    a.processes(2, 1)
    a.leaves(busy=True)
    a.stops(0)
    story.engine(unread)
    b.reads_all()
    assert (story.owner(0), story.owner(1)) == ("b", "a")
    a.processes(2, 1)
    a.stops(1)
    b.reads_all()
    assert b.starts[-1][2] == 4
    story.engine()
    assert story.owner(1) == "b"


@pytest.mark.parametrize("unread", TOPICS)
def test_who_is_granted_a_queue_and_is_gone(unread: str) -> None:
    """B has left and does not read what A left to it: C has it a decision later."""
    story, a, b, c = _three(3)
    _is_handed(story, 2, a, b)
    story.points({0: "b", 1: "c"})
    a.leaves()
    story.engine()
    b.leaves()
    story.points({0: "c", 2: "c"})
    story.engine(unread)
    c.reads_all()
    assert [story.owner(queue) for queue in range(3)] == ["c", "c", "c"]
    assert len(b.starts) == 1


@pytest.mark.parametrize("unread", TOPICS)
def test_what_it_started_last_is_no_promise_about_it(unread: str) -> None:
    """B started its newest grant and is busy: what it was granted after that goes on to C alone."""
    story, a, b, c = _three()
    _is_handed(story, 0, a, b)
    b.processes(7, 0)
    story.engine()
    story.moves(1, "b")
    b.leaves(busy=True)
    a.reads_all()
    a.stops(1)
    story.points({0: "c", 1: "c"})
    story.engine(unread)
    story.engine()
    c.reads_all()
    assert (story.owner(0), story.owner(1)) == ("b", "c")
    b.stops(0)
    c.reads_all()
    assert c.starts[-1][2] == 7


@pytest.mark.parametrize("unread", TOPICS)
def test_a_driver_that_starts_in_between(unread: str) -> None:
    """The leave is read in two halves by two drivers; B, who acknowledges late, lets A's go on."""
    story, a, b, c = _three(1)
    a.processes(4)
    a.leaves(busy=True)
    story.engine(unread)
    story.restarts()
    for client in (a, b, c):
        client.reads_all()
    a.stops()
    story.engine()
    b.reads_all()
    assert (story.owner(), b.starts[-1][2]) == ("b", 4)


@pytest.mark.parametrize("unread", TOPICS)
def test_what_a_leaver_is_told_it_does_not_start(unread: str) -> None:
    """B is busy as it leaves, and reads only then what it was granted: C has that at once."""
    story, a, b, c = _three()
    _is_handed(story, 0, a, b)
    b.processes(3, 0)
    story.moves(1, "b")
    a.reads_all()
    a.stops(1)
    b.leaves(busy=True)
    b.reads_all()
    story.points({0: "c", 1: "c"})
    story.engine(unread)
    story.engine()
    c.reads_all()
    assert (story.owner(0), story.owner(1)) == ("b", "c")
    b.stops(0)
    c.reads_all()
    assert (len(b.starts), c.starts[-1][2]) == (1, 3)
