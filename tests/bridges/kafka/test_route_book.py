"""Which route record follows from a look."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.bridges.finding import Verdict
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.bridges.kafka.snapshot import TopicAbsent, TopicLook, TopicSeen, TopicUnclear
from fairlead.core.model import Route, RouteBroker
from fairlead.core.records import RouteChanged

CONFIRM_MS = 1_000
RACKS = {1: "a", 2: "b"}


def seen(queues: int = 2, identity: str = "X", leader: int | None = 1) -> TopicSeen:
    """A topic with this many partitions, preferred replicas 1 and 2 in turn."""
    preferred = tuple(1 + queue % 2 for queue in range(queues))
    return TopicSeen("orders", identity, (leader,) * queues, preferred)


def book() -> RouteBook:
    """A book of the cluster main with no route in it."""
    return RouteBook("main", "127.0.0.1:9092", confirm_ms=CONFIRM_MS)


def book_with(look: TopicSeen) -> RouteBook:
    """A book in which what this look showed is published."""
    made = book()
    published = made.find(look, RACKS, now_ms=0).publish
    assert published is not None
    made.note(published)
    return made


def test_a_new_topic_is_published_at_once() -> None:
    """A topic seen for the first time is published at once, whole."""
    finding = book().find(seen(), RACKS, now_ms=0)
    assert finding.verdict is Verdict.NEW
    broker = RouteBroker(
        broker_name="main",
        perm=6,
        read_queue_nums=2,
        write_queue_nums=2,
        cluster="main",
        addresses={"0": "127.0.0.1:9092"},
        leaders=("1", "1"),
        zones=("a", "b"),
    )
    assert finding.publish == RouteChanged("orders", Route("orders", "X", (broker,)))


def test_a_standing_route_is_not_published_again() -> None:
    """What stands already is not published again, unless somebody lacks it."""
    kept = book_with(seen())
    assert kept.find(seen(), RACKS, now_ms=1).publish is None
    asked = kept.find(seen(), RACKS, now_ms=1, requested=True)
    assert asked.verdict is Verdict.UNCHANGED
    assert asked.publish is not None
    assert asked.publish.route == asked.route


def test_a_change_whose_write_failed_is_noticed_again() -> None:
    """A change whose write failed is found again by the next look."""
    kept = book_with(seen())
    first = kept.find(seen(3), RACKS, now_ms=1)
    assert first.publish is not None
    assert kept.find(seen(3), RACKS, now_ms=2).publish == first.publish


def test_added_partitions_are_published_at_once() -> None:
    """More partitions are published at once."""
    finding = book_with(seen(32)).find(seen(48), RACKS, now_ms=1)
    assert finding.verdict is Verdict.CHANGED
    assert finding.publish is not None
    assert finding.publish.route is not None
    assert finding.publish.route.brokers[0].read_queue_nums == 48


def test_another_leader_leaves_the_zones() -> None:
    """Another leader, or none, is a change that leaves the zones as they are."""
    for leader in (2, None):
        route = book_with(seen()).find(seen(leader=leader), RACKS, now_ms=1).route
        assert route is not None
        assert route.brokers[0].leaders == (None if leader is None else str(leader),) * 2
        assert route.brokers[0].zones == ("a", "b")


def test_fewer_partitions_of_one_identity_prove_nothing() -> None:
    """Fewer partitions under one identity come from a node that lags, and prove nothing."""
    kept = book_with(seen(48))
    for now_ms in (1, 10 * CONFIRM_MS):
        finding = kept.find(seen(32), RACKS, now_ms=now_ms, requested=True)
        assert (finding.verdict, finding.route, finding.publish) == (Verdict.OUTDATED, None, None)


def test_a_topic_gone_for_long_enough_is_deleted_once() -> None:
    """A topic that is gone is deleted by a null once it has been gone for the time set, once."""
    kept = book_with(seen())
    gone = TopicAbsent("orders")
    assert kept.find(gone, {}, now_ms=0).verdict is Verdict.UNCONFIRMED
    assert kept.find(gone, {}, now_ms=CONFIRM_MS - 1).publish is None
    finding = kept.find(gone, {}, now_ms=CONFIRM_MS)
    assert finding.publish == RouteChanged("orders", None)
    kept.note(finding.publish)
    assert list(kept.own_topics()) == []
    assert kept.find(gone, {}, now_ms=2 * CONFIRM_MS).verdict is Verdict.ABSENT


def test_absent_for_one_look() -> None:
    """A topic that was absent in one look and is there in the next was never gone."""
    kept = book_with(seen())
    kept.find(TopicAbsent("orders"), {}, now_ms=0)
    assert kept.find(seen(), RACKS, now_ms=1).verdict is Verdict.UNCHANGED
    assert kept.find(TopicAbsent("orders"), {}, now_ms=CONFIRM_MS).publish is None


def test_an_absent_topic_without_a_route_needs_no_record() -> None:
    """A topic that has no route and is absent needs no record."""
    assert book().find(TopicAbsent("orders"), {}, now_ms=9).verdict is Verdict.ABSENT


def test_a_recreated_topic_is_published_after_its_time() -> None:
    """Another identity under the name is published when it has been seen for the time set."""
    kept = book_with(seen(48))
    again = seen(4, identity="Y")
    assert kept.find(again, RACKS, now_ms=0).verdict is Verdict.UNCONFIRMED
    finding = kept.find(again, RACKS, now_ms=CONFIRM_MS)
    assert finding.verdict is Verdict.CHANGED
    assert finding.publish is not None
    assert finding.publish.route is not None
    assert finding.publish.route.identity == "Y"


def test_recreated_after_deletion() -> None:
    """After the null of a deletion, a topic made again is published at once."""
    kept = book_with(seen())
    kept.note(RouteChanged("orders", None))
    assert kept.find(seen(identity="Y"), RACKS, now_ms=0).verdict is Verdict.NEW


def test_a_loss_of_another_kind_is_confirmed_anew() -> None:
    """A loss of another kind is confirmed on its own: the time of the first does not count."""
    kept = book_with(seen())
    kept.find(TopicAbsent("orders"), {}, now_ms=0)
    assert kept.find(seen(identity="Y"), RACKS, now_ms=CONFIRM_MS).publish is None


def test_a_failed_look_up_publishes_nothing() -> None:
    """A failed look-up publishes nothing, even on request."""
    for kept in (book(), book_with(seen())):
        finding = kept.find(TopicUnclear("orders", "timeout"), {}, now_ms=9, requested=True)
        assert (finding.verdict, finding.route, finding.publish) == (Verdict.UNCLEAR, None, None)


def test_queues_of_a_dead_node_keep_their_zone() -> None:
    """Queues whose preferred replica is on a node that is down keep their published zone."""
    route = book_with(seen()).find(seen(3), {1: "a"}, now_ms=1).route
    assert route is not None
    assert route.brokers[0].zones == ("a", "b", "a")
    first = book().find(seen(), {1: "a"}, now_ms=1).route
    assert first is not None
    assert first.brokers[0].zones == ("a", None)


def test_zones_of_another_life() -> None:
    """The zones of a former life of the topic are nobody's."""
    kept = book_with(seen())
    kept.find(seen(identity="Y"), {}, now_ms=0)
    route = kept.find(seen(identity="Y"), {}, now_ms=CONFIRM_MS).route
    assert route is not None
    assert route.brokers[0].zones == (None, None)


def foreign_route() -> Route:
    """The route that another cluster's bridge published."""
    return Route("orders", "Z", (RouteBroker("other", 6, 8, 8, leaders=None, zones=None),))


def test_a_route_of_another_cluster_is_never_deleted() -> None:
    """The route of a topic of another cluster is never deleted from here."""
    kept = book()
    kept.note(RouteChanged("orders", foreign_route()))
    assert kept.is_foreign("orders")
    assert list(kept.own_topics()) == []
    for now_ms in (0, 9 * CONFIRM_MS):
        assert kept.find(TopicAbsent("orders"), {}, now_ms=now_ms).verdict is Verdict.ABSENT


def test_a_topic_under_another_cluster_name_is_published() -> None:
    """The same topic under another cluster name is a change, published at once."""
    kept = book()
    kept.note(RouteChanged("orders", replace(foreign_route(), identity="X")))
    finding = kept.find(seen(8), RACKS, now_ms=0)
    assert finding.verdict is Verdict.CHANGED


def looks() -> st.SearchStrategy[TopicLook]:
    """Looks of a world in which nodes lag, fail, and topics come and go."""
    return st.one_of(
        st.just(TopicAbsent("orders")),
        st.just(TopicUnclear("orders", "timeout")),
        st.builds(seen, st.integers(1, 4), st.sampled_from("XYZ"), st.sampled_from([1, 2, None])),
    )


@given(
    st.lists(looks(), max_size=12), looks().filter(lambda look: not isinstance(look, TopicUnclear))
)
def test_the_routes_become_what_is_seen_steadily(history: list[TopicLook], last: TopicLook) -> None:
    """Whatever was seen before, what is then seen steadily is what the routes topic holds."""
    kept = book()
    held: Route | None = None
    for now_ms, look in enumerate([*history, last, last], start=1):
        publish = kept.find(look, RACKS, now_ms=now_ms * CONFIRM_MS).publish
        if publish is None:
            continue
        kept.note(publish)
        if (
            held is not None
            and publish.route is not None
            and held.identity == publish.route.identity
        ):
            assert publish.route.brokers[0].read_queue_nums >= held.brokers[0].read_queue_nums
        held = publish.route
    if isinstance(last, TopicAbsent):
        assert held is None
    elif isinstance(last, TopicSeen):
        assert held is not None
        assert held.identity == last.identity
        outdated = held.brokers[0].read_queue_nums > len(last.leaders)
        assert outdated or held.brokers[0].leaders == tuple(
            None if leader is None else str(leader) for leader in last.leaders
        )


@pytest.mark.parametrize("requested", [True, False])
def test_foreign_in_the_way(requested: bool) -> None:  # noqa: FBT001 - a parameter of a test
    """A topic of this cluster under a name that another cluster's route has waits to be sure."""
    kept = book()
    kept.note(RouteChanged("orders", foreign_route()))
    finding = kept.find(seen(), RACKS, now_ms=0, requested=requested)
    assert finding.verdict is Verdict.UNCONFIRMED
    assert kept.find(seen(), RACKS, now_ms=CONFIRM_MS).verdict is Verdict.CHANGED
