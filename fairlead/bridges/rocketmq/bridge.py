"""The RocketMQ bridge: its settings, its clusters, and its run."""

import contextlib
import threading
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.bridges.bridge_loop import BridgeLoop, LoopTimes
from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.figures import BridgeFigures
from fairlead.bridges.rocketmq.member_looks import MemberLooks
from fairlead.bridges.rocketmq.rocketmq_side import RocketMQSide
from fairlead.bridges.rocketmq.route_book import RocketMQRouteBook
from fairlead.bridges.rocketmq.silent_servers import SilentServers
from fairlead.bridges.watch_list import WatchList
from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from fairlead.wire.topics import TopicNames

__all__ = ["RocketMQBridge", "RocketMQBridgeTimes"]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RocketMQBridgeTimes(LoopTimes):
    """The RocketMQ bridge's intervals, in milliseconds.

    Attributes:
        timeout_ms: how long an answer may take.
        away_ms: how long a broker that no name server knows keeps its queues.
    """

    timeout_ms: int = 3_000
    away_ms: int = 600_000


class RocketMQBridge:
    """Carries routes and offsets of one cluster of RocketMQ into Fairlead's topics.

    Args:
        control_bootstrap: the Kafka cluster with Fairlead's topics, host:port[,host:port].
        namesrv: the name servers, host:port[;host:port].
        cluster_name: the cluster of brokers; None: the only one that the name servers know.
        prefix: the prefix of Fairlead's topics.
        topics: topics to watch even if no group asks for them.
        topic_pattern: a regular expression; topics whose whole name matches are watched too.
        times: the intervals.
        connection: how to connect to RocketMQ's servers: encryption, login.
        control_options: further arguments for kafka-python's clients.

    Raises:
        UsageError: a name, an address or the pattern is invalid.
    """

    def __init__(
        self,
        *,
        control_bootstrap: str,
        namesrv: str,
        cluster_name: str | None = None,
        prefix: str = "fairlead.",
        topics: Iterable[str] = (),
        topic_pattern: str | None = None,
        times: RocketMQBridgeTimes | None = None,
        connection: ConnectionSettings | None = None,
        control_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._times = times or RocketMQBridgeTimes()
        self._names = TopicNames(prefix)
        self._addresses = addresses_of(namesrv)
        self._cluster_name = cluster_name
        self._connection = connection or ConnectionSettings(connect_s=1.0)
        self._watched = WatchList.of(
            topics, topic_pattern, prefix=prefix, forget_ms=self._times.forget_ms
        )
        self._control = ControlTopics(
            control_bootstrap,
            self._names,
            timeout_ms=LoopTimes().timeout_ms,
            options=control_options or {},
        )
        self.figures = BridgeFigures(self._times.poll_ms)
        self._control.figures = self.figures
        self.ready = threading.Event()
        """Set when the bridge reads requests."""

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set; return within a second, or when a look-up ends.

        After the start the bridge survives failures of either cluster: it publishes nothing wrong,
        and catches up afterwards.

        Raises:
            EnvironmentMissingError: a cluster does not answer at start, or Fairlead's topics do not
                exist.
            UsageError: the name servers know other clusters, or several.
        """
        with contextlib.ExitStack() as held:
            connections = held.enter_context(Connections(self._connection))
            cluster = self._cluster(connections)
            held.enter_context(self._control)
            confirm_ms = self._times.poll_ms // 2
            published = RocketMQRouteBook(
                cluster,
                confirm_ms=confirm_ms,
                away_ms=self._times.away_ms,
                new_life=lambda: str(uuid.uuid4()),
            )
            timeout_s = self._times.timeout_ms / 1_000
            bridge = str(uuid.uuid4())
            silent = held.enter_context(contextlib.closing(SilentServers(connections)))
            members = MemberLooks(
                cluster,
                connections=connections,
                silent=silent,
                published=published,
                control=self._control,
                names=self._names,
                timeout_s=timeout_s,
            )
            side = RocketMQSide(
                cluster,
                connections,
                self._addresses,
                published,
                silent=silent,
                members=members,
                confirm_ms=confirm_ms,
                timeout_s=timeout_s,
            )
            loop = BridgeLoop(
                cluster=cluster,
                bridge=bridge,
                side=side,
                control=self._control,
                published=published,
                watched=self._watched,
                names=self._names,
                times=self._times,
                figures=self.figures,
            )
            loop.run(stop, self.ready)

    def _cluster(self, connections: Connections) -> str:
        """Return the name of the cluster of brokers.

        Raises:
            EnvironmentMissingError: no name server answers, or none knows a broker.
            UsageError: the name servers know other clusters, or several.
        """
        servers = NameServers(connections, self._addresses, self._times.timeout_ms / 1_000)
        known = sorted(servers.cluster_info().clusters)
        if self._cluster_name is not None and (self._cluster_name in known or not known):
            # After a restart of everything the name servers know no broker yet.
            return self._cluster_name
        if not known:
            raise EnvironmentMissingError(
                "--namesrv: the name servers know no broker yet.",
                remedy="Start the brokers, or name their cluster: --cluster-name.",
            )
        if self._cluster_name is not None or len(known) > 1:
            named = "" if self._cluster_name is None else f"no cluster {self._cluster_name}, but "
            raise UsageError(
                f"--cluster-name: the name servers know {named}{', '.join(known)}.",
                remedy="Name one of them; each cluster has a bridge of its own.",
            )
        return known[0]
