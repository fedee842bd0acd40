"""A server that answers nonsense costs its own answers alone, and is named."""

import pytest
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.answer_reading import UnreadableAnswerError, read_answer
from fairlead.rocketmq.broker_groups import groups_of
from fairlead.rocketmq.group_connections import GroupConnections, connections_seen
from fairlead.rocketmq.group_offsets import committed_offsets, consume_stats
from fairlead.rocketmq.name_servers import ClusterInfo, NameServers
from fairlead.rocketmq.queue_offsets import queue_facts
from fairlead.rocketmq.running_info import running_info
from fairlead.rocketmq.topic_ends import topic_ends
from tests.kit.remoting_server import Serve, response, serving


def _key(queue_id: str) -> str:
    return f'{{"brokerName":"b","queueId":{queue_id},"topic":"t"}}'


_BODIES = (
    *("", "null", "7", "[]", "{", "\xff", "[" * 5_000, '{"a":NaN}', "9" * 5_000),
    *('{"brokerAddrTable":7}', '{"brokerAddrTable":{"b":7}}', '{"clusterAddrTable":{"c":null}}'),
    *('{"brokerAddrTable":{"b":{"brokerAddrs":{"x":"a:1"}}}}', '{"clusterAddrTable":{"c":7}}'),
    *('{"connectionSet":7}', '{"connectionSet":["x"]}', '{"connectionSet":{"a":1}}'),
    *('{"connectionSet":[null]}', '{"subscriptionTable":{"t":null}}', '{"subscriptionTable":[]}'),
    *('{"offsetTable":{"t@g":7}}', '{"offsetTable":{"t@g":{"x":1}}}', '{"offsetTable":7}'),
    *('{"offsetTable":{"t@g":{0:null}}}', f'{{"offsetTable":{{"t@g":{{0:{"9" * 30}}}}}}}'),
    *('{"offsetTable":{"t":{}}}', f'{{"offsetTable":{{{_key("0")}:7}}}}'),
    *(f'{{"offsetTable":{{{_key(each)}:{{}}}}}}' for each in ('"0"', "[0]", "null", "9" * 30)),
    *(f'{{"mqTable":{{{_key("0")}:7}}}}', '{"properties":7}', '{"subscriptionSet":[7]}'),
    *('{"queueDatas":7}', '{"queueDatas":[{"readQueueNums":"x"}]}'),
    *('{"subscriptionGroupTable":7}', '{"topicList":7}', '{"brokerDatas":[{"brokerAddrs":[]}]}'),
)
_READERS = (groups_of, committed_offsets, consume_stats, running_info, topic_ends)


def _broken(body: str) -> Serve:
    """A server that answers this to everything."""
    return lambda asked: [response(asked, body.encode("latin-1"))]


def _works(asked: Command) -> list[Command]:
    """A name server of one broker and one topic."""
    match asked.code:
        case RequestCode.GET_BROKER_CLUSTER_INFO:
            body = (
                '{"brokerAddrTable":{"b":{"brokerAddrs":{0:"m:1"}}},"clusterAddrTable":{"c":["b"]}}'
            )
        case RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER:
            body = '{"topicList":["t"]}'
        case _:
            body = '{"queueDatas":[{"brokerName":"b"}],"brokerDatas":[]}'
    return [response(asked, body.encode())]


@pytest.mark.parametrize("body", _BODIES)
def test_whatever_a_server_answers_it_is_a_value_or_an_error_with_its_address(body: str) -> None:
    """No answer ends who has asked."""
    answer = Command(0, body=body.encode("latin-1"))
    for read in _READERS:
        found = read_answer("b:1", answer, read)
        assert not isinstance(found, RemotingError) or "b:1" in str(found)
    assert isinstance(connections_seen("b:1", answer), GroupConnections | UnreadableAnswerError)


@pytest.mark.parametrize("body", _BODIES)
def test_a_broken_name_server_leaves_the_others_their_word(body: str) -> None:
    """What one of two says counts, and the other one is no reason to stop."""
    with (
        serving(_broken(body)) as broken,
        serving(_works) as works,
        Connections(ConnectionSettings()) as connections,
    ):
        servers = NameServers(connections, (broken, works))
        assert servers.cluster_info().clusters["c"] == ("b",)
        assert "t" in servers.topics()
        look = servers.look(("t",))
        assert isinstance(look.infos[works], ClusterInfo)
        assert look.routes["t"][works] is not None
        assert all(error.address == broken for error in look.unread)


@pytest.mark.parametrize("offset", ["9" * 19, "9" * 5_000, "-1", "x", "", "٣"])
def test_an_offset_that_is_none_leaves_its_queue_out(offset: str) -> None:
    """A queue waits for a number that Java could have, and the others do not wait with it."""

    def serve(asked: Command) -> list[Command]:
        said = offset if asked.fields.get("queueId") == "1" else "3"
        return [Command(ResponseCode.SUCCESS, {"offset": said}, opaque=asked.opaque, flag=1)]

    queues = [MessageQueue("t", "b", number) for number in (0, 1)]
    with serving(serve) as broker, Connections(ConnectionSettings()) as connections:
        facts = queue_facts(connections, {"b": broker}, "g", queues)
    assert [*facts] == queues[:1]


@pytest.mark.parametrize("body", _BODIES)
def test_a_broken_table_of_offsets_leaves_young_queues_out(body: str) -> None:
    """Brokers of 4.x say 0 of a queue without a commit, and only the table says which it is."""

    def serve(asked: Command) -> list[Command]:
        if asked.code == RequestCode.GET_ALL_CONSUMER_OFFSET:
            return [response(asked, body.encode("latin-1"))]
        said = "0" if asked.fields.get("queueId") == "1" else "3"
        return [Command(ResponseCode.SUCCESS, {"offset": said}, opaque=asked.opaque, flag=1)]

    queues = [MessageQueue("t", "b", number) for number in (0, 1)]
    with serving(serve) as broker, Connections(ConnectionSettings()) as connections:
        facts = queue_facts(connections, {"b": broker}, "g", queues)
    assert queues[0] in facts
