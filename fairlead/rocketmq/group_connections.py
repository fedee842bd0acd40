"""What a broker says about the consumers of a group that are connected to it (203)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import RemotingError, RequestRefusedError

from fairlead.rocketmq.answer_reading import body_of, counted_from, read_answer, table_of
from fairlead.rocketmq.asking import Answer

__all__ = [
    "ClientConnection",
    "GroupConnections",
    "TopicFilter",
    "connections_request",
    "connections_seen",
]

BROADCASTING: Final = "BROADCASTING"


@dataclass(frozen=True, slots=True, order=True)
class ClientConnection:
    """One connection of a client to a broker (Connection).

    Attributes:
        client_id: the id that the client has drawn.
        address: its side of the connection, host:port.
        language: its LanguageCode.
        version: its MQVersion, as a number.
    """

    client_id: str
    address: str
    language: str
    version: int


@dataclass(frozen=True, slots=True, order=True)
class TopicFilter:
    """What a group reads of a topic (SubscriptionData).

    Attributes:
        topic: the topic.
        expression: its filter; "*": everything.
        kind: TAG or SQL92.
    """

    topic: str
    expression: str
    kind: str


@dataclass(frozen=True, slots=True)
class GroupConnections:
    """The consumers of a group as one broker knows them (ConsumerConnection).

    Attributes:
        connections: sorted; two of one client id are twins.
        subscriptions: topic -> filter. A broker keeps what its last heartbeat said.
        model: CLUSTERING or BROADCASTING.
        consume_type: CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull).
    """

    connections: tuple[ClientConnection, ...] = ()
    subscriptions: Mapping[str, TopicFilter] | None = None
    model: str = ""
    consume_type: str = ""

    @property
    def is_broadcast(self) -> bool:
        """Whether each consumer reads every queue, so that nobody shares them."""
        return self.model == BROADCASTING


def connections_request(group: str) -> Command:
    """Return the request for the consumers of a group."""
    return Command(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": group})


def connections_seen(address: str, answer: Answer) -> GroupConnections | RemotingError:
    """Return whom a broker lists; nobody is connected: empty; it does not say: the reason."""
    if isinstance(answer, RequestRefusedError) and answer.code == ResponseCode.CONSUMER_NOT_ONLINE:
        return GroupConnections()
    return read_answer(address, answer, _connections)


def _connections(answer: Command) -> GroupConnections:
    body = body_of(answer, "consumer connections")
    listed = body.get("connectionSet") or []
    return GroupConnections(
        connections=tuple(sorted(_connection(each) for each in listed)),
        subscriptions={
            str(topic): TopicFilter(
                str(topic),
                str(each.get("subString") or "*"),
                str(each.get("expressionType") or "TAG"),
            )
            for topic, each in table_of(body, "subscriptionTable").items()
        },
        model=str(body.get("messageModel") or ""),
        consume_type=str(body.get("consumeType") or ""),
    )


def _connection(entry: Mapping[str, Any]) -> ClientConnection:
    return ClientConnection(
        client_id=str(entry.get("clientId") or ""),
        address=str(entry.get("clientAddr") or ""),
        language=str(entry.get("language") or ""),
        version=counted_from(entry, "version"),
    )
