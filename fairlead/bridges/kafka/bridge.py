"""The Kafka bridge: its settings, its clusters, and its run."""

import contextlib
import threading
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.bridges.bridge_loop import BridgeLoop, LoopTimes
from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.figures import BridgeFigures
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.kafka_side import KafkaSide
from fairlead.bridges.kafka.retry_removal import REMOVE_AFTER_MS
from fairlead.bridges.kafka.retry_topics import RETRY_GROUPS_MAX, RetryTopics
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.bridges.kafka.topic_maker import TopicMaker
from fairlead.bridges.watch_list import WatchList
from fairlead.errors import UsageError
from fairlead.wire.texts import ADDRESS, BROKER_NAME
from fairlead.wire.topics import TopicNames

__all__ = ["BridgeTimes", "KafkaBridge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeTimes(LoopTimes):
    """The Kafka bridge's intervals, in milliseconds.

    Attributes:
        remove_after_ms: how long a forgotten group's retry topics stay closed before the empty ones
            are removed; 0: they stay.
    """

    remove_after_ms: int = REMOVE_AFTER_MS


class KafkaBridge:
    """Carries routes and offsets of one Kafka cluster into Fairlead's topics.

    Several may run for one cluster: they write the same records.

    Args:
        control_bootstrap: the cluster with Fairlead's topics, host:port[,host:port].
        data_bootstrap: the cluster with the messages; the routes have it as their address.
        prefix: the prefix of Fairlead's topics.
        topics: topics to watch even if no group asks for them.
        topic_pattern: a regular expression; topics whose whole name matches are watched too.
        cluster_name: the broker name of the queues; by default the cluster's id.
        times: the intervals.
        retry_queue_nums: queues per delay level of the retry topics that groups ask for (RocketMQ's
            retryQueueNums); 0: the bridge creates none.
        retry_groups_max: the most groups with retry topics on the data cluster.
        default_topic_queue_nums: queues of the default route TBW102, which producers use for topics
            that do not exist yet; 0: none. With it the bridge watches every topic of the cluster,
            so that no producer uses it for an existing topic.
        control_options: further arguments for kafka-python's clients on the control cluster.
        data_options: the same for the data cluster.

    Raises:
        UsageError: a name or the pattern is invalid.
    """

    def __init__(
        self,
        *,
        control_bootstrap: str,
        data_bootstrap: str | None = None,
        prefix: str = "fairlead.",
        topics: Iterable[str] = (),
        topic_pattern: str | None = None,
        cluster_name: str | None = None,
        times: BridgeTimes | None = None,
        retry_queue_nums: int = 1,
        retry_groups_max: int = RETRY_GROUPS_MAX,
        default_topic_queue_nums: int = 0,
        control_options: Mapping[str, Any] | None = None,
        data_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._times = times or BridgeTimes()
        self._names = TopicNames(prefix)
        self._address = _checked_address(data_bootstrap or control_bootstrap)
        self._cluster_name = _checked_cluster(cluster_name)
        self._retry_queue_nums = retry_queue_nums
        self._retry_groups_max = retry_groups_max
        self._default_topic_queue_nums = default_topic_queue_nums
        if topic_pattern is None and default_topic_queue_nums:
            topic_pattern = ".*"
        self._watched = WatchList.of(
            topics, topic_pattern, prefix=prefix, forget_ms=self._times.forget_ms
        )
        timeout_ms, options = self._times.timeout_ms, data_options or {}
        self._data = DataCluster(self._address, timeout_ms=timeout_ms, options=options)
        self._maker = TopicMaker(self._address, timeout_ms=timeout_ms, options=options)
        self._control = ControlTopics(
            control_bootstrap,
            self._names,
            timeout_ms=self._times.timeout_ms,
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
        """
        retries = RetryTopics(
            self._maker,
            retry_queue_nums=self._retry_queue_nums,
            groups_max=self._retry_groups_max,
            remove_after_ms=self._times.remove_after_ms,
        )
        with (
            contextlib.closing(self._data),
            contextlib.closing(self._maker),
            contextlib.closing(retries),
            self._control,
        ):
            cluster = self._cluster_name or self._data.cluster_id()
            published = RouteBook(cluster, self._address, confirm_ms=self._times.poll_ms // 2)
            side = KafkaSide(
                cluster,
                self._data,
                published,
                retries,
                default_topic_queue_nums=self._default_topic_queue_nums,
            )
            loop = BridgeLoop(
                cluster=cluster,
                bridge=str(uuid.uuid4()),
                side=side,
                control=self._control,
                published=published,
                watched=self._watched,
                names=self._names,
                times=self._times,
                figures=self.figures,
            )
            loop.run(stop, self.ready)


def _checked_cluster(name: str | None) -> str | None:
    if name is not None and not BROKER_NAME.allows(name):
        raise UsageError(
            f"cluster_name: {name!r} cannot be a broker name.", remedy=f"Give {BROKER_NAME.words}."
        )
    return name


def _checked_address(bootstrap: str) -> str:
    if not ADDRESS.allows(bootstrap):
        raise UsageError(
            f"data_bootstrap: a route cannot hold {bootstrap!r}.",
            remedy=f"Give {ADDRESS.words}; a few of the brokers are enough.",
        )
    return bootstrap
