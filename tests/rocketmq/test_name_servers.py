"""Name servers and brokers are asked all at once, and need not agree."""

import threading

import pytest
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import NoConnectionError, NoResponseError

from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.rocketmq.asking import Question, ask_all
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from tests.kit.remoting_server import Serve, response, serving

_NOWHERE = "127.0.0.1:1"


def _knows(broker: str, topic: str) -> Serve:
    def serve(asked: Command) -> list[Command]:
        match asked.code:
            case RequestCode.GET_BROKER_CLUSTER_INFO:
                body = (
                    f'{{"brokerAddrTable":{{"{broker}":{{"brokerAddrs":{{0:"m:1",1:"s:1"}},'
                    f'"brokerName":"{broker}"}}}},"clusterAddrTable":{{"main":["{broker}"]}}}}'
                )
            case RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER:
                body = f'{{"topicList":["{topic}"]}}'
            case _ if asked.fields["topic"] == topic:
                body = f'{{"queueDatas":[{{"brokerName":"{broker}"}}],"brokerDatas":[]}}'
            case _:
                return [response(asked, code=ResponseCode.TOPIC_NOT_EXIST)]
        return [response(asked, body.encode())]

    return serve


def test_what_any_name_server_knows_counts() -> None:
    """Brokers and topics are united; routes stay apart, with None for an unknown topic."""
    with (
        serving(_knows("broker-a", "orders")) as one,
        serving(_knows("broker-b", "bills")) as two,
        Connections(ConnectionSettings()) as connections,
    ):
        servers = NameServers(connections, (one, _NOWHERE, two))
        info = servers.cluster_info()
        assert info.clusters == {"main": ("broker-a", "broker-b")}
        assert info.masters == {"broker-a": "m:1", "broker-b": "m:1"}
        assert info.named("main") == info
        with pytest.raises(UsageError, match="no cluster other"):
            info.named("other")
        assert servers.topics() == ("bills", "orders")
        routes = servers.routes(("orders",)).routes["orders"]
        assert set(routes) == {one, two}
        assert routes[two] is None
        known = routes[one]
        assert known is not None
        assert [each.broker_name for each in known.queue_datas] == ["broker-a"]


def test_no_name_server_is_an_error_with_a_remedy() -> None:
    """The error says who was asked and why nobody answered."""
    with (
        Connections(ConnectionSettings()) as connections,
        pytest.raises(EnvironmentMissingError, match=_NOWHERE),
    ):
        NameServers(connections, (_NOWHERE,)).topics()


def test_a_silent_server_delays_nobody_beyond_the_limit() -> None:
    """Answers keep the order of the questions, and each failure is an answer too."""
    asked_both = threading.Barrier(2, timeout=10)

    def serve(asked: Command) -> list[Command]:
        if asked.fields.get("silent"):
            asked_both.wait()
            return []
        return [response(asked, b"here")]

    def answers_later(asked: Command) -> list[Command]:
        # It answers only when the other server has the other question: both are under way.
        asked_both.wait()
        return [response(asked, b"there")]

    with (
        serving(serve) as silent,
        serving(answers_later) as later,
        Connections(ConnectionSettings()) as connections,
    ):
        questions = [
            Question(silent, Command(1, {"silent": "yes"})),
            Question(later, Command(1)),
            Question(_NOWHERE, Command(1)),
        ]
        first, second, third = ask_all(connections, questions, 0.5)
        assert isinstance(first, NoResponseError)
        assert isinstance(second, Command)
        assert bytes(second.body) == b"there"
        assert isinstance(third, NoConnectionError)


@pytest.mark.parametrize("text", ["", ";", "a", "a:", "a:b", ":1", "a:0", "a:65536", "a:1;b"])
def test_addresses_that_are_none_are_named(text: str) -> None:
    """The error names the option, and shows what an address looks like."""
    with pytest.raises(UsageError, match="--namesrv"):
        addresses_of(text)


def test_addresses_are_divided_by_semicolons_or_commas() -> None:
    """Both are usual; a space does no harm."""
    assert addresses_of("a:1; b:2,c:3;") == ("a:1", "b:2", "c:3")
