"""What servers of RocketMQ answer, as they really write it, becomes values."""

import pytest
from fairlead_client.remoting.codes import ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import NoResponseError, RequestRefusedError

from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError
from fairlead.rocketmq.broker_groups import groups_of
from fairlead.rocketmq.group_connections import GroupConnections, TopicFilter, connections_seen
from fairlead.rocketmq.group_offsets import QueueProgress, committed_offsets, consume_stats
from fairlead.rocketmq.running_info import HeldQueue, running_info

_QUEUE = MessageQueue("orders", "broker-a", 3)
_KEY = '{"brokerName":"broker-a","queueId":3,"topic":"orders"}'
_OTHER_KEY = '{"brokerName":"broker-b","queueId":0,"topic":"orders"}'


def _body(text: str) -> Command:
    return Command(0, body=text.encode())


def test_members_that_fairlead_leads_have_its_name() -> None:
    """The jar's class that hands queues on is no strategy: people read who shares them out."""
    properties = '{"allocateMessageQueueStrategy":"io.fairlead.rocketmq.HeldQueues@3f"}'
    assert running_info(_body(f'{{"properties":{properties}}}')).strategy == "Fairlead"


def test_a_dropped_queue_is_not_the_clients() -> None:
    """A queue stays in the client's table after the drop, and counts as given up."""
    for spelling in ("droped", "dropped"):
        answer = running_info(
            _body(
                f'{{"mqTable":{{{_KEY}:{{"cachedMsgCount":4,"commitOffset":7,"{spelling}":false}},'
                f'{_OTHER_KEY}:{{"commitOffset":9,"{spelling}":true}}}},"properties":{{'
                '"PROP_CONSUMEORDERLY":"true","PROP_CLIENT_VERSION":"V4_9_8",'
                '"allocateMessageQueueStrategy":"a.b.AllocateMessageQueueAveragely@1f"},'
                '"subscriptionSet":[{"topic":"orders","subString":"red || blue"}]}'
            )
        )
        assert answer.queues == {_QUEUE: HeldQueue(committed=7, waiting=4)}
        assert answer.strategy == "AllocateMessageQueueAveragely"
        assert (answer.version, answer.ordered) == ("V4_9_8", True)
        assert answer.subscriptions == {"orders": "red || blue"}


def test_twins_are_two_connections() -> None:
    """Two processes with one client id are not taken for one."""
    twin = '{"clientAddr":"10.0.0.%d:5","clientId":"x@1","language":"JAVA","version":409}'
    seen = connections_seen(
        "b:1",
        _body(
            f'{{"connectionSet":[{twin % 2},{twin % 1}],"messageModel":"BROADCASTING",'
            '"consumeType":"CONSUME_PASSIVELY","subscriptionTable":{"orders":'
            '{"topic":"orders","subString":"a > 1","expressionType":"SQL92"}}}'
        ),
    )
    assert isinstance(seen, GroupConnections)
    assert [each.address for each in seen.connections] == ["10.0.0.1:5", "10.0.0.2:5"]
    assert {each.client_id for each in seen.connections} == {"x@1"}
    assert seen.subscriptions == {"orders": TopicFilter("orders", "a > 1", "SQL92")}
    assert seen.is_broadcast


def test_nobody_online_is_an_answer() -> None:
    """A group without consumers is known to be empty; a silent broker says nothing about it."""
    refused = RequestRefusedError("b:1", ResponseCode.CONSUMER_NOT_ONLINE, "not online")
    assert connections_seen("b:1", refused) == GroupConnections()
    for error in (
        RequestRefusedError("b:1", ResponseCode.NO_PERMISSION, ""),
        NoResponseError("b:1", "no answer within 3 s"),
    ):
        assert connections_seen("b:1", error) is error


def test_never_committed_is_told_from_zero() -> None:
    """Progress says 0 for both; the table of offsets has only what was committed."""
    entry = '{"brokerOffset":%d,"consumerOffset":%d,"lastTimestamp":0}'
    stats = consume_stats(
        _body(f'{{"offsetTable":{{{_KEY}:{entry % (9, 0)},{_OTHER_KEY}:{entry % (8, 5)}}}}}')
    )
    assert stats[_QUEUE] == QueueProgress(end=9, committed=0)
    table = committed_offsets(_body('{"offsetTable":{"orders@g":{0:5,1:0}}}'))
    assert table == {("orders", "g"): {0: 5, 1: 0}}


def test_groups_come_sorted() -> None:
    """Names of groups are keys of a table."""
    assert groups_of(_body('{"subscriptionGroupTable":{"b":{},"a":{}}}')) == ("a", "b")


@pytest.mark.parametrize("text", ["", "[]", '{"mqTable":7}', '{"mqTable":{"orders":{}}}'])
def test_an_answer_of_another_form_is_named(text: str) -> None:
    """What is no answer of RocketMQ ends in an error with a remedy."""
    with pytest.raises(EnvironmentMissingError) as error:
        running_info(_body(text))
    assert "RocketMQ" in error.value.remedy
