"""The Kafka bridge: one loop that answers requests at once and checks the topics regularly.

ADR 0060 gives the reasons.
"""

import contextlib
import re
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from fairlead.bridges.kafka.control_topics import ControlTopics
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.figures import BridgeFigures
from fairlead.bridges.kafka.request_answerer import RequestAnswerer
from fairlead.bridges.kafka.request_book import RequestBook
from fairlead.bridges.kafka.retry_removal import REMOVE_AFTER_MS
from fairlead.bridges.kafka.retry_topics import RETRY_GROUPS_MAX, RetryTopics
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.bridges.kafka.route_publisher import RoutePublisher
from fairlead.bridges.kafka.signs_of_life import SignsOfLife
from fairlead.bridges.kafka.topic_maker import TopicMaker
from fairlead.bridges.kafka.watch_list import WatchList
from fairlead.errors import UsageError
from fairlead.wire.texts import ADDRESS, BROKER_NAME, TOPIC
from fairlead.wire.topics import TopicNames

__all__ = ["BridgeTimes", "KafkaBridge"]

_STOP_LOOK_MS: Final = 200
"""How long the loop waits for requests before it checks for a stop."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeTimes:
    """The bridge's intervals, in milliseconds.

    Attributes:
        poll_ms: between two looks at the watched topics; the bridge publishes a change within it.
            A loss (a topic is gone, or another one has its name) takes one look more.
        discovery_ms: between two looks at the names of all topics, if there is a pattern.
        look_back_ms: how far back the bridge reads requests at start.
        timeout_ms: how long an answer of either cluster may take.
        give_up_ms: how long the bridge retries a request that nobody repeats.
        forget_ms: how long it looks for a requested topic that does not exist.
        remove_after_ms: how long a forgotten group's retry topics stay closed before the empty ones
            are removed; 0: they stay.
        sign_ms: between two signs of life; after three missing ones the bridge counts as dead.
    """

    poll_ms: int = 2_000
    discovery_ms: int = 10_000
    look_back_ms: int = 60_000
    timeout_ms: int = 5_000
    give_up_ms: int = 30_000
    forget_ms: int = 600_000
    remove_after_ms: int = REMOVE_AFTER_MS
    sign_ms: int = 10_000


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
        self._watched = WatchList(
            named=[_checked_topic(topic) for topic in topics],
            pattern=_checked_pattern(topic_pattern),
            hidden_prefix=prefix,
            forget_ms=self._times.forget_ms,
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
            self._read_log(published)
            log.info("bridge_started", cluster=cluster, routes=len(list(published.own_topics())))
            routes = RoutePublisher(self._data, self._control, published, self._names)
            requests = RequestBook(
                pause_ms_max=self._times.poll_ms, give_up_ms=self._times.give_up_ms
            )
            answerer = RequestAnswerer(
                cluster=cluster,
                names=self._names,
                data=self._data,
                control=self._control,
                routes=routes,
                book=requests,
                published=published,
                watched=self._watched,
                retries=retries,
            )
            signs = SignsOfLife(
                cluster, str(uuid.uuid4()), self._control, self._names, self._times.sign_ms
            )
            self.ready.set()
            try:
                self._loop(stop, _Work(published, routes, requests, answerer, retries, signs))
                signs.last()
            finally:
                self.ready.clear()
                log.info("bridge_stopped", cluster=cluster)

    def _read_log(self, published: RouteBook) -> None:
        """Read the existing routes, then begin to read requests."""
        for change in self._control.routes():
            published.note(change)
        self._control.follow_requests(self._times.look_back_ms)

    def _loop(self, stop: threading.Event, work: "_Work") -> None:
        next_look_ms = next_discovery_ms = _now_ms()
        while not stop.is_set():
            now_ms = _now_ms()
            self.figures.turned()
            work.signs.give(self.figures.verdict().state, now_ms=now_ms)
            if now_ms >= next_discovery_ms:
                next_discovery_ms = now_ms + self._times.discovery_ms
                self._discover()
            if now_ms >= next_look_ms:
                next_look_ms = now_ms + self._times.poll_ms
                topics = self._watched.topics(work.published.own_topics(), now_ms=now_ms)
                failed = work.routes.watch(topics, now_ms=now_ms)
                self.figures.looked(len(topics), failed=failed)
                work.routes.publish_default(self._default_topic_queue_nums)
            due_ms = work.requests.next_at_ms()
            wake_ms = next_look_ms if due_ms is None else min(next_look_ms, due_ms)
            wait_ms = max(0, min(wake_ms - _now_ms(), _STOP_LOOK_MS))
            dropped, not_reached = work.requests.dropped, work.requests.not_reached
            work.answerer.note(self._control.requests(wait_ms), now_ms=_now_ms())
            if work.requests.dropped > dropped:
                log.warning("requests_dropped", dropped=work.requests.dropped - dropped)
            work.answerer.answer_due(now_ms=_now_ms())
            if work.requests.not_reached > not_reached:
                log.warning(
                    "requests_not_reached", requests=work.requests.not_reached - not_reached
                )
            self.figures.answered = work.requests.answered_in_full
            self.figures.waiting = work.requests.waiting
            work.retries.work(now_ms=_now_ms())

    def _discover(self) -> None:
        if self._watched.wants_discovery:
            names = self._data.names()
            if names is not None:
                self._watched.discover(names)


@dataclass(frozen=True, slots=True)
class _Work:
    """The objects that the loop works with."""

    published: RouteBook
    routes: RoutePublisher
    requests: RequestBook
    answerer: RequestAnswerer
    retries: RetryTopics
    signs: SignsOfLife


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _checked_topic(topic: str) -> str:
    if not TOPIC.allows(topic):
        raise UsageError(f"topics: {topic!r} cannot be watched.", remedy=f"Give {TOPIC.words}.")
    return topic


def _checked_pattern(pattern: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"topic_pattern: {pattern!r} is not a regular expression ({error}).",
            remedy="Use Python's syntax, such as orders-.*",
        ) from None


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
