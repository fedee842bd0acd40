"""What the name servers of a cluster say: its brokers, its topics, their routes."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

from fairlead_client.errors import RouteError
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError, RequestRefusedError
from fairlead_client.rocketmq.route_reading import decode_topic_route
from fairlead_client.routes.topic_route import TopicRoute

from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.rocketmq.answer_reading import body_of, read_answer, table_of, texts_of
from fairlead.rocketmq.asking import Question, ask_all

__all__ = ["ClusterInfo", "NameServers", "ServersLook", "addresses_of"]

_PORT_MAX: Final = 65_535
_Read = TypeVar("_Read")


def addresses_of(namesrv: str) -> tuple[str, ...]:
    """Return the addresses in a text such as "a:9876;b:9876"; a comma divides as well.

    Raises:
        UsageError: one of them has no port, or there is none.
    """
    addresses = tuple(each.strip() for each in namesrv.replace(",", ";").split(";") if each.strip())
    for each in addresses or ("",):
        host, _, port = each.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) <= _PORT_MAX:
            raise UsageError(
                f"--namesrv: {each!r} is no host:port.",
                remedy="Give the name servers with their ports, such as 'a:9876;b:9876'.",
            )
    return addresses


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """The brokers of all clusters that the name servers know (ClusterInfo).

    Attributes:
        addresses: broker name -> broker id -> host:port; id 0 is the master.
        clusters: cluster name -> broker names.
        unheard: name server -> why it did not answer; what others say counts.
    """

    addresses: Mapping[str, Mapping[int, str]]
    clusters: Mapping[str, tuple[str, ...]]
    unheard: Mapping[str, str] = field(default_factory=dict)

    @property
    def masters(self) -> Mapping[str, str]:
        """Broker name -> address of the broker with the lowest id, which acts as the master."""
        return {name: by_id[min(by_id)] for name, by_id in self.addresses.items() if by_id}

    def named(self, cluster: str | None) -> "ClusterInfo":
        """Return one cluster of these; None: all.

        Raises:
            UsageError: the name servers know no cluster of this name.
        """
        if cluster is None:
            return self
        if cluster not in self.clusters:
            known = ", ".join(sorted(self.clusters)) or "none"
            raise UsageError(
                f"--cluster-name: the name servers know no cluster {cluster}.",
                remedy=f"They know: {known}.",
            )
        names = self.clusters[cluster]
        held = {name: by_id for name, by_id in self.addresses.items() if name in names}
        return ClusterInfo(held, {cluster: names}, self.unheard)


class ServersLook(NamedTuple):
    """What name servers say at one time.

    Attributes:
        infos: name server -> the brokers that it knows, or why it does not say.
        routes: topic -> name server -> its route; None: it knows no such topic. One that does not
            answer, or not so that one can read it, is left out.
        unread: the answers about topics that nobody can read.
    """

    infos: Mapping[str, ClusterInfo | RemotingError]
    routes: Mapping[str, Mapping[str, TopicRoute | None]]
    unread: tuple[RemotingError, ...]


class NameServers:
    """The name servers of a cluster. They need not agree: each answer says whom was asked.

    Args:
        connections: to all servers; any thread may use them.
        addresses: host:port each, in the order in which they are asked.
        timeout_s: how long an answer may take, in seconds.
    """

    def __init__(
        self, connections: Connections, addresses: tuple[str, ...], timeout_s: float = 3.0
    ) -> None:
        self.addresses = addresses
        self._connections, self._timeout_s = connections, timeout_s

    def without(self, silent: Collection[str]) -> "NameServers":
        """Return those that are not silent: each question to a silent one takes its time limit."""
        heard = tuple(each for each in self.addresses if each not in silent)
        return NameServers(self._connections, heard, self._timeout_s)

    def cluster_info(self) -> ClusterInfo:
        """Return the brokers that any name server knows (106).

        Raises:
            EnvironmentMissingError: no name server answers.
        """
        heard, unheard = self._answers(_info_request(), _info)
        return replace(_united(heard), unheard=unheard)

    def topics(self) -> tuple[str, ...]:
        """Return the topics that any name server knows, sorted (206).

        Raises:
            EnvironmentMissingError: no name server answers.
        """
        asked = Command(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
        heard, _ = self._answers(asked, lambda each: texts_of(body_of(each, "topics"), "topicList"))
        return tuple(sorted({topic for topics in heard for topic in topics}))

    def routes(self, topics: tuple[str, ...]) -> ServersLook:
        """Return the routes of topics (105)."""
        return self._ask_all(topics, [])

    def look(self, topics: tuple[str, ...]) -> ServersLook:
        """Return the brokers that each name server knows, and the routes of topics.

        All questions are under way at once, so a silent one costs its time limit once.
        """
        return self._ask_all(topics, self.addresses)

    def _ask_all(self, topics: tuple[str, ...], of_info: Sequence[str]) -> ServersLook:
        questions = [
            (topic, Question(address, _route_request(topic)))
            for topic in topics
            for address in self.addresses
        ]
        asked = [Question(address, _info_request()) for address in of_info]
        everything = [*asked, *(each for _, each in questions)]
        answers = ask_all(self._connections, everything, self._timeout_s)
        infos = {
            address: read_answer(address, answer, _info)
            for address, answer in zip(of_info, answers, strict=False)
        }
        found: dict[str, dict[str, TopicRoute | None]] = {topic: {} for topic in topics}
        unread = []
        for (topic, question), answer in zip(questions, answers[len(asked) :], strict=True):
            route = read_answer(question.address, answer, _route)
            if isinstance(route, TopicRoute):
                found[topic][question.address] = route
            elif _knows_no_topic(route):
                found[topic][question.address] = None
            elif isinstance(answer, Command):
                unread.append(route)
        return ServersLook(infos, found, tuple(unread))

    def _answers(
        self, command: Command, read: Callable[[Command], _Read]
    ) -> tuple[list[_Read], dict[str, str]]:
        questions = [Question(address, command) for address in self.addresses]
        answers = ask_all(self._connections, questions, self._timeout_s)
        said = [
            read_answer(address, each, read)
            for address, each in zip(self.addresses, answers, strict=True)
        ]
        heard = [each for each in said if not isinstance(each, RemotingError)]
        unheard = {
            address: str(each)
            for address, each in zip(self.addresses, said, strict=True)
            if isinstance(each, RemotingError)
        }
        if not heard:
            says = "; ".join(unheard.values())
            raise EnvironmentMissingError(
                f"--namesrv: no name server answers ({says}).",
                remedy="Check the addresses, and that this machine may connect to them.",
            )
        return heard, unheard


def _info_request() -> Command:
    return Command(RequestCode.GET_BROKER_CLUSTER_INFO)


def _info(answer: Command) -> ClusterInfo:
    """Return what one name server knows.

    Raises:
        EnvironmentMissingError: the answer does not have its form.
    """
    body = body_of(answer, "cluster info")
    addresses = {
        str(name): {
            int(broker_id): str(address)
            for broker_id, address in table_of(broker, "brokerAddrs").items()
        }
        for name, broker in table_of(body, "brokerAddrTable").items()
    }
    clusters = {
        str(cluster): tuple(sorted(map(str, names)))
        for cluster, names in table_of(body, "clusterAddrTable").items()
    }
    return ClusterInfo(addresses, clusters)


def _united(infos: Iterable[ClusterInfo]) -> ClusterInfo:
    addresses: dict[str, dict[int, str]] = {}
    clusters: dict[str, set[str]] = {}
    for info in infos:
        for name, by_id in info.addresses.items():
            addresses[name] = {**by_id, **addresses.get(name, {})}
        for cluster, names in info.clusters.items():
            clusters.setdefault(cluster, set()).update(names)
    return ClusterInfo(addresses, {name: tuple(sorted(of)) for name, of in clusters.items()})


def _route_request(topic: str) -> Command:
    fields = {"topic": topic, "acceptStandardJsonOnly": "true"}
    return Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, fields)


def _route(answer: Command) -> TopicRoute:
    try:
        return decode_topic_route(bytes(answer.body))
    except RouteError as error:
        raise EnvironmentMissingError(
            f"route: {error}.", remedy="Check that the address is a name server of RocketMQ."
        ) from error


def _knows_no_topic(error: RemotingError) -> bool:
    return isinstance(error, RequestRefusedError) and error.code == ResponseCode.TOPIC_NOT_EXIST
