"""A topic is deleted and created again while the engine's state is lost: stories."""

import pytest

from fairlead.core.records import Arrival
from tests.handover.beginnings import follow_reset, has_passed, owned_by_a, start_of
from tests.handover.story import Client, Story

WAIT_MS = 16_000
"""More than lease and margin of the defaults, after which a lost state has been recovered."""


def recovers(story: Story, *control: Arrival) -> None:
    """Another engine begins without state; of the log it reads these records and the route."""
    story.world.lose(story.generation + 1)
    story.world.waiting = [*control]
    story.world.route(story.queues, identity=story.life)
    story.points({})


def passed(story: Story, *clients: Client) -> None:
    """The clients acknowledge, and everybody who is not there is waited for."""
    for client in clients:
        client.reads_all()
    story.time(WAIT_MS)
    assert has_passed(story)
    for client in clients:
        client.reads_all()


@pytest.mark.parametrize(
    "named, offset, followed",
    [
        ("one", 0, False),
        ("two", 4, True),
        (None, 4, True),
    ],
)
def test_a_reset_that_is_read_again_after_a_loss(
    named: str | None, offset: int, *, followed: bool
) -> None:
    """It is for the life that it names; without a name it is for whatever life there is."""
    story, a = owned_by_a()
    reset = story.resets_to(4, life=named)
    record = story.world.waiting[-1]
    if named != "two":
        follow_reset(story, a)
        assert a.works[0].reset == reset
    a.leaves()
    story.engine()
    story.made_anew("two")
    recovers(story, record)
    b = story.joins("b")
    story.points({0: "b"})
    passed(story, b)
    assert (start_of(b), b.works[0].reset) == (offset, reset if followed else 0)


def test_what_was_stopped_in_a_former_life_is_no_start() -> None:
    """A claims where it stopped, in the only acknowledgement that names a position of the queue."""
    story, a = owned_by_a()
    b = story.joins("b")
    story.engine()
    story.moves(0, "b")
    a.processes(50)
    a.reads_all()
    a.stops()
    story.engine()
    b.reads_all()
    assert start_of(b) == 50
    b.crashes()
    story.made_anew("two")
    recovers(story)
    story.points({0: "a"})
    passed(story, a)
    assert (story.owner(), start_of(a)) == ("a", 0)


def test_an_owner_of_a_former_life_is_dropped_and_its_release_is_no_start() -> None:
    """A works on a former identity during a loss, and moves to the new one (rule H28)."""
    story = Story()
    a = story.joins("a", commits=False)
    story.engine()
    a.reads_all()
    a.processes(50)
    story.made_anew("two")
    recovers(story)
    passed(story, a)
    assert a.works[0].stopping
    a.stops()
    assert a.releases[-1][2] == 50
    story.engine()
    a.reads_all()
    assert (story.owner(), start_of(a), len(a.starts)) == ("a", 0, 2)


def test_an_owner_of_the_present_life_goes_on_after_a_loss() -> None:
    """The topic was created again before the loss; A has followed, and stays where it is."""
    story, a = owned_by_a()
    a.processes(50)
    story.made_anew("two")
    story.engine()
    a.reads_all()
    a.stops()
    story.engine()
    a.reads_all()
    a.processes(7)
    recovers(story)
    passed(story, a)
    assert (story.owner(), len(a.starts), a.works[0].offset) == ("a", 2, 7)


@pytest.mark.parametrize("named, offset", [(True, 0), (False, 50)])
def test_a_commit_of_a_former_life_is_no_start(offset: int, *, named: bool) -> None:
    """A committed too late for its identity; a commit that names none always counts (rule H28)."""
    story, a = owned_by_a()
    a.processes(50)
    story.made_anew("two")
    a.leaves()
    assert story.committed[0].position == (0, 50)
    if not named:
        story.committed[0] = story.committed[0]._replace(identity=None)
    recovers(story)
    b = story.joins("b")
    story.points({0: "b"})
    if not named:
        story.done[0] = 50
    passed(story, b)
    assert (story.owner(), start_of(b)) == ("b", offset)
