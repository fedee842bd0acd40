"""The bridge frees the locks that brokers of both lines keep for a consumer that has lapsed."""

import orjson
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command

from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request
from tests.kit.awaiting import await_seen
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import route_request
from tests.kit.rocketmq_bridge import rocketmq_bridge
from tests.kit.rocketmq_operator import RocketMQOperator

DEAD, NEXT = "10.0.0.4@77", "10.0.0.7@41"


def _locked(operator: RocketMQOperator, group: str, consumer: str, topic: str) -> list[int]:
    """Lock both queues of broker-a for a consumer, and return those that it got."""
    queues = [{"topic": topic, "brokerName": "broker-a", "queueId": number} for number in (0, 1)]
    body = {"consumerGroup": group, "clientId": consumer, "mqSet": queues}
    asked = Command(RequestCode.LOCK_BATCH_MQ, body=orjson.dumps(body))
    answer = orjson.loads(bytes(operator.ask("broker-a", asked).body))
    return sorted(each["queueId"] for each in answer["lockOKMQSet"])


def test_the_next_owner_gets_the_lock_of_the_dead(
    ledger: Ledger, bootstrap: str, either: RocketMQOperator, topic: str
) -> None:
    """What the request names is freed, and only of the consumer that it names (rule H34)."""
    group = f"{topic}-readers"
    either.make(topic, 2, ("broker-a",))
    with running(rocketmq_bridge(either.cluster, bootstrap, ledger.names.prefix)):
        ledger.ask(route_request(group, topic))
        ledger.await_that(lambda: ledger.routes)
        assert _locked(either, group, DEAD, topic) == [0, 1]
        assert _locked(either, group, NEXT, topic) == []
        freed = (MessageQueue(topic, "broker-a", 1),)
        ledger.ask(Request(group, "unlock", topic, freed, None, "somebody-else"))
        ledger.ask(Request(group, "unlock", topic, freed, None, DEAD))
        await_seen(lambda: _locked(either, group, NEXT, topic) == [1], what="the lock is free")
        assert _locked(either, group, DEAD, topic) == [0]


def test_a_bridge_does_not_free_what_was_asked_before_its_start(
    ledger: Ledger, bootstrap: str, either: RocketMQOperator, topic: str
) -> None:
    """A restarted consumer may have its id again, and its locks are its own (rule H34)."""
    group = f"{topic}-readers"
    either.make(topic, 2, ("broker-a",))
    first, second = (MessageQueue(topic, "broker-a", number) for number in (0, 1))
    with running(rocketmq_bridge(either.cluster, bootstrap, ledger.names.prefix)):
        ledger.ask(route_request(group, topic))
        ledger.await_that(lambda: ledger.routes)
    assert _locked(either, group, DEAD, topic) == [0, 1]
    ledger.ask(Request(group, "unlock", topic, (first,), None, DEAD))
    with running(rocketmq_bridge(either.cluster, bootstrap, ledger.names.prefix)):
        ledger.ask(Request(group, "unlock", topic, (second,), None, DEAD))
        await_seen(lambda: _locked(either, group, NEXT, topic) == [1], what="the lock is free")
