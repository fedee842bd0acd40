"""Whom a release is told to, beside the engine."""

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
    """A release is told to the client that its drop named, however often it is written."""
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
