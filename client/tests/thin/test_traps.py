"""What a client of the gateway must not fall into."""

from typing import TYPE_CHECKING

import pytest
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.thin import thin_session as words
from fairlead_client.thin.thin_words import PollAnswer, Start, Stopped

if TYPE_CHECKING:
    from tests.thin.conftest import ThinScript

QUEUE, EPOCH = Queue("orders", "main", 0), Epoch(1, 10)


def test_a_late_answer_of_a_former_poll_changes_nothing(running: "ThinScript") -> None:
    """What an earlier poll still brings is thrown away: its lease, its state and its starts."""
    former = running.poll().sequence
    running.wait(4_500)
    state, lease = running.poll().state, running.session.lease_until_ms
    assert running.answered(former, start=(1,), working=()) == []
    assert running.session.lease_until_ms == lease
    assert running.works(0)
    assert not running.works(1)
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    assert running.poll().state == state


def test_words_to_a_former_poll_end_nothing(running: "ThinScript") -> None:
    """A poll that was given up is refused by another gateway: the session goes on."""
    former = running.poll().sequence
    running.wait(4_500)
    assert running.lost("session_elsewhere", former) == []
    assert running.failed(former) == []
    assert running.state() is words.ThinState.POLLING
    assert running.works(0)


def test_an_answer_after_the_lease_ended_is_none(running: "ThinScript") -> None:
    """An answer that comes when the lease is over renews nothing: the client stops everything."""
    running.now_ms = 10_000
    done = running.answered(start=(1,))
    assert [type(action) for action in done] == [words.StopAll]
    assert not running.works(0)
    assert not running.works(1)


def test_an_answer_whose_own_lease_is_over_starts_nothing(running: "ThinScript") -> None:
    """The old lease holds, but the answer's own is over already: all work ends in that step."""
    running.wait(1_000)
    done = running.answered(start=(1,), lease_ms=900)
    assert words.StopAll in [type(action) for action in done]
    assert not running.works(0)
    assert not running.works(1)


def test_an_answer_of_a_former_session_is_none(running: "ThinScript") -> None:
    """A poll of the session before is answered after the new join: nothing of it counts."""
    former = running.poll().sequence
    running.lost()
    running.stopped(0)
    running.joined()
    assert running.answered(former, start=(1,)) == []
    assert not running.works(1)


def test_a_request_of_a_former_session_fails_no_join(thin: "ThinScript") -> None:
    """The failure of an old poll is no failure of the join under way, whatever their numbers."""
    thin.run()
    assert thin.poll().sequence == 2
    thin.lost()
    for number in range(1, thin.session.joins):
        assert thin.failed(number) == []
    thin.wait(words.RETRY_MS)
    assert len(thin.joins) == 2
    thin.joined()
    assert thin.state() is words.ThinState.POLLING


def test_at_the_deadline_it_stops_at_once(running: "ThinScript") -> None:
    """A queue that `working` does not name any more stops at once, at its last progress."""
    running.answered(stop=(0,))
    running.progressed(0, 120)
    running.wait(words.GATHER_MS)
    done = running.answered(stop=(0,), deadline_ms=0, working=())
    assert [type(action) for action in done] == [words.Abandon, words.SendPoll]
    assert not running.works(0)
    assert running.poll().stopped == (Stopped(QUEUE, EPOCH, 120),)
    assert running.stopped(0, 140) == []
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    assert running.poll().stopped == (Stopped(QUEUE, EPOCH, 120),)


def test_a_repeated_start_starts_nothing(running: "ThinScript") -> None:
    """A start that an answer says once more begins nothing again, and moves no position."""
    running.progressed(0, 130)
    done = running.answered(start=(0,))
    assert [type(action) for action in done] == [words.SendPoll]
    assert running.poll().working[0].position == 130


def test_a_newer_epoch_ends_the_older_work(running: "ThinScript") -> None:
    """A start under a newer epoch stops the work under the older one first."""
    newer = Epoch(1, 99)
    answer = PollAnswer("t", 9_000, (Start(QUEUE, newer, 500),), (), ((QUEUE, newer),))
    done = running.session.answered(running.poll().sequence, answer, running.now_ms)
    assert done[:2] == [words.Abandon(QUEUE, EPOCH), words.StartWork(QUEUE, newer, 500)]
    assert running.session.works(QUEUE, running.now_ms) == newer


def test_a_repeated_stop_is_asked_once(running: "ThinScript") -> None:
    """The application hears of a stop once, however often an answer says it."""
    running.answered(stop=(0,))
    running.answered(stop=(0,))
    running.leave()
    assert len(running.only(words.StopWork)) == 1


def test_stopped_without_a_stop_is_not_said(running: "ThinScript") -> None:
    """Nobody asked for it: the work goes on, and the gateway hears nothing."""
    assert running.stopped(0, 120) == []
    assert running.works(0)


def test_another_subscription_goes_out_at_once(running: "ThinScript") -> None:
    """Other topics give the poll under way up, and are said until an answer has come."""
    done = running.subscribe("payments")
    assert [type(action) for action in done] == [words.SendPoll]
    assert running.poll().subscriptions == (Subscription("payments"),)
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    assert running.poll().subscriptions == (Subscription("payments"),)
    running.answered()
    assert running.poll().subscriptions is None


def test_another_subscription_outlives_the_session(running: "ThinScript") -> None:
    """The next session says the newest topics, whatever its join said."""
    running.subscribe("payments")
    running.answered()
    running.lost()
    running.stopped(0)
    running.joined()
    assert running.poll().subscriptions == (Subscription("payments"),)


def test_it_leaves_when_nothing_is_in_hand(running: "ThinScript") -> None:
    """Closed with work in hand, it finishes that, starts nothing, and then says its last words."""
    assert words.StopWork(QUEUE, EPOCH) in running.leave()
    assert running.poll().leaving
    running.answered(start=(1,))
    assert not running.works(1)
    assert running.works(0)
    done = running.stopped(0, 133)
    assert [type(action) for action in done] == [words.SendLeave]
    assert running.poll().stopped == (Stopped(QUEUE, EPOCH, 133),)
    assert running.left() == [words.Close("left")]
    assert running.state() is words.ThinState.CLOSED


def test_last_words_are_said_again(running: "ThinScript") -> None:
    """A leave that gets lost goes out again while the lease holds; then the client is closed."""
    running.leave()
    running.stopped(0, 133)
    running.failed(running.poll().sequence)
    assert [type(action) for action in running.wait(words.RETRY_MS)] == [words.SendLeave]
    assert running.session.next_deadline_ms() <= running.session.lease_until_ms
    running.now_ms = running.session.lease_until_ms
    assert words.Close("left") in running.wait()


def test_the_end_of_the_lease_is_a_deadline_of_last_words(running: "ThinScript") -> None:
    """Whoever waits for `next_deadline_ms` hears at the end of the lease that all is over."""
    running.leave()
    running.now_ms += 5_000
    running.stopped(0)
    assert running.session.next_deadline_ms() == 10_000


@pytest.mark.parametrize("reason", ["lease_ended", "session_elsewhere", "state_replayed"])
def test_a_lost_session_is_joined_again(running: "ThinScript", reason: str) -> None:
    """The gateway says that the session is over: all work stops, then the client joins anew."""
    assert running.lost(reason) == [words.StopAll(reason, ((QUEUE, EPOCH),))]
    assert not running.works(0)
    assert [type(action) for action in running.stopped(0)] == [words.SendJoin]


def test_a_duplicate_stays_out(running: "ThinScript") -> None:
    """Another process has the client id: the client stops everything and does not join again."""
    running.lost("duplicate_client_id")
    assert running.stopped(0) == [words.Close("duplicate_client_id")]
    assert running.wait(60_000) == []


def test_a_join_that_fails_goes_out_again(thin: "ThinScript") -> None:
    """A join that failed goes out again after a pause, under a number of its own."""
    thin.wait()
    assert thin.failed(1) == []
    assert thin.wait(words.RETRY_MS - 1) == []
    assert thin.wait(1) == [words.SendJoin(2)]
    assert thin.joined(1) == []
    assert thin.state() is words.ThinState.JOINING
    thin.joined(2)
    assert thin.state() is words.ThinState.POLLING


def test_a_refused_join_goes_out_again_but_for_a_duplicate(thin: "ThinScript") -> None:
    """A join that makes no session is asked again, unless another process has the client id."""
    thin.wait()
    assert thin.lost("lease_ended", 1) == []
    assert thin.wait(words.RETRY_MS) == [words.SendJoin(2)]
    assert thin.lost("duplicate_client_id", 2) == [words.Close("duplicate_client_id")]


def test_a_join_that_takes_longer_than_its_lease_is_none(thin: "ThinScript") -> None:
    """A join whose lease is over when the answer comes leads to another join."""
    thin.wait()
    thin.now_ms += 3_000
    done = thin.joined(lease_ms=2_000)
    assert [type(action) for action in done] == [words.StopAll, words.SendJoin]


def test_closed_while_it_joins_it_ends_what_the_join_made(thin: "ThinScript") -> None:
    """A join under way may make a member: its client waits for the answer and ends the session."""
    thin.wait()
    assert thin.leave() == []
    assert [type(action) for action in thin.joined()] == [words.SendLeave]
    assert thin.left() == [words.Close("left")]


def test_closed_while_its_join_fails_it_is_closed(thin: "ThinScript") -> None:
    """No answer comes to the join of a client that closes: it closes, and joins no more."""
    thin.wait()
    thin.leave()
    assert thin.failed(1) == [words.Close("left")]
    assert thin.wait(60_000) == []


def test_closed_before_it_joins_it_is_closed(thin: "ThinScript") -> None:
    """A client that is closed before it began asks nobody."""
    assert thin.leave() == [words.Close("left")]


def test_nobody_waits_for_a_fenced_client(running: "ThinScript") -> None:
    """While only the application can go on, no time is due: whoever waits for it does not spin."""
    running.lost()
    assert running.session.next_deadline_ms() == words.NEVER_MS
    running.leave()
    running.stopped(0)
    assert running.state() is words.ThinState.CLOSED
    assert running.session.next_deadline_ms() == words.NEVER_MS


def test_stops_are_said_together(thin: "ThinScript") -> None:
    """It polls for the last of several stops, or in a moment; nobody's stop waits for long."""
    thin.run()
    thin.answered(start=(0, 1, 2))
    thin.answered(stop=(0, 1, 2))
    polls = len(thin.polls)
    assert thin.stopped(0) == []
    thin.wait(words.GATHER_MS - 1)
    assert thin.stopped(1) == []
    assert thin.wait(1) != []
    assert [each.queue.queue_id for each in thin.poll().stopped] == [0, 1]
    thin.stopped(2)
    assert [each.queue.queue_id for each in thin.poll().stopped] == [0, 1, 2]
    assert len(thin.polls) == polls + 2
