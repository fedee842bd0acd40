"""The lease: counted from before a heartbeat was sent, tested before it is extended."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from fairlead_client.session import actions, events
from fairlead_client.session.states import SessionState

if TYPE_CHECKING:
    from tests.session.conftest import Script


def kinds(done: list[actions.Action]) -> list[str]:
    """Names of the actions, in order."""
    return [type(action).__name__ for action in done]


def test_counts_from_before_sending(script: "Script") -> None:
    """The lease ends lease_ms after the heartbeat was sent, not after it was acknowledged."""
    script.now = 4_000
    script.acknowledge_heartbeat(sent_at=3_000)
    assert script.session.ownership.until_ms == 13_000


def test_older_acknowledgement_shortens_nothing(script: "Script") -> None:
    """Acknowledgements out of order leave the newest one in force."""
    script.now = 5_000
    script.acknowledge_heartbeat(sent_at=4_000)
    script.acknowledge_heartbeat(sent_at=1_000)
    assert script.session.ownership.until_ms == 14_000


def test_at_the_end_of_the_lease_everything_stops(script: "Script") -> None:
    """At its end everything stops, then a new incarnation is asked for, with a blank memory."""
    script.add(1)
    script.now = 9_999
    assert script.session.handle(events.AssignmentsReadToEnd(0), 9_999) == []
    script.now = 10_000
    done = script.feed(events.TimePassed())
    assert kinds(done) == ["StopEverything"]
    done = script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), 3))
    assert kinds(done) == ["SendRelease", "NewIncarnationNeeded"]
    done = script.run("me-2")
    heartbeat = next(action for action in done if isinstance(action, actions.SendHeartbeat))
    assert (heartbeat.incarnation, heartbeat.incarnations, heartbeat.sequence) == ("me-2", 2, 1)
    assert heartbeat.digest == "0" * 16
    assert script.session.queue_memory(script.an_add(1).queue) is None


def test_true_release_after_the_end(script: "Script") -> None:
    """What stopped after the lease is released under the old incarnation, and not committed."""
    script.add(1)
    script.wait(10_000)
    done = script.feed(events.WorkStopped(script.an_add(1).queue, script.epoch(1), 3))
    release = next(action for action in done if isinstance(action, actions.SendRelease))
    assert (release.incarnation, release.position) == ("me-1", (0, 3))
    assert "CommitProgress" not in kinds(done)


def test_an_idle_client_is_fenced_too(script: "Script") -> None:
    """A client without work is fenced too, and needs nothing to stop."""
    assert kinds(script.wait(10_000)) == ["StopEverything", "NewIncarnationNeeded"]


def test_answer_to_the_old_incarnation(script: "Script") -> None:
    """An acknowledgement of the old incarnation's heartbeat gives the new one no lease."""
    script.wait(10_000)
    script.start("me-2")
    script.feed(events.HeartbeatAppended("me-1", 4, 9_500))
    assert script.session.state is SessionState.STARTING


def test_no_work_without_a_lease(scripts: Callable[..., "Script"]) -> None:
    """An add read before the first acknowledgement starts with it, not before."""
    script = scripts()
    script.start()
    script.add(1)
    assert script.starts == []
    script.acknowledge_heartbeat()
    assert script.starts == [(1, 0)]


def test_first_lease_counts_from_the_start(scripts: Callable[..., "Script"]) -> None:
    """Without an acknowledgement in the first lease_ms, adds are forgotten with the incarnation."""
    script = scripts()
    script.start()
    script.add(1)
    script.now = 10_000
    done = script.acknowledge_heartbeat(sent_at=9_500)
    assert kinds(done) == ["StopEverything", "NewIncarnationNeeded"]
    assert script.starts == []


def test_a_clock_that_goes_back_lengthens_no_lease(script: "Script") -> None:
    """A clock that goes back does not lengthen the lease."""
    script.now = 9_000
    script.feed(events.TimePassed())
    script.now = 1_000
    script.acknowledge_heartbeat(sent_at=1_000)
    script.now = 11_000
    assert "StopEverything" in kinds(script.feed(events.TimePassed()))


def test_heartbeats_go_every_heartbeat_ms(script: "Script") -> None:
    """Heartbeats go every heartbeat_ms, with a growing sequence number."""
    done = script.live(9_500)
    beats = [action for action in done if isinstance(action, actions.SendHeartbeat)]
    assert [beat.sequence for beat in beats] == [2, 3, 4]


def test_deaf_client_stays_silent(script: "Script") -> None:
    """Without assignments read to the end within a third of the lease no heartbeat is sent."""
    script.now = 3_334
    assert kinds(script.feed(events.TimePassed())) == []
    assert script.session.counts["heartbeats_withheld"] == 1
    assert script.session.next_deadline_ms() > script.now
    script.feed(events.AssignmentsReadToEnd(3_400))
    script.now = 3_600
    assert kinds(script.feed(events.TimePassed())) == ["SendHeartbeat"]


def test_failed_heartbeat_is_followed_soon(script: "Script") -> None:
    """A heartbeat that failed is followed by another within the retry time."""
    script.now = 500
    script.feed(events.HeartbeatFailed("me-1", 1))
    script.now = 700
    assert kinds(script.feed(events.TimePassed())) == ["SendHeartbeat"]


def test_early_heartbeats_are_paced(script: "Script") -> None:
    """The client gathers changes for a moment, and sends many of them in few heartbeats."""
    script.live(1_000)
    script.add(1)
    assert kinds(script.feed(events.TimePassed())) == []
    assert sorted(kinds(script.wait(300))) == ["SendHeartbeat", "SendProgress"]
    for number in range(2, 6):
        script.drop(number)
        assert kinds(script.feed(events.TimePassed())) == []
    assert kinds(script.wait(300)) == []
    assert kinds(script.wait(100)).count("SendHeartbeat") == 1


def test_a_changed_subscription_goes_out_at_once(script: "Script") -> None:
    """The client sends a change of the subscription at once."""
    wanted = (*script.session.handle(events.TimePassed(), 0),)
    assert wanted == ()
    subscriptions = ()
    script.feed(events.SubscriptionChanged(subscriptions))
    done = script.feed(events.TimePassed())
    assert isinstance(done[0], actions.SendHeartbeat)
    assert done[0].subscriptions == subscriptions


def test_a_wanted_decision_is_asked_for_until_it_is_appended(script: "Script") -> None:
    """Asked for at once, and again until a heartbeat that asks is appended; then no more."""

    def beat(event: events.Event, *, after: int = 0) -> actions.SendHeartbeat:
        script.feed(event)
        (sent,) = script.wait(after) if after else script.feed(events.TimePassed())
        assert isinstance(sent, actions.SendHeartbeat)
        return sent

    before = beat(events.SubscriptionChanged(()))
    assert not before.decide
    first = beat(events.DecisionWanted())
    assert first.decide
    # That an earlier one is in the log says nothing, and that it failed is no end of it.
    script.feed(events.HeartbeatAppended("me-1", before.sequence, script.now))
    again = beat(events.HeartbeatFailed("me-1", first.sequence), after=200)
    assert again.decide
    script.feed(events.HeartbeatAppended("me-1", again.sequence, script.now))
    assert not beat(events.SubscriptionChanged(())).decide
    # What is asked for while one that asks is under way is asked for anew.
    one = beat(events.DecisionWanted())
    other = beat(events.DecisionWanted())
    script.feed(events.HeartbeatAppended("me-1", one.sequence, script.now))
    assert beat(events.SubscriptionChanged(())).decide
    script.feed(events.HeartbeatAppended("me-1", other.sequence, script.now))
    assert not beat(events.SubscriptionChanged(())).decide


def test_after_a_lapsed_notice_the_client_begins_anew(script: "Script") -> None:
    """The engine took the client for dead: it stops and begins anew."""
    script.add(1)
    assert kinds(script.notice("lapsed")) == ["StopEverything"]
    script.stopped(1, 1)
    assert "NewIncarnationNeeded" in kinds(script.done)


def test_hanging_work_after_the_end(script: "Script") -> None:
    """Work that does not stop holds the new incarnation up until the drain deadline."""
    script.add(1)
    script.wait(10_000)
    script.wait(29_999)
    assert "NewIncarnationNeeded" not in kinds(script.done)
    done = script.wait(1)
    assert kinds(done) == ["AbandonWork", "SendRelease", "NewIncarnationNeeded"]


def test_the_next_deadline_is_progress_heartbeat_or_lease(script: "Script") -> None:
    """Without work, time has to pass at the next progress, heartbeat or end of the lease."""
    assert script.session.next_deadline_ms() == 1_000
    script.now = 1_000
    script.feed(events.TimePassed())
    assert script.session.next_deadline_ms() == 2_000
