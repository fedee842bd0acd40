"""Who hears of a release, beside the engine."""

from typing import TYPE_CHECKING

from fairlead_client.session import actions, events

if TYPE_CHECKING:
    from tests.session.conftest import Script


def told(script: "Script") -> list[tuple[int, str | None]]:
    """(epoch number, successor) of each release written so far."""
    return [
        (action.epoch.number, action.successor)
        for action in script.done
        if isinstance(action, actions.SendRelease)
    ]


def test_the_drop_names_who_waits(script: "Script") -> None:
    """The client sends a release to the successor that its drop named, at every repetition."""
    script.add(1)
    script.drop(1, record=2, successor="b")
    script.stopped(1)
    script.feed(events.ReleaseFailed("me-1", script.done[-1].queue, script.epoch(1)))  # type: ignore[union-attr]  # a release
    script.live(1_000)
    assert told(script) == [(1, "b"), (1, "b")]


def test_what_was_not_started_is_told_too(script: "Script") -> None:
    """The one who is next waits for the answer of a client that never started."""
    script.add(2, after=(script.holder("b", 1),))
    script.drop(2, record=3, successor="c")
    assert told(script) == [(2, "c")]


def test_a_former_successor_is_forgotten(script: "Script") -> None:
    """Who waited for an earlier tenure of the queue is not who waits for this one."""
    script.add(1)
    script.drop(1, record=2, successor="b")
    script.stopped(1)
    script.add(3, after=(script.holder("me", 1),))
    script.acknowledge_release()
    script.feed(events.LeaveRequested())
    script.stopped(3)
    assert told(script) == [(1, "b"), (3, None)]


def test_a_start_that_waits_for_its_commit(script: "Script") -> None:
    """A queue that is dropped while the reset of its start is committed is handed on as well."""
    from fairlead_client.model import Position

    script.add(1, Position(7, 3))
    script.drop(1, record=2, successor="b")
    script.commit(script.done)
    assert told(script) == [(1, "b")]


def test_a_member_that_lingers_works_on_until_its_turn(script: "Script") -> None:
    """The queue stays its own, its progress counts, and it is stopped when the time is over."""
    script.add(1)
    queue, epoch = script.an_add(1).queue, script.epoch(1)
    script.drop(1, record=2, successor="b", linger_ms=40)
    assert script.session.ownership.epochs == {queue: epoch}
    assert script.session.next_deadline_ms() == script.now + 40
    script.feed(events.ProgressMade(queue, epoch, 9))
    script.drop(1, record=2, successor="b")
    script.wait(39)
    assert script.stops == []
    script.wait(1)
    assert script.stops == [1]
    script.stopped(1)
    assert script.releases == [(1, 9)]


def test_who_leaves_does_not_linger(script: "Script") -> None:
    """A client that leaves stops at once what it would have worked on."""
    script.add(1)
    script.drop(1, record=2, successor="b", linger_ms=40)
    script.feed(events.LeaveRequested())
    assert script.stops == [1]


def test_who_loses_its_lease_does_not_linger(script: "Script") -> None:
    """When the lease ends everything stops, and the turn that was waited for stops nothing more."""
    script.add(1)
    script.drop(1, record=2, successor="b", linger_ms=40)
    done = script.notice("lapsed")
    (everything,) = [each for each in done if isinstance(each, actions.StopEverything)]
    assert everything.work == ((script.an_add(1).queue, script.epoch(1)),)
    script.wait(40)
    assert script.stops == []


def test_nobody_lingers_for_longer_than_a_second(script: "Script") -> None:
    """Whatever a record says, a drop is obeyed soon."""
    script.add(1)
    script.drop(1, record=2, successor="b", linger_ms=3_600_000)
    script.live(1_000)
    assert script.stops == [1]


def test_who_is_told_nothing_of_turns_stops_at_once(script: "Script") -> None:
    """An engine of before, and a drop that nobody waits for, name no time."""
    script.add(1)
    script.drop(1, record=2)
    assert script.stops == [1]


def test_the_last_end_is_told_beside_a_release(script: "Script") -> None:
    """The engine believes a release up to an end that it knows: it learns it with the release."""
    script.add(1)
    queue, epoch = script.an_add(1).queue, script.epoch(1)
    script.drop(1, record=2, successor="b")
    script.feed(events.WorkStopped(queue, epoch, 30, end=40))
    words = [
        action
        for action in script.done
        if isinstance(action, actions.SendProgress | actions.CommitProgress)
    ]
    assert isinstance(words[0], actions.SendProgress)
    (entry,) = words[0].entries
    assert (entry.epoch, entry.position.offset, entry.end) == (epoch, 30, 40)


def test_a_work_that_goes_on_from_before_its_start_says_so(script: "Script") -> None:
    """Its start was beyond the end of the queue: what it tells and releases is where it is."""
    from fairlead_client.model import Position

    script.add(1, Position(0, 900))
    queue, epoch = script.an_add(1).queue, script.epoch(1)
    script.feed(events.ProgressMade(queue, epoch, 20, 30))
    script.drop(1, record=2, successor="b")
    script.feed(events.WorkStopped(queue, epoch, 25))
    script.commit(script.done)
    released = [action for action in script.done if isinstance(action, actions.SendRelease)]
    assert [one.position for one in released] == [Position(0, 25)]


def test_a_reset_that_the_engine_does_not_know(script: "Script") -> None:
    """A release that counts one opens its gate and says nothing of where: the grant does."""
    from fairlead_client.model import Position

    holder = script.holder("b", 1)
    script.add(2, Position(4, 30), after=(holder,))
    script.released(holder, Position(2**62, 150))
    assert [action for action in script.done if isinstance(action, actions.StartWork)] == []
    script.commit(script.done)
    (started,) = [each for each in script.done if isinstance(each, actions.StartWork)]
    assert started.position == Position(4, 30)
    assert script.session.counts["releases_doubted"] == 1
