"""Real brokers of both lines are asked for bounds, commits and offsets for a time."""

import time
import uuid

import orjson
import pytest
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.core.model import MessageQueue
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.rocketmq.queue_offsets import QueueFacts, commit_request, queue_facts
from tests.kit.awaiting import await_seen
from tests.kit.remoting_server import response, serving

_GROUP = "readers"
_MESSAGES = 3


def _filled(connections: Connections, master: str) -> str:
    """Make a topic of three queues with three messages in queue 2; return its name."""
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    made = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": "3",
        "writeQueueNums": "3",
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }
    connections.call(master, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, made), 20)
    group = orjson.dumps({"groupName": _GROUP})
    connections.call(
        master, Command(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=group), 20
    )
    # SendMessageRequestHeaderV2 abbreviates its names to letters.
    sent = {
        "a": "producers",
        "b": topic,
        "c": "TBW102",
        "d": "4",
        "e": "2",
        "f": "0",
        "g": str(int(time.time() * 1000)),
        "h": "0",
        "i": "",
    }
    for _ in range(_MESSAGES):
        connections.call(master, Command(RequestCode.SEND_MESSAGE_V2, sent, body=b"x"), 20)
    # A broker counts a message a moment after it has confirmed it.
    last = Command(RequestCode.GET_MAX_OFFSET, {"topic": topic, "queueId": "2"})
    await_seen(
        lambda: connections.call(master, last, 20).fields["offset"] == str(_MESSAGES),
        what="all messages are counted",
    )
    return topic


@pytest.mark.broker
@pytest.mark.slow
@pytest.mark.parametrize("line", ["rocketmq", "rocketmq_4"])
def test_none_is_told_from_zero_on_both_lines(line: str, request: pytest.FixtureRequest) -> None:
    """4.9.7 answers 0 for a queue without a commit, and yet none is reported."""
    cluster: EmbeddedRocketMQ = request.getfixturevalue(line)
    master = cluster.address("broker-a")
    with Connections(ConnectionSettings()) as connections:
        topic = _filled(connections, master)
        one, two, three = (MessageQueue(topic, "broker-a", number) for number in range(3))
        for queue, offset in ((two, 0), (three, 2)):
            connections.call(master, commit_request(_GROUP, queue, offset), 20)
        elsewhere = MessageQueue(topic, "broker-z", 0)
        facts = queue_facts(
            connections,
            {"broker-a": master},
            _GROUP,
            (one, two, three, elsewhere),
            timestamp_ms=1,
            timeout_s=20,
        )
        assert facts == {
            one: QueueFacts(0, 0, None, 0),
            two: QueueFacts(0, 0, 0, 0),
            three: QueueFacts(0, _MESSAGES, 2, 0),
        }


def test_a_broker_that_leaves_something_open_gives_no_facts() -> None:
    """Neither an end below the start, nor a zero without its table, nor a refusal is guessed at."""

    def serve(asked: Command) -> list[Command]:
        queue = asked.fields.get("queueId")
        if asked.code == RequestCode.GET_ALL_CONSUMER_OFFSET:
            return [response(asked, code=1)]
        offset = {
            RequestCode.GET_MIN_OFFSET: 9 if queue == "0" else 0,
            RequestCode.GET_MAX_OFFSET: 5,
            RequestCode.QUERY_CONSUMER_OFFSET: 0 if queue == "1" else 4,
        }[RequestCode(asked.code)]
        answer = response(asked, code=1 if queue == "2" else 0)
        return [Command(answer.code, {"offset": str(offset)}, opaque=answer.opaque, flag=1)]

    with serving(serve) as broker, Connections(ConnectionSettings()) as connections:
        queues = [MessageQueue("orders", "broker-a", number) for number in range(4)]
        facts = queue_facts(connections, {"broker-a": broker}, _GROUP, queues)
        assert facts == {queues[3]: QueueFacts(0, 5, 4, None)}
