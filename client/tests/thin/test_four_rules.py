"""The four rules of a client of the gateway, one by one."""

from typing import TYPE_CHECKING

from fairlead_client.model import Epoch, Queue
from fairlead_client.thin import thin_session as words
from fairlead_client.thin.thin_words import Stopped, Work

if TYPE_CHECKING:
    from tests.thin.conftest import ThinScript

QUEUE, EPOCH = Queue("orders", "main", 0), Epoch(1, 10)


def test_it_works_only_between_start_and_stop(running: "ThinScript") -> None:
    """Rule 1: a queue may be worked on from its start until the client has stopped it."""
    assert running.works(0)
    assert not running.works(1)
    running.answered(start=(1,))
    assert running.works(1)
    running.answered(stop=(0,))
    assert running.works(0)
    running.stopped(0, 105)
    assert not running.works(0)
    assert running.works(1)


def test_the_lease_counts_from_before_the_request(running: "ThinScript") -> None:
    """Rule 1: the lease of an answer begins when its request was sent, not when it came back."""
    assert running.session.lease_until_ms == 1_000 + 9_000
    running.wait(2_000)
    running.answered()
    assert running.session.lease_until_ms == 1_000 + 9_000
    running.wait(2_500)
    running.answered()
    assert running.session.lease_until_ms == 3_000 + 9_000


def test_it_works_only_while_the_lease_holds(running: "ThinScript") -> None:
    """Rule 1: at the end of the lease nothing may be worked on, even before anybody says so."""
    running.now_ms = 9_999
    assert running.works(0)
    running.now_ms = 10_000
    assert not running.works(0)


def test_a_shorter_lease_counts(running: "ThinScript") -> None:
    """Rule 1: the newest answer says how long the lease is, even if the one before said more."""
    running.answered(lease_ms=400)
    assert running.session.lease_until_ms == running.now_ms + 400
    running.now_ms += 400
    assert not running.works(0)


def test_it_finishes_what_is_in_hand(running: "ThinScript") -> None:
    """Rule 2: asked to stop, it works on until the application has stopped, then says where."""
    assert words.StopWork(QUEUE, EPOCH) in running.answered(stop=(0,))
    assert running.poll().stopped == ()
    assert running.poll().working == (Work(QUEUE, EPOCH, 100),)
    done = running.stopped(0, 107)
    assert [type(action) for action in done] == [words.SendPoll]
    assert running.poll().working == ()
    assert running.poll().stopped == (Stopped(QUEUE, EPOCH, 107),)


def test_it_says_stopped_until_an_answer_comes(running: "ThinScript") -> None:
    """Rule 2: `stopped` stands in every poll until one that said it is answered."""
    running.answered(stop=(0,))
    running.stopped(0, 107)
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    assert running.poll().stopped == (Stopped(QUEUE, EPOCH, 107),)
    running.answered(working=())
    assert running.poll().stopped == ()


def test_at_the_end_of_the_lease_it_stops_everything(running: "ThinScript") -> None:
    """Rule 2: when the lease ends it stops all work at once and says nothing of it."""
    running.answered(stop=(0,))
    running.progressed(0, 150)
    polls = len(running.polls)
    done = running.wait(9_000)
    assert done == [words.StopAll("lease_ended", ((QUEUE, EPOCH),))]
    assert running.state() is words.ThinState.FENCED
    joins = running.stopped(0, 150)
    assert [type(action) for action in joins] == [words.SendJoin]
    assert len(running.polls) == polls
    running.joined()
    assert (running.poll().working, running.poll().stopped) == ((), ())


def test_it_joins_again_only_when_all_work_has_stopped(running: "ThinScript") -> None:
    """Rule 2: while the application still has a queue in hand, the client stays out."""
    running.answered(start=(1,))
    running.wait(9_000)
    running.wait(60_000)
    running.stopped(0)
    assert len(running.joins) == 1
    running.stopped(1)
    assert len(running.joins) == 2


def test_it_says_its_positions_with_every_poll(running: "ThinScript") -> None:
    """Rule 3: every poll says the next offset of every work, and where the queue ends."""
    assert running.poll().working == (Work(QUEUE, EPOCH, 100, None),)
    assert running.progressed(0, 120, 400) == []
    running.answered()
    assert running.poll().working == (Work(QUEUE, EPOCH, 120, 400),)
    running.progressed(0, 130)
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    assert running.poll().working == (Work(QUEUE, EPOCH, 130, 400),)


def test_it_starts_at_exactly_the_given_offset(thin: "ThinScript") -> None:
    """Rule 3: the application starts each queue at the offset that the answer says."""
    thin.run()
    done = thin.answered(start=(0, 1))
    starts = [action for action in done if isinstance(action, words.StartWork)]
    assert starts == [
        words.StartWork(QUEUE, EPOCH, 100),
        words.StartWork(Queue("orders", "main", 1), Epoch(1, 11), 100),
    ]


def test_it_echoes_the_state(running: "ThinScript") -> None:
    """Rule 4: each poll carries the state of the newest answer, unchanged."""
    assert [poll.state for poll in running.polls] == ["t0", "t2"]
    running.answered()
    assert running.poll().state == "t3"
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    assert running.poll().state == "t3"


def test_every_request_has_a_greater_number(running: "ThinScript") -> None:
    """Rule 4: the sequence rises with every poll, over failures, losses and joins."""
    running.failed(running.poll().sequence)
    running.wait(words.RETRY_MS)
    running.wait(4_500)
    running.lost()
    running.stopped(0)
    running.joined()
    numbers = sorted([*running.joins, *(poll.sequence for poll in running.polls)])
    assert numbers == list(range(1, len(numbers) + 1))
    assert [poll.sequence for poll in running.polls] == sorted(
        poll.sequence for poll in running.polls
    )


def test_it_polls_without_a_pause(running: "ThinScript") -> None:
    """Rule 4: an answer leads to the next poll at once: somebody always waits for news."""
    assert [type(action) for action in running.answered()] == [words.SendPoll]
    assert running.poll().wait_ms == 3_000


def test_it_gives_up_what_is_not_answered(running: "ThinScript") -> None:
    """Rule 4: a poll without an answer is given up, and a newer one takes its place."""
    asked = running.poll().sequence
    assert running.session.next_deadline_ms() == running.now_ms + 4_500
    assert running.wait(4_499) == []
    assert [type(action) for action in running.wait(1)] == [words.SendPoll]
    assert running.poll().sequence == asked + 1
