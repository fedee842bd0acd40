"""A clean leave, and the ways a client stops for good."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fairlead_client.errors import CallbackError, DuplicateClientIdError
from fairlead_client.model import Epoch, Queue
from fairlead_client.session import actions, events
from fairlead_client.session.states import SessionState

if TYPE_CHECKING:
    from tests.session.conftest import Script


QUEUE = Queue("orders", "main", 1)
"""The script's queue."""


def kinds(done: list[actions.Action]) -> list[str]:
    """Names of the actions, in order."""
    return [type(action).__name__ for action in done]


def test_an_idle_client_leaves_at_once(script: "Script") -> None:
    """A client without work leaves at once and is closed when the leave is in the log."""
    states = []
    for event in (events.LeaveRequested(), events.LeaveAppended("me-1")):
        script.feed(event)
        states.append(script.session.state)
    assert states == [SessionState.LEAVING, SessionState.CLOSED]
    assert script.done[-2:] == [actions.SendLeave("me-1", 2, Epoch(0, 0)), actions.Stopped(None)]


def test_a_leave_is_written_first(script: "Script") -> None:
    """The leave is written first: else the engine would grant what was released once more."""
    script.add(1)
    assert kinds(script.feed(events.LeaveRequested())) == ["SendLeave", "StopWork"]
    script.feed(events.LeaveAppended("me-1"))
    assert script.session.state is SessionState.LEAVING


def test_tells_what_it_started_last(script: "Script") -> None:
    """Leave and releases of a client that leaves name its newest start; other releases do not."""
    script.add(1)
    script.drop(1, record=2)
    script.stopped(1)
    script.add(3)
    script.add(4, after=(script.holder("me", 3), script.holder("b", 2)))
    script.feed(events.LeaveRequested())
    script.stopped(3)
    told = [
        action.last_started
        for action in script.done
        if isinstance(action, actions.SendRelease | actions.SendLeave)
    ]
    newest = script.epoch(3)
    assert told == [None, newest, newest, newest]


def test_closes_after_the_releases(script: "Script") -> None:
    """The client is closed when the leave and every release are known to be in the log."""
    script.add(1)
    script.feed(events.LeaveRequested())
    script.stopped(1, 5)
    assert script.releases == [(1, 5)]
    assert "Stopped" not in kinds(script.acknowledge_release())
    assert kinds(script.feed(events.LeaveAppended("me-1"))) == ["Stopped"]


def test_gates_are_answered(script: "Script") -> None:
    """Each gate is answered None before the client is closed."""
    script.add(2, after=(script.holder("b", 1),))
    assert kinds(script.feed(events.LeaveRequested())) == ["SendLeave", "SendRelease"]
    assert script.releases == [(2, None)]
    script.feed(events.LeaveAppended("me-1"))
    assert kinds(script.acknowledge_release()) == ["Stopped"]


def test_work_and_the_gate_behind_it_are_released(script: "Script") -> None:
    """Work and the gate behind it are both released."""
    script.add(1)
    script.add(3, after=(script.holder("me", 1), script.holder("b", 2)))
    script.feed(events.LeaveRequested())
    script.stopped(1, 4)
    assert script.releases == [(3, None), (1, 4)]


def test_an_add_while_leaving_is_answered_null(script: "Script") -> None:
    """An add that is read while leaving is answered None and never started (rule C14)."""
    script.add(1)
    script.feed(events.LeaveRequested())
    other = script.an_add(2)
    script.assign(2, add=(other,), assigned=script.held(1, 2))
    script.stopped(1)
    assert script.starts == [(1, 0)]
    assert (2, None) in script.releases


def test_a_leaving_client_acknowledges_a_new_generation(script: "Script") -> None:
    """A leaving client acknowledges a new generation, which waits for it."""
    script.add(1)
    script.feed(events.LeaveRequested())
    assert kinds(script.feed(events.GenerationRead(2))) == ["SendClaims"]


def test_a_leaving_client_keeps_its_lease(script: "Script") -> None:
    """A client that is still stopping keeps its lease."""
    script.add(1)
    script.feed(events.LeaveRequested())
    assert "SendHeartbeat" in kinds(script.live(3_000))


def test_a_leave_that_failed_is_written_again_once(script: "Script") -> None:
    """A leave that could not be written is written again, once."""
    script.feed(events.LeaveRequested())
    script.feed(events.LeaveFailed("me-1"))
    assert kinds(script.wait(200)) == ["SendLeave"]
    assert "SendLeave" not in kinds(script.wait(5_000, step=100))


def test_a_leave_without_an_answer_ends_with_the_lease(script: "Script") -> None:
    """A leave that is never acknowledged ends with the lease; no new incarnation follows."""
    script.feed(events.LeaveRequested())
    assert kinds(script.wait(10_000)) == ["StopEverything", "Stopped"]
    assert script.session.state is SessionState.CLOSED


def test_a_fenced_client_that_leaves_closes_after_its_work(script: "Script") -> None:
    """A fenced client that is asked to leave closes when its work has stopped."""
    script.add(1)
    script.wait(10_000)
    assert script.feed(events.LeaveRequested()) == []
    assert kinds(script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), 2))) == [
        "SendRelease",
        "Stopped",
    ]


def test_between_incarnations_a_client_closes_at_once(script: "Script") -> None:
    """A client that waits for its new incarnation closes at once."""
    script.wait(10_000)
    assert kinds(script.feed(events.LeaveRequested())) == ["Stopped"]


def test_a_client_that_never_started_closes_silently(scripts: Callable[..., "Script"]) -> None:
    """A client that never started closes without a word."""
    assert scripts().feed(events.LeaveRequested()) == [actions.Stopped(None)]


def test_before_the_first_acknowledgement(scripts: Callable[..., "Script"]) -> None:
    """A starting client leaves too: the engine may know it already."""
    script = scripts()
    script.start()
    assert kinds(script.feed(events.LeaveRequested())) == ["SendLeave"]


def test_the_lesser_duplicate_releases_leaves_and_stops(script: "Script") -> None:
    """For a greater winner the client releases, leaves, and stops with an error (rule C13)."""
    script.add(1)
    done = script.notice("duplicate_client_id", (1_001, "p-you"))
    assert kinds(done) == ["SendLeave", "StopWork"]
    script.stopped(1, 5)
    script.acknowledge_release()
    done = script.feed(events.LeaveAppended("me-1"))
    assert isinstance(done[0], actions.Stopped)
    assert isinstance(done[0].error, DuplicateClientIdError)


def test_duplicate_never_comes_back(script: "Script") -> None:
    """The loser draws no new incarnation, also if its lease ends before it has left (rule C13)."""
    script.notice("duplicate_client_id", (1_000, "p-you"))
    done = script.wait(10_000)
    assert kinds(done) == ["StopEverything", "Stopped"]


@pytest.mark.parametrize("winner", [(999, "p-you"), (1_000, "p-a"), (1_000, "p-me"), None])
def test_the_greater_duplicate_goes_on(script: "Script", winner: tuple[int, str] | None) -> None:
    """A winner that is no greater than this process stops nothing; the application hears of it."""
    script.add(1)
    done = script.notice("duplicate_client_id", winner)
    assert done == [actions.ReportNotice("duplicate_client_id", "a message")]
    assert script.session.state is SessionState.RUNNING
    assert script.session.counts["duplicates_told"] == 1


@pytest.mark.parametrize("code", ["wrong_partition", "rejected", "unsupported", "something_new"])
def test_any_other_notice_goes_to_the_application(script: "Script", code: str) -> None:
    """Any other notice is passed on to the application."""
    assert script.notice(code) == [actions.ReportNotice(code, "a message")]


def test_notice_to_another_incarnation(script: "Script") -> None:
    """A notice to an incarnation that is no more has no effect."""
    script.incarnation = "me-0"
    assert script.notice("lapsed") == []


def test_a_client_whose_callback_fails_leaves_with_the_error(script: "Script") -> None:
    """A client whose application cannot take queues leaves with that error."""
    script.add(1)
    error = CallbackError("on_assigned raised")
    assert kinds(script.feed(events.WorkFailed(error))) == ["SendLeave", "StopWork"]
    script.stopped(1)
    script.acknowledge_release()
    assert script.feed(events.LeaveAppended("me-1")) == [actions.Stopped(error)]


def test_failed_callback_while_fenced(script: "Script") -> None:
    """The same after the lease: closed when the work has stopped, without a new incarnation."""
    script.add(1)
    script.wait(10_000)
    error = CallbackError("on_assigned raised")
    script.feed(events.WorkFailed(error))
    done = script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), None))
    assert done[-1] == actions.Stopped(error)


def test_a_duplicate_that_is_leaving_leaves_with_the_error(script: "Script") -> None:
    """A client that is leaving anyway leaves with the error."""
    script.add(1)
    script.feed(events.LeaveRequested())
    assert script.notice("duplicate_client_id", (1_001, "p-you")) == []
    script.stopped(1)
    script.acknowledge_release()
    stopped = script.feed(events.LeaveAppended("me-1"))[0]
    assert isinstance(stopped, actions.Stopped)
    assert isinstance(stopped.error, DuplicateClientIdError)


def test_answers_to_another_incarnation(script: "Script") -> None:
    """Answers to what an earlier incarnation wrote mean nothing to this one."""
    script.feed(events.LeaveRequested())
    for event in (
        events.LeaveAppended("me-0"),
        events.LeaveFailed("me-0"),
        events.HeartbeatFailed("me-0", 1),
        events.ReleaseAppended("me-0", script.an_add(1).queue, script.epoch(1), None),
    ):
        assert script.feed(event) == []
    assert script.wait(200) == []


@pytest.fixture
def handing(script: "Script") -> "Script":
    """A client that leaves with a queue, and 3 s to hand it over."""
    script.add(1)
    assert kinds(script.feed(events.LeaveRequested(3_000))) == ["SendLeave"]
    script.feed(events.LeaveAppended("me-1"))
    return script


def test_works_on_until_the_engine_drops(handing: "Script") -> None:
    """With time to hand over, the leave is written, and the work goes on until the drop."""
    handing.feed(events.ProgressMade(QUEUE, handing.epoch(1), 7))
    assert handing.session.ownership.epochs == {QUEUE: handing.epoch(1)}
    assert "StopWork" in kinds(handing.drop(1, record=2))
    handing.stopped(1, 9)
    assert handing.releases == [(1, 9)]
    assert "Stopped" in kinds(handing.acknowledge_release())


def test_stops_what_nobody_drops(handing: "Script") -> None:
    """When the time to hand over has passed, it stops what no engine has dropped."""
    handing.live(2_900)
    assert handing.session.next_deadline_ms() <= handing.now + 100
    assert handing.stops == []
    handing.live(100)
    assert handing.stops == [1]


def test_a_second_close_hurries(handing: "Script") -> None:
    """A second request may shorten the time, and never lengthens it."""
    assert kinds(handing.feed(events.LeaveRequested(9_000))) == []
    assert kinds(handing.feed(events.LeaveRequested())) == ["StopWork"]
    assert kinds(handing.feed(events.LeaveRequested())) == []


def test_a_failure_hurries(handing: "Script") -> None:
    """An application that cannot work hands nothing over."""
    assert kinds(handing.feed(events.WorkFailed(CallbackError("broken")))) == ["StopWork"]


def test_starts_nothing_while_it_hands_over(handing: "Script") -> None:
    """What the engine adds late is answered None, and the work before it goes on."""
    done = handing.add(3, after=(handing.holder("me", 1), handing.holder("b", 2)))
    assert handing.releases == [(3, None)]
    assert not {"StartWork", "StopWork"} & set(kinds(done))


def test_a_gate_behind_work_that_is_handed_over_is_answered(script: "Script") -> None:
    """The gate is answered None as the leave is written, not behind the work: it never opens."""
    script.add(1)
    script.add(3, after=(script.holder("me", 1), script.holder("b", 2)))
    script.feed(events.LeaveRequested(3_000))
    assert script.releases == [(3, None)]
    assert script.stops == []
