"""The book publishes what is new at once, and what is lost only when it stays lost."""

import itertools

from fairlead.bridges.finding import Finding, Verdict
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.route_look import ClusterView, RouteLook, TopicRefused
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged

_CONFIRM_MS, _AWAY_MS = 1_000, 60_000


def _book() -> RocketMQRouteBook:
    lives = itertools.count(1)
    return RocketMQRouteBook(
        "main", confirm_ms=_CONFIRM_MS, away_ms=_AWAY_MS, new_life=lambda: f"life-{next(lives)}"
    )


def _look(*queues: int, answered: int = 2, perm: int = 6, registered: str = "ab") -> RouteLook:
    """A look at two name servers, at brokers a and b with so many queues; 0: it lacks the topic."""
    brokers = tuple(
        RouteBroker("ab"[index], perm, number, number, "main", {"0": "h:1"})
        for index, number in enumerate(queues)
        if number
    )
    return RouteLook(
        "orders", brokers, None, ClusterView("main", 2, answered, frozenset(registered))
    )


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
    grown = _find(book, _look(8, 8, answered=1), 1)
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
        assert _find(book, _look(4, answered=1), now_ms).verdict is Verdict.UNCONFIRMED
        assert _find(book, _look(answered=1), now_ms).verdict is Verdict.UNCONFIRMED
        assert _find(book, _look(answered=0, registered=""), now_ms).verdict is Verdict.UNCLEAR
    assert list(book.own_topics()) == ["orders"]


def test_a_broker_that_restarts_keeps_its_queues() -> None:
    """No name server knows it meanwhile; its queues change neither owners nor life."""
    book = _book()
    _find(book, _look(4, 4), 0)
    for now_ms in (1_000, 1_000 + _AWAY_MS - 1):
        assert _find(book, _look(4, registered="a"), now_ms).verdict is Verdict.UNCHANGED
    assert _life(_find(book, _look(4, 8), 99_000)) == "life-1"
    # It was back, so its time begins anew; then it is gone for good.
    for now_ms in (100_000, 100_000 + _AWAY_MS):
        found = _find(book, _look(4, registered="a"), now_ms)
    assert found.verdict is Verdict.UNCONFIRMED
    gone = _find(book, _look(4, registered="a"), 100_000 + _AWAY_MS + _CONFIRM_MS)
    assert gone.route is not None
    assert [broker.broker_name for broker in gone.route.brokers] == ["a"]


def test_the_last_broker_of_a_topic_may_be_away_for_good() -> None:
    """A name server that restarted knows no broker either: that deletes no topic."""
    book = _book()
    _find(book, _look(4), 0)
    for now_ms in (1_000, 10_000, 10 * _AWAY_MS):
        assert _find(book, _look(registered=""), now_ms).verdict is Verdict.UNCHANGED
    assert _life(_find(book, _look(4), 11 * _AWAY_MS)) == "life-1"


def test_a_topic_deleted_beside_a_broker_that_is_away_keeps_that_one() -> None:
    """Who is away may still have the topic; who is there and lacks it has lost it."""
    book = _book()
    _find(book, _look(4, 4), 0)
    _find(book, _look(registered="a"), 1_000)
    left = _find(book, _look(registered="a"), 2_000).route
    assert left is not None
    assert [broker.broker_name for broker in left.brokers] == ["b"]


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


def test_a_topic_made_again_has_another_life_once() -> None:
    """Until the route with the new life is written, each look gives one."""
    book = _book()
    _find(book, _look(2), 0)
    book.end_life("orders")
    assert _life(book.find(_look(2), now_ms=1)) == "life-2"
    assert _life(_find(book, _look(2), 2)) == "life-3"
    assert _life(_find(book, _look(2), 3)) == "life-3"


def test_another_clusters_topic_is_left_to_its_bridge() -> None:
    """Two bridges that publish one topic in turn would renew its life each time."""
    book = _book()
    others = RouteBroker("k", 6, 1, 1, "other", {"0": "h:1"})
    book.note(RouteChanged("orders", Route("orders", "x", (others,))))
    assert _find(book, _look(4), 0).verdict is Verdict.REFUSED
    assert _find(book, _look(), 0).verdict is Verdict.ABSENT
    assert _find(book, TopicRefused("bills", "static"), 0).verdict is Verdict.REFUSED
    assert book.is_foreign("orders")
    assert list(book.own_topics()) == []
