"""A bridge watches a real cluster: topics appear, grow, vanish, and come again."""

from fairlead.core.model import MessageQueue, Route
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import route_request
from tests.kit.rocketmq_bridge import rocketmq_bridge
from tests.kit.rocketmq_operator import RocketMQOperator

_A, _BOTH = ("broker-a",), ("broker-a", "broker-b")


def _route(ledger: Ledger, topic: str, queues: int, brokers: int, *, after: int = 0) -> Route:
    """Return the topic's newest route, once it has so many queues on so many brokers."""

    def newest() -> Route | None:
        routes = [each.route for each in ledger.routes[after:] if each.topic == topic]
        found = routes[-1] if routes else None
        if found is None or [each.read_queue_nums for each in found.brokers] != [queues] * brokers:
            return None
        return found

    ledger.await_that(newest)
    found = newest()
    assert found is not None
    return found


def test_a_topic_appears_grows_shrinks_and_vanishes(
    ledger: Ledger, bootstrap: str, operator: RocketMQOperator, topic: str
) -> None:
    """All that keeps its life; made again under the name it has another one."""
    bridge = rocketmq_bridge(operator.cluster, bootstrap, ledger.names.prefix)
    with running(bridge):
        ledger.ask(route_request("g", topic))
        ledger.await_that(lambda: [each.topic for each in ledger.absent] == [topic])
        operator.make(topic, 2, _A)
        new = _route(ledger, topic, 2, 1)
        assert new.brokers[0].addresses == {"0": operator.cluster.address("broker-a")}
        operator.make(topic, 4, _BOTH)
        grown = _route(ledger, topic, 4, 2)
        operator.make(topic, 4, _BOTH, perm=4)
        ledger.await_that(lambda: [each.perm for each in _newest(ledger).brokers] == [4, 4])
        operator.delete(topic, _BOTH)
        ledger.await_that(lambda: ledger.routes[-1].route is None)
        before = len(ledger.routes)
        operator.make(topic, 2, _A)
        again = _route(ledger, topic, 2, 1, after=before)
    assert grown.identity == new.identity
    assert again.identity != new.identity


def test_a_topic_made_again_between_two_looks_has_another_life(
    ledger: Ledger, bootstrap: str, operator: RocketMQOperator, topic: str
) -> None:
    """Its ends fell, and what it holds is younger; a restarted bridge had kept the life."""
    queue = MessageQueue(topic, "broker-a", 0)
    operator.make(topic, 1, _A)
    operator.send(queue, 5)
    prefix = ledger.names.prefix
    with running(rocketmq_bridge(operator.cluster, bootstrap, prefix, topic)):
        first = _route(ledger, topic, 1, 1)
    bridge = rocketmq_bridge(operator.cluster, bootstrap, prefix, topic)
    with running(bridge):
        ledger.await_that(lambda: bridge.figures.looks > 1)
        operator.delete(topic, _A)
        operator.make(topic, 1, _A)
        operator.send(queue, 2)
        ledger.await_that(lambda: _newest(ledger).identity != first.identity)
    lives = [each.route.identity for each in ledger.routes if each.route is not None]
    assert lives[:-1] == [first.identity] * (len(lives) - 1)


def _newest(ledger: Ledger) -> Route:
    route = ledger.routes[-1].route
    return Route("", "", ()) if route is None else route
