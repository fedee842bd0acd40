"""How work stops: commit before release, retries, deadlines; and how it starts after a reset."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fairlead_client.model import Position, Progress
from fairlead_client.session import actions, events

if TYPE_CHECKING:
    from tests.session.conftest import Script


def kinds(done: list[actions.Action]) -> list[str]:
    """Names of the actions, in order."""
    return [type(action).__name__ for action in done]


def test_the_commit_comes_before_the_release(script: "Script") -> None:
    """The final position is committed before the release is written."""
    queue = script.an_add(1).queue
    script.add(1)
    script.drop(1)
    final = Progress(queue, script.epoch(1), Position(0, 9))
    done = script.feed(events.WorkStopped(queue, script.epoch(1), 9))
    assert done == [actions.CommitProgress((final,), 2_000)]
    done = script.feed(events.CommitFinished((final,), committed=True))
    assert kinds(done) == ["SendRelease"]


def test_a_failed_commit_does_not_hold_the_release_up(script: "Script") -> None:
    """A commit that failed does not hold the release up: the release carries the position."""
    queue = script.an_add(1).queue
    script.add(1)
    script.drop(1)
    script.feed(events.WorkStopped(queue, script.epoch(1), 9))
    final = Progress(queue, script.epoch(1), Position(0, 9))
    done = script.feed(events.CommitFinished((final,), committed=False))
    assert kinds(done) == ["SendRelease"]
    assert script.session.counts["commits_failed"] == 1


def test_a_silent_commit_holds_the_release_up_until_its_timeout(script: "Script") -> None:
    """A commit that never ends holds the release up for the commit timeout only."""
    script.add(1)
    script.drop(1)
    script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), 9))
    script.live(1_900)
    assert script.releases == []
    script.live(100)
    assert script.releases == [(1, 9)]


def test_commit_of_an_earlier_position(script: "Script") -> None:
    """The end of an earlier commit is not mistaken for that of the final position."""
    queue = script.an_add(1).queue
    script.add(1)
    script.feed(events.ProgressMade(queue, script.epoch(1), 4))
    done = script.live(5_000)
    commit = next(a for a in done if isinstance(a, actions.CommitProgress))
    script.drop(1)
    script.feed(events.WorkStopped(queue, script.epoch(1), 9))
    assert script.feed(events.CommitFinished(commit.entries, committed=True)) == []


def test_a_committed_position_is_released_without_another_commit(script: "Script") -> None:
    """What is committed already is released without another commit."""
    queue = script.an_add(1).queue
    script.add(1)
    script.feed(events.ProgressMade(queue, script.epoch(1), 4))
    script.commit(script.live(5_000))
    script.drop(1)
    assert kinds(script.feed(events.WorkStopped(queue, script.epoch(1), 4))) == ["SendRelease"]


def test_only_a_changed_end_is_sent_as_progress(script: "Script") -> None:
    """A changed end is sent as progress, an unchanged one is not, and a new tenure forgets it."""
    queue = script.an_add(1).queue
    script.add(1)
    script.live(1_000)
    told = []
    for end in (9, 9, 12):
        script.feed(events.ProgressMade(queue, script.epoch(1), 0, end))
        done = script.live(1_000)
        told.append([a.entries[0].end for a in done if isinstance(a, actions.SendProgress)])
    assert told == [[9], [], [12]]
    script.drop(1)
    script.stopped(1, 4)
    script.add(2)
    done = script.live(1_000)
    assert [a.entries[0].end for a in done if isinstance(a, actions.SendProgress)] == [None]


def test_how_idle_is_told_once(script: "Script") -> None:
    """One progress says how long ago a pull was tried; later ones do not repeat it."""
    queue = script.an_add(1).queue
    script.add(1)
    script.live(1_000)
    told = []
    for offset, idle_ms in ((0, 130_000), (0, None), (0, 140_000), (3, None)):
        script.feed(events.ProgressMade(queue, script.epoch(1), offset, None, idle_ms))
        done = script.live(1_000)
        told.append([a.entries[0].idle_ms for a in done if isinstance(a, actions.SendProgress)])
    assert told == [[130_000], [], [140_000], [None]]
    script.feed(events.ProgressMade(queue, script.epoch(1), 3, None, 150_000))
    script.drop(1)
    script.stopped(1, 4)
    script.add(2)
    done = script.live(1_000)
    assert [a.entries[0].idle_ms for a in done if isinstance(a, actions.SendProgress)][-1:] == [
        None
    ]


def test_a_client_without_commits_releases_at_once(scripts: Callable[..., "Script"]) -> None:
    """A client that commits nothing releases at once, and starts after a reset at once."""
    script = scripts(commits=False)
    script.run()
    script.add(1, base=Position(5, 2))
    assert script.starts == [(1, 2)]
    script.drop(1)
    assert kinds(script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), 3))) == [
        "SendRelease"
    ]
    assert "CommitProgress" not in kinds(script.live(6_000))


def test_a_release_is_written_until_it_is_acknowledged(script: "Script") -> None:
    """A release that could not be written is written again until it is acknowledged (rule C6)."""
    script.drop(1)
    for _ in range(3):
        script.feed(events.ReleaseFailed("me-1", script.an_add(1).queue, script.epoch(1)))
        assert "SendRelease" not in kinds(script.live(100))
        assert "SendRelease" in kinds(script.live(100))
    script.acknowledge_release()
    script.feed(events.ReleaseFailed("me-1", script.an_add(1).queue, script.epoch(1)))
    assert "SendRelease" not in kinds(script.live(1_000))


def test_final_offset_never_goes_back(script: "Script") -> None:
    """A final offset below what was reported as processed is not believed."""
    script.add(1)
    script.feed(events.ProgressMade(script.an_add(1).queue, script.epoch(1), 8))
    script.drop(1)
    script.stopped(1, 3)
    assert script.releases == [(1, 8)]


def test_without_a_final_offset_the_progress_is_released(script: "Script") -> None:
    """Without a final offset the progress made so far is released."""
    script.add(1, base=2)
    script.drop(1)
    script.feed(events.ProgressMade(script.an_add(1).queue, script.epoch(1), 6))
    script.stopped(1)
    assert script.releases == [(1, 6)]


def test_after_the_drain_deadline_the_queue_is_abandoned(script: "Script") -> None:
    """After the drain deadline the queue is abandoned and released at its contiguous position."""
    queue = script.an_add(1).queue
    script.add(1)
    script.feed(events.ProgressMade(queue, script.epoch(1), 6))
    script.drop(1)
    assert "AbandonWork" not in kinds(script.live(29_900))
    assert script.session.ownership.epochs == {queue: script.epoch(1)}
    done = script.live(100)
    assert actions.AbandonWork(queue, script.epoch(1)) in done
    assert script.session.ownership.epochs == {}
    script.commit(done)
    script.stopped(1, 50)
    script.feed(events.ProgressMade(queue, script.epoch(1), 60))
    assert script.releases == [(1, 6)]
    assert script.session.counts["forced_releases"] == 1


def test_without_a_drain_deadline_work_may_take_its_time(scripts: Callable[..., "Script"]) -> None:
    """Without a drain deadline the work may take as long as it likes."""
    script = scripts(drain_deadline_ms=None)
    script.run()
    script.add(1)
    script.drop(1)
    script.live(120_000)
    assert script.releases == []


def test_late_stop_of_an_abandoned_queue(script: "Script") -> None:
    """The late end of abandoned work does not stop the same queue's next work."""
    script.add(1)
    script.drop(1)
    script.commit(script.live(30_000))
    script.add(2)
    script.stopped(1, 9)
    assert script.session.ownership.epochs == {script.an_add(1).queue: script.epoch(2)}


def test_changed_positions_are_sent_each_progress_ms(script: "Script") -> None:
    """Changed positions go to the engine each progress_ms, and again when they were not written."""
    queue = script.an_add(1).queue
    script.add(1)
    script.feed(events.TimePassed())
    script.feed(events.ProgressMade(queue, script.epoch(1), 5))
    script.feed(events.ProgressMade(queue, script.epoch(1), 3))
    sent = [a for a in script.live(3_000) if isinstance(a, actions.SendProgress)]
    entry = Progress(queue, script.epoch(1), Position(0, 5))
    assert sent == [actions.SendProgress("me-1", (entry,))]
    script.feed(events.ProgressFailed("me-1", (entry,)))
    assert [a for a in script.live(1_000) if isinstance(a, actions.SendProgress)] == sent


def test_reset_is_committed_first(script: "Script") -> None:
    """Work that follows a reset begins after the pair is committed, however often that fails."""
    base = Position(5, 2)
    done = script.add(1, base=base)
    entry = Progress(script.an_add(1).queue, script.epoch(1), base)
    assert actions.CommitProgress((entry,), 2_000) in done
    assert script.session.ownership.epochs == {}
    script.feed(events.CommitFinished((entry,), committed=False))
    done = script.live(200)
    assert "CommitProgress" in kinds(done)
    assert script.starts == []
    script.commit(done)
    assert script.starts == [(1, 2)]


def test_drop_before_the_reset_is_committed(script: "Script") -> None:
    """Work that never began is released where it would have begun, and is not None."""
    script.add(1, base=Position(5, 2))
    script.drop(1)
    script.live(2_000)
    assert (script.starts, script.releases) == ([], [(1, 2)])


def test_leave_before_the_reset_is_committed(script: "Script") -> None:
    """The same when the client leaves."""
    script.add(1, base=Position(5, 2))
    script.commit(script.feed(events.LeaveRequested()))
    assert (script.starts, script.releases) == ([], [(1, 2)])


def test_lease_ends_before_the_reset_is_committed(script: "Script") -> None:
    """The same when the lease ends: nothing has to stop."""
    script.add(1, base=Position(5, 2))
    assert kinds(script.wait(10_000))[-1] == "NewIncarnationNeeded"


def test_release_waiting_at_the_end_of_the_lease(script: "Script") -> None:
    """A release that still waits for its commit is written once when the lease ends."""
    script.add(1)
    script.now = 9_000
    script.drop(1)
    script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), 9))
    assert script.releases == []
    script.wait(1_000)
    assert script.releases == [(1, 9)]
