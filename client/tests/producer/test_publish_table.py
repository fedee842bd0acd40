"""What a producer knows of its topics, as routes come and go."""

from dataclasses import replace
from threading import Thread

import pytest
from fairlead_client.errors import RouteError
from fairlead_client.model import Queue
from fairlead_client.produce.publish_table import PublishTable
from fairlead_client.produce.target import Target
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute


def route(*shares: QueueData, masters: str = "AB", conf: str | None = None) -> TopicRoute:
    """Return a route of these shares; brokers in `masters` have one."""
    brokers = tuple(
        BrokerData(name, addresses={0 if name in masters else 1: f"{name}:1"})
        for name in sorted({share.broker_name for share in shares})
    )
    return TopicRoute(shares, brokers, conf)


ORDERS = route(QueueData("B", 2, 1, 6), QueueData("A", 2, 2, 6))
DEFAULT = route(QueueData("A", 8, 8, 7), QueueData("B", 2, 8, 7))


def table(zone: str | None = None) -> PublishTable:
    """Return a table whose first turns begin at the first queue."""
    return PublishTable(lambda: 0, zone)


def test_queues_of_the_route() -> None:
    """Writable queues in the order of RocketMQ's publish info, each with its broker."""
    known = table()
    known.set_route("orders", ORDERS)
    published = known.find("orders")
    assert published is not None
    assert published.turns.targets == (
        Target(Queue("orders", "A", 0), "A"),
        Target(Queue("orders", "A", 1), "A"),
        Target(Queue("orders", "B", 0), "B"),
    )
    assert known.brokers() == {"A", "B"}


def test_the_broker_of_a_queue_is_its_leader() -> None:
    """On Kafka the broker of a queue is its leader, and each queue has a zone of its own."""
    known = table(zone="far")
    share = QueueData("main", 3, 3, 6, leaders=("1", None, "2"), zones=("near", "near", "far"))
    known.set_route("orders", TopicRoute((share,), (BrokerData("main", addresses={0: "k:1"}),)))
    published = known.find("orders")
    assert published is not None
    assert [(target.broker, target.zone) for target in published.turns.targets] == [
        ("1", "near"),
        (None, "near"),
        ("2", "far"),
    ]
    assert {published.turns.select().broker for _ in range(3)} == {"2"}


def test_an_ordered_topic_has_the_queues_of_its_configuration() -> None:
    """An ordered topic has the queues that its configuration names, whoever is there."""
    known = table()
    known.set_route("orders", route(QueueData("A", 4, 4, 6), conf="B:1;A:1"))
    published = known.find("orders")
    assert published is not None
    assert published.info.ordered
    assert [target.queue for target in published.turns.targets] == [
        Queue("orders", "B", 0),
        Queue("orders", "A", 0),
    ]


def test_a_known_route_is_enough() -> None:
    """Who lacks a route that is known gets it, although nothing has changed since."""
    known = table()
    assert known.find("orders") is None
    assert known.lacking() == ["orders"]
    known.set_route("orders", ORDERS)
    known.set_route("orders", ORDERS)
    assert known.lacking() == []
    assert known.find("orders") is not None


def test_a_change_makes_a_new_snapshot() -> None:
    """A change makes a new snapshot, the same route does not; nobody's snapshot changes."""
    known = table()
    known.set_route("orders", ORDERS)
    first = known.find("orders")
    known.set_route("orders", route(*ORDERS.queue_datas))
    assert known.find("orders") is first
    known.set_route("orders", route(QueueData("A", 1, 1, 6)))
    second = known.find("orders")
    assert first is not None
    assert second is not None
    assert (len(first.turns.targets), len(second.turns.targets)) == (3, 1)


def test_a_deleted_topic_has_no_queues_until_it_is_wanted_again() -> None:
    """A deleted topic has no queues any more, and is wanted again when somebody sends to it."""
    known = table()
    known.set_route("orders", ORDERS)
    known.find("orders")
    known.set_route("orders", None)
    assert known.find("orders") is None
    assert known.lacking() == ["orders"]


def test_the_default_route_stands_in_until_the_topic_has_its_own() -> None:
    """min(4, readQueueNums) queues of each broker stand in until the topic has its own route."""
    known = table()
    assert known.find_default("orders") is None
    assert not known.has_default
    known.set_route("TBW102", DEFAULT)
    assert known.find("orders") is None
    default = known.find_default("orders")
    assert default is not None
    assert default.is_default
    assert [(target.broker, target.queue.queue_id) for target in default.turns.targets] == [
        ("A", 0), ("A", 1), ("A", 2), ("A", 3), ("B", 0), ("B", 1),
    ]  # fmt: skip
    # It serves from now on; the topic is asked for all the same.
    assert known.find("orders") is default
    assert known.lacking() == ["orders"]
    known.set_route("orders", ORDERS)
    own = known.find("orders")
    assert own is not None
    assert not own.is_default
    assert known.find_default("orders") is own
    assert known.lacking() == []


def test_a_changed_default_route_reaches_who_uses_it() -> None:
    """Who goes by the default route gets the changed one; who has a route of its own keeps it."""
    known = table()
    known.set_route("TBW102", DEFAULT)
    known.set_route("orders", ORDERS)
    own = known.find("orders")
    known.find_default("bills")
    known.set_route("TBW102", None)
    assert known.find("orders") is own
    assert known.find("bills") is None


def test_route_without_queues_suppresses_the_default() -> None:
    """A topic that nobody may write to is known as such: the default route does not stand in."""
    known = table()
    known.set_route("TBW102", DEFAULT)
    known.set_route("orders", route(QueueData("A", 4, 4, 4)))
    published = known.find("orders")
    assert published is not None
    assert published.info.have_route
    assert published.turns.targets == ()
    assert known.find_default("orders") is published


def test_another_leader_holds_until_the_route_changes() -> None:
    """Another leader than the route's holds until the route changes."""
    known = table()
    known.set_leader(Queue("orders", "A", 0), "C")
    known.set_route("orders", ORDERS)
    before = known.find("orders")
    known.set_leader(Queue("orders", "A", 0), "C")
    after = known.find("orders")
    assert before is not None
    assert after is not None
    assert [target.broker for target in before.turns.targets] == ["A", "A", "B"]
    assert [target.broker for target in after.turns.targets] == ["C", "A", "B"]
    known.set_leader(Queue("orders", "A", 0), "C")
    assert known.find("orders") is after
    known.set_route("orders", route(*ORDERS.queue_datas, conf=""))
    renewed = known.find("orders")
    assert renewed is not None
    assert [target.broker for target in renewed.turns.targets] == ["A", "A", "B"]


def test_an_unreadable_route_is_an_error_of_the_send() -> None:
    """A route that RocketMQ would fail at is an error when somebody sends, not before."""
    known = table()
    known.set_route("orders", route(QueueData("A", 4, 4, 6), conf="A:x"))
    with pytest.raises(RouteError, match="orderTopicConf"):
        known.find("orders")


@pytest.mark.parametrize("topic", ["orders", "TBW102"])
def test_a_change_that_cannot_be_read(topic: str, caplog: pytest.LogCaptureFixture) -> None:
    """The table reports an unreadable change and keeps the queues until the next good one."""
    told: list[str] = []
    known = PublishTable(lambda: 0, unreadable=told.append)
    known.set_route(topic, DEFAULT)
    name = "bills" if topic == "TBW102" else topic
    before = known.find(name) or known.find_default(name)
    assert before is not None
    known.set_route(topic, replace(DEFAULT, order_topic_conf="A:x"))
    assert known.find(name) is before
    assert told == [name]
    assert f"topic {name} keeps its queues" in caplog.text
    known.set_route(topic, route(QueueData("A", 1, 1, 7)))
    after = known.find(name)
    assert after is not None
    assert [target.queue for target in after.turns.targets] == [Queue(name, "A", 0)]
    known.set_route(topic, replace(DEFAULT, order_topic_conf="A:x"))
    known.set_route(topic, None)
    assert known.find(name) is None


def test_an_observer_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever it raises at a change that cannot be read, who notes the route goes on."""

    def told(topic: str) -> None:
        raise ValueError(topic)

    known = PublishTable(lambda: 0, unreadable=told)
    known.set_route("orders", ORDERS)
    before = known.find("orders")
    known.set_route("orders", replace(ORDERS, order_topic_conf="A:x"))
    assert known.find("orders") is before is not None
    assert "the producer's observer raised" in caplog.text


def test_who_awaits_a_route_goes_on_when_it_comes() -> None:
    """Who waits for a route goes on as soon as it is there, and without one when time is over."""
    known = table()
    assert known.await_route("orders", 1) is None
    found: list[object] = []
    waiting = Thread(target=lambda: found.append(known.await_route("orders", 30_000)))
    waiting.start()
    known.set_route("bills", ORDERS)
    known.set_route("orders", ORDERS)
    waiting.join(30)
    assert found == [known.find("orders")]
