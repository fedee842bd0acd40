"""The book publishes what is new at once, and what is lost only when it stays lost."""

import itertools

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.route_look import RouteLook, TopicRefused
from fairlead.core.model import MessageQueue, Route, RouteBroker
from fairlead.core.records import RouteChanged

_FIRST, _SECOND = MessageQueue("orders", "a", 0), MessageQueue("orders", "a", 1)


def _book() -> RocketMQRouteBook:
    lives = itertools.count(1)
    return RocketMQRouteBook("main", confirm_ms=1_000, new_life=lambda: f"life-{next(lives)}")


def _look(*queues: int, complete: bool = True, perm: int = 6) -> RouteLook:
    brokers = tuple(
        RouteBroker("ab"[index], perm, number, number, "main", {"0": "h:1"})
        for index, number in enumerate(queues)
    )
    return RouteLook("orders", brokers, None, complete)


def _find(
    book: RocketMQRouteBook, look: RouteLook | TopicRefused, now_ms: int, *, requested: bool = False
) -> Finding:
    """Find, and note what is to be published as written."""
    found = book.find(look, now_ms=now_ms, requested=requested)
    if found.publish is not None:
        book.note(found.publish)
    return found


def _life(found: Finding) -> str | None:
    return None if found.route is None else found.route.identity


def test_new_topics_and_more_queues_are_published_at_once() -> None:
    """Growth keeps the life; an unchanged route is published only to who lacks it."""
    book = _book()
    assert _find(book, _look(4), 0).verdict is Verdict.NEW
    grown = _find(book, _look(8, 8, complete=False), 1)
    assert (grown.verdict, _life(grown)) == (Verdict.CHANGED, "life-1")
    assert _find(book, _look(8, 8), 2).publish is None
    assert _find(book, _look(8, 8), 3, requested=True).publish is not None
    assert list(book.own_topics()) == ["orders"]


def test_a_loss_must_last() -> None:
    """A broker is removed by the second look; one that came back in between begins anew."""
    book = _book()
    _find(book, _look(4, 4), 0)
    assert _find(book, _look(4), 1_000).verdict is Verdict.UNCONFIRMED
    assert _find(book, _look(4, 4), 1_500).verdict is Verdict.UNCHANGED
    assert _find(book, _look(4), 2_000).verdict is Verdict.UNCONFIRMED
    assert _find(book, _look(4), 2_999).verdict is Verdict.UNCONFIRMED
    removed = _find(book, _look(4), 3_000)
    assert (removed.verdict, _life(removed)) == (Verdict.CHANGED, "life-1")


def test_an_outage_of_a_name_server_removes_nothing() -> None:
    """However long one is silent, neither topics nor brokers count as lost."""
    book = _book()
    _find(book, _look(4, 4), 0)
    for now_ms in (1_000, 100_000):
        assert _find(book, _look(4, complete=False), now_ms).verdict is Verdict.UNCLEAR
        assert _find(book, _look(complete=False), now_ms).verdict is Verdict.UNCLEAR
    assert list(book.own_topics()) == ["orders"]


def test_shrinking_takes_writes_away_at_once() -> None:
    """The change of rights is no loss of queues."""
    book = _book()
    _find(book, _look(4), 0)
    assert _find(book, _look(4, perm=4), 1).verdict is Verdict.CHANGED


def test_a_topic_that_was_absent_has_another_life() -> None:
    """Offsets of the deleted topic must not count for the next one of its name."""
    book = _book()
    assert _find(book, _look(), 0).verdict is Verdict.ABSENT
    _find(book, _look(4), 1)
    assert _find(book, _look(), 1_000).verdict is Verdict.UNCONFIRMED
    gone = _find(book, _look(), 2_000)
    assert (gone.verdict, gone.publish) == (Verdict.DELETED, RouteChanged("orders", None))
    assert _life(_find(book, _look(4), 3_000)) == "life-2"


def test_an_end_that_fell_and_stays_below_renews_the_life() -> None:
    """A deletion between two looks shows in the ends alone."""
    book = _book()
    _find(book, _look(2), 0)
    book.note_ends("orders", {_FIRST: 9, _SECOND: 5}, now_ms=0)
    book.note_ends("orders", {_FIRST: 3, _SECOND: 5}, now_ms=1_000)
    assert _life(_find(book, _look(2), 1_000)) == "life-1"
    # An answer without the fallen queue proves nothing.
    book.note_ends("orders", {_SECOND: 6}, now_ms=1_500)
    book.note_ends("orders", {_FIRST: 4}, now_ms=2_000)
    assert _life(_find(book, _look(2), 2_000)) == "life-2"
    book.note_ends("orders", {_FIRST: 4, _SECOND: 6}, now_ms=3_000)
    assert _life(_find(book, _look(2), 9_000)) == "life-2"


def test_an_end_that_recovers_keeps_the_life() -> None:
    """One lagging answer must not cost every group its offsets."""
    book = _book()
    _find(book, _look(1), 0)
    book.note_ends("orders", {_FIRST: 9}, now_ms=0)
    book.note_ends("orders", {_FIRST: 3}, now_ms=1_000)
    book.note_ends("orders", {_FIRST: 9}, now_ms=1_500)
    book.note_ends("orders", {_FIRST: 3}, now_ms=2_400)
    assert _life(_find(book, _look(1), 2_400)) == "life-1"


def test_another_clusters_topic_is_left_to_its_bridge() -> None:
    """Two bridges that publish one topic in turn would renew its life each time."""
    book = _book()
    others = RouteBroker("k", 6, 1, 1, "other", {"0": "h:1"})
    book.note(RouteChanged("orders", Route("orders", "x", (others,))))
    assert _find(book, _look(4), 0).verdict is Verdict.UNCLEAR
    assert _find(book, _look(), 0).verdict is Verdict.ABSENT
    assert _find(book, TopicRefused("bills", "static"), 0).verdict is Verdict.UNCLEAR
    assert list(book.own_topics()) == []
