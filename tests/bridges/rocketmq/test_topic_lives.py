"""Fallen ends show a topic that was made again, or a broker that lost its youngest messages."""

import pytest

from fairlead.bridges.rocketmq.topic_lives import Fall, TopicLives
from fairlead.core.model import MessageQueue
from fairlead.rocketmq.topic_ends import QueueEnd

_FIRST, _SECOND = MessageQueue("orders", "a", 0), MessageQueue("orders", "a", 1)
_LAST_MS = 5_000


def _ended(first: int, second: int = 5) -> TopicLives:
    """The topic after a look at these ends, whose last messages came at _LAST_MS."""
    lives = TopicLives(confirm_ms=1_000)
    ends = {_FIRST: QueueEnd(first, _LAST_MS), _SECOND: QueueEnd(second, _LAST_MS)}
    assert lives.note("orders", ends, now_ms=0) == ()
    return lives


def test_ends_that_stay_below_are_to_be_judged() -> None:
    """An answer without the fallen queue proves nothing."""
    lives = _ended(9)
    assert lives.note("orders", {_FIRST: QueueEnd(3)}, now_ms=1_000) == ()
    assert lives.note("orders", {_SECOND: QueueEnd(6)}, now_ms=1_500) == ()
    assert lives.note("orders", {_FIRST: QueueEnd(4)}, now_ms=2_000) == (_FIRST,)


def test_an_end_that_recovers_is_forgotten() -> None:
    """One lagging answer must not cost every group its offsets."""
    lives = _ended(9)
    lives.note("orders", {_FIRST: QueueEnd(3)}, now_ms=1_000)
    assert lives.falls("orders", {_SECOND: 5})
    lives.note("orders", {_FIRST: QueueEnd(9)}, now_ms=1_500)
    assert not lives.falls("orders", {_FIRST: 9, _SECOND: 5})
    assert lives.note("orders", {_FIRST: QueueEnd(3)}, now_ms=2_400) == ()


@pytest.mark.parametrize(
    "begun_ms, fall",
    [
        (None, Fall.MADE_AGAIN),
        (_LAST_MS + 1, Fall.MADE_AGAIN),
        (_LAST_MS, Fall.LOST_MESSAGES),
        (17, Fall.LOST_MESSAGES),
    ],
)
def test_what_a_queue_holds_tells_its_life(begun_ms: int | None, fall: Fall) -> None:
    """What was stored before the former last message is of the former life."""
    lives = _ended(9)
    lives.note("orders", {_FIRST: QueueEnd(3)}, now_ms=0)
    assert lives.judge("orders", {_FIRST: begun_ms}) is fall


def test_a_broker_that_does_not_say_is_asked_again() -> None:
    """Half an answer decides only if it shows another life."""
    lives = _ended(9, 9)
    lives.note("orders", {_FIRST: QueueEnd(3), _SECOND: QueueEnd(3)}, now_ms=0)
    assert lives.judge("orders", {_FIRST: 17}) is Fall.UNKNOWN
    assert lives.judge("orders", {_FIRST: 17, _SECOND: None}) is Fall.MADE_AGAIN


def test_lost_messages_lower_the_ends() -> None:
    """The topic goes on from its lower ends; the next fall is judged by them."""
    lives = _ended(9)
    lives.note("orders", {_FIRST: QueueEnd(7)}, now_ms=0)
    assert lives.judge("orders", {_FIRST: 17}) is Fall.LOST_MESSAGES
    lives.note("orders", {_FIRST: QueueEnd(7)}, now_ms=1)
    assert not lives.falls("orders", {_FIRST: 8})
    assert lives.falls("orders", {_FIRST: 6})


def test_a_new_life_has_no_former_ends() -> None:
    """Its queues begin at 0, which is no fall."""
    lives = _ended(9)
    lives.begin("orders")
    assert lives.note("orders", {_FIRST: QueueEnd(0)}, now_ms=1) == ()
    assert not lives.falls("orders", {_FIRST: 0})
