"""Queues to write to and to read, and what counts as a change: RocketMQ's rules, case by case."""

from dataclasses import replace

import pytest
from fairlead_client.errors import RouteError
from fairlead_client.model import Queue
from fairlead_client.rocketmq.route_change import route_changed
from fairlead_client.routes.default_route import from_default_route
from fairlead_client.routes.publish_info import TopicPublishInfo, publish_info
from fairlead_client.routes.static_topic import NO_BROKER, endpoints
from fairlead_client.routes.subscribe_info import subscribe_info
from fairlead_client.routes.topic_route import BrokerData, QueueData, QueueMapping, TopicRoute

A = BrokerData("a", "c", {0: "a:10911"})
B = BrokerData("b", "c", {0: "b:10911", 1: "b:10921"})
SLAVE = BrokerData("s", "c", {1: "s:10921"})
ROUTE = TopicRoute(
    queue_datas=(
        QueueData("b", 1, 2, 6),
        QueueData("a", 3, 1, 7),
        QueueData("s", 1, 1, 6),
        QueueData("only-read", 1, 1, 4),
        QueueData("only-written", 1, 1, 2),
        QueueData("unknown", 1, 1, 6),
    ),
    broker_datas=(B, A, SLAVE, BrokerData("only-read", addresses={0: "x"})),
)


def written(route: TopicRoute) -> list[tuple[str, int]]:
    """Return the queues that producers write to."""
    return [queue[1:] for queue in publish_info("t", route).queues]


def test_only_queues_of_a_known_master_are_written() -> None:
    """Shares by broker name, with the write bit, of a broker that is known and has its master."""
    assert publish_info("t", ROUTE) == TopicPublishInfo(
        ordered=False,
        queues=(Queue("t", "a", 0), Queue("t", "b", 0), Queue("t", "b", 1)),
        have_route=True,
    )
    assert ROUTE.queue_datas[0].broker_name == "b", "the given route stays unchanged"


def test_readable_queues_are_sorted_as_in_rocketmq() -> None:
    """Readable shares, with or without a master, sorted as RocketMQ sorts queues."""
    assert [queue[1:] for queue in subscribe_info("t", ROUTE)] == [
        ("a", 0), ("a", 1), ("a", 2), ("b", 0), ("only-read", 0), ("s", 0), ("unknown", 0),
    ]  # fmt: skip


def test_two_of_one_name() -> None:
    """The first broker data of a name decides; two shares are written to twice and read once."""
    twice = TopicRoute(
        (QueueData("a", 2, 1, 6), QueueData("a", 1, 2, 6)),
        (BrokerData("a", addresses={1: "slave"}), A),
    )
    assert written(twice) == []
    assert written(replace(twice, broker_datas=twice.broker_datas[::-1])) == [
        ("a", 0), ("a", 0), ("a", 1),
    ]  # fmt: skip
    assert [queue[1:] for queue in subscribe_info("t", twice)] == [("a", 0), ("a", 1)]


def test_names_are_sorted_as_java_does() -> None:
    """Broker names compare by UTF-16 units, and an upper-case letter comes before lower ones."""
    names = ["\U0001f600", "\uffee", "a", "Z"]
    route = TopicRoute(
        tuple(QueueData(name, 1, 1, 6) for name in names),
        tuple(BrokerData(name, addresses={0: "x"}) for name in names),
    )
    assert [name for name, _ in written(route)] == ["Z", "a", "\U0001f600", "\uffee"]
    assert [queue[1] for queue in subscribe_info("t", route)] == ["Z", "a", "\U0001f600", "\uffee"]


@pytest.mark.parametrize(
    "conf, queues",
    [
        ("b:2;a:1", [("b", 0), ("b", 1), ("a", 0)]),
        ("a:1;", [("a", 0)]),
        (";", []),
        ("a:-1", []),
        ("a:+2", [("a", 0), ("a", 1)]),
        ("a:2:9", [("a", 0), ("a", 1)]),
        ("a:1;a:1", [("a", 0), ("a", 0)]),
        (":1", [("", 0)]),
        ("a:\u0661", [("a", 0)]),
    ],
)
def test_an_ordered_topic_takes_its_queues_from_its_configuration(
    conf: str, queues: list[tuple[str, int]]
) -> None:
    """The configuration alone says the queues, in its own order, oddities included."""
    found = publish_info("t", replace(ROUTE, order_topic_conf=conf))
    assert found.ordered
    assert [queue[1:] for queue in found.queues] == queues


@pytest.mark.parametrize(
    "conf, code",
    [
        (";a:1", "order_topic_conf_incomplete"),
        (" ", "order_topic_conf_incomplete"),
        ("a", "order_topic_conf_incomplete"),
        ("a:", "order_topic_conf_incomplete"),
        (":", "order_topic_conf_incomplete"),
        ("a:1;;b:1", "order_topic_conf_incomplete"),
        ("a: 2", "order_topic_conf_number"),
        ("a:x", "order_topic_conf_number"),
        ("a::2", "order_topic_conf_number"),
        ("a:+", "order_topic_conf_number"),
        ("a:1_0", "order_topic_conf_number"),
        ("a:2147483648", "order_topic_conf_number"),
        ("a:\U0001d7ce", "order_topic_conf_number"),
        ("a:x;b", "order_topic_conf_number"),
        ("b;a:x", "order_topic_conf_incomplete"),
        ("a:" + "9" * 100_000, "order_topic_conf_number"),
        ("a:2147483647", "too_many_queues"),
        ("a:60000;b:60000", "too_many_queues"),
    ],
)
def test_an_ordered_topic_that_throws_has_a_named_error(conf: str, code: str) -> None:
    """Where RocketMQ throws the error has a name; consumers do not look at the configuration."""
    route = replace(ROUTE, order_topic_conf=conf)
    with pytest.raises(RouteError) as caught:
        publish_info("t", route)
    assert (caught.value.field, caught.value.code) == ("orderTopicConf", code)
    assert len(subscribe_info("t", route)) == 7


def test_empty_order_is_none() -> None:
    """An empty configuration is no ordered topic."""
    assert not publish_info("t", replace(ROUTE, order_topic_conf="")).ordered


MAPPINGS = {
    "a": QueueMapping("a", total_queues=2, epoch=1, current_ids={0: 5, 1: 3}),
    "b": QueueMapping("b", total_queues=4, epoch=2, current_ids={1: 0, 2: 1}),
    "c": QueueMapping("c", scope=None, total_queues=9, epoch=3),
}


def test_a_static_topic_has_its_logical_queues() -> None:
    """Logical queues of a mock broker, each kept by whoever has it under the newest epoch."""
    route = replace(ROUTE, mappings=MAPPINGS)
    logical = [("__syslo__global__", number) for number in range(4)]
    assert written(route) == logical
    assert [queue[1:] for queue in subscribe_info("t", route)] == logical
    assert list(endpoints("t", MAPPINGS).values()) == ["a", "b", "b", NO_BROKER]


def test_static_topic_and_order() -> None:
    """A given configuration, be it empty, keeps producers from the logical queues."""
    ordered = replace(ROUTE, mappings=MAPPINGS, order_topic_conf="")
    assert written(ordered) == written(ROUTE)
    assert subscribe_info("t", ordered)[0].broker_name == "__syslo__global__"
    assert written(replace(ROUTE, mappings={})) == written(ROUTE)


def test_a_needed_list_that_is_missing_is_an_error() -> None:
    """A list that is needed and was left out is an error; one that is not needed is none."""
    without = TopicRoute(absent=frozenset({"queueDatas"}))
    for ask in (publish_info, subscribe_info):
        with pytest.raises(RouteError) as caught:
            ask("t", without)
        assert (caught.value.field, caught.value.code) == ("queueDatas", "route_incomplete")
    assert publish_info("t", replace(without, order_topic_conf="a:1")).ordered
    no_brokers = TopicRoute((QueueData("a", 1, 1, 6),), absent=frozenset({"brokerDatas"}))
    no_addresses = TopicRoute(no_brokers.queue_datas, (BrokerData("a", addresses_told=False),))
    for route in (no_brokers, no_addresses):
        with pytest.raises(RouteError, match=r"^brokerDatas"):
            publish_info("t", route)
        assert len(subscribe_info("t", route)) == 1
    assert written(replace(no_brokers, queue_datas=(QueueData("a", 1, 1, 4),))) == []


def test_too_many_queues() -> None:
    """Numbers that would fill the memory are refused; negative ones are none."""
    route = TopicRoute((QueueData("a", 2**31 - 1, 2**31 - 1, 6), QueueData("b", -5, -5, 6)), (A, B))
    for ask in (publish_info, subscribe_info):
        with pytest.raises(RouteError) as caught:
            ask("t", route)
        assert caught.value.code == "too_many_queues"
    assert written(replace(route, queue_datas=route.queue_datas[1:])) == []


def test_the_order_of_a_route_is_no_change() -> None:
    """Order of lists and a broker's cluster do not count; everything else does."""
    assert not route_changed(ROUTE, ROUTE)
    same = replace(
        ROUTE,
        queue_datas=ROUTE.queue_datas[::-1],
        broker_datas=tuple(replace(each, cluster="other") for each in ROUTE.broker_datas[::-1]),
        absent=frozenset({"filterServerTable"}),
    )
    assert not route_changed(ROUTE, same)
    assert route_changed(None, ROUTE)
    assert route_changed(ROUTE, None)
    first = ROUTE.queue_datas[0]
    for other in (
        replace(ROUTE, queue_datas=(replace(first, sys_flag=1), *ROUTE.queue_datas[1:])),
        replace(ROUTE, queue_datas=(replace(first, perm=4), *ROUTE.queue_datas[1:])),
        replace(ROUTE, queue_datas=ROUTE.queue_datas[1:]),
        replace(ROUTE, broker_datas=(A, *ROUTE.broker_datas[1:])),
        replace(ROUTE, order_topic_conf=""),
        replace(ROUTE, filter_servers={"a": ("f",)}),
        replace(ROUTE, mappings={}),
        replace(ROUTE, identity="another life"),
    ):
        assert route_changed(ROUTE, other)
        assert route_changed(other, ROUTE)


def test_two_of_one_name_change_with_their_order() -> None:
    """Entries of one name keep their given order, as RocketMQ's sort does."""
    pair = (QueueData("a", 1, 1, 6), QueueData("a", 2, 2, 6))
    assert route_changed(TopicRoute(pair), TopicRoute(pair[::-1]))


def test_the_default_route_gives_each_broker_four_queues() -> None:
    """By the default topic's route a broker has four queues, or as many as are read there."""
    default = TopicRoute((QueueData("a", 8, 2, 7), QueueData("b", 3, 8, 6)), (A, B))
    assert from_default_route(default).queue_datas == (
        QueueData("a", 4, 4, 7),
        QueueData("b", 3, 3, 6),
    )
    assert from_default_route(default, 1).queue_datas[1].write_queue_nums == 1
