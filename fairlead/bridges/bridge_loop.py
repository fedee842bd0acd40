"""The loop of every bridge: it answers requests at once and checks the topics regularly.

ADR 0060 gives the reasons.
"""

import threading
import time
from dataclasses import dataclass
from typing import Final

import structlog

from fairlead.bridges.cluster_side import ClusterSide, PublishedRoutes
from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.figures import BridgeFigures
from fairlead.bridges.request_answerer import RequestAnswerer
from fairlead.bridges.request_book import RequestBook
from fairlead.bridges.route_publisher import RoutePublisher
from fairlead.bridges.signs_of_life import SignsOfLife
from fairlead.bridges.watch_list import WatchList
from fairlead.wire.topics import TopicNames

__all__ = ["BridgeLoop", "LoopTimes"]

_STOP_LOOK_MS: Final = 200
"""How long the loop waits for requests before it checks for a stop."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTimes:
    """The intervals of a bridge, in milliseconds.

    Attributes:
        poll_ms: between two looks at the watched topics; the bridge publishes a change within it.
            A loss (a topic is gone, or another one has its name) takes one look more.
        discovery_ms: between two looks at the names of all topics, if there is a pattern.
        look_back_ms: how far back the bridge reads requests at start.
        timeout_ms: how long an answer of either cluster may take.
        give_up_ms: how long the bridge retries a request that nobody repeats.
        forget_ms: how long it looks for a requested topic that does not exist.
        sign_ms: between two signs of life; after three missing ones the bridge counts as dead.
    """

    poll_ms: int = 2_000
    discovery_ms: int = 10_000
    look_back_ms: int = 60_000
    timeout_ms: int = 5_000
    give_up_ms: int = 30_000
    forget_ms: int = 600_000
    sign_ms: int = 10_000


class BridgeLoop:
    """Carries routes and offsets of one cluster into Fairlead's topics.

    Args:
        cluster: the cluster's name.
        bridge: the UUID of this run of the bridge.
        side: the cluster that carries the messages.
        control: Fairlead's topics, connected.
        published: the book of the published routes, still empty.
        watched: the topics to watch.
        names: the names of Fairlead's topics.
        times: the intervals.
        figures: what the bridge counts.
    """

    def __init__(
        self,
        *,
        cluster: str,
        bridge: str,
        side: ClusterSide,
        control: ControlTopics,
        published: PublishedRoutes,
        watched: WatchList,
        names: TopicNames,
        times: LoopTimes,
        figures: BridgeFigures,
    ) -> None:
        self._cluster = cluster
        self._side = side
        self._control = control
        self._published = published
        self._watched = watched
        self._times = times
        self._figures = figures
        self._routes = RoutePublisher(side, control, published, names)
        self._requests = RequestBook(pause_ms_max=times.poll_ms, give_up_ms=times.give_up_ms)
        self._answerer = RequestAnswerer(
            cluster=cluster,
            names=names,
            side=side,
            control=control,
            routes=self._routes,
            book=self._requests,
            published=published,
            watched=watched,
        )
        self._signs = SignsOfLife(cluster, bridge, control, names, times.sign_ms)

    def run(self, stop: threading.Event, ready: threading.Event) -> None:
        """Read the existing routes, then work until ``stop`` is set.

        Args:
            stop: ends it within a second, or when a look-up ends.
            ready: set while the bridge reads requests.

        Raises:
            EnvironmentMissingError: Fairlead's topics cannot be read at start.
        """
        for change in self._control.routes():
            self._published.note(change)
        self._control.follow_requests(self._times.look_back_ms)
        known = len(list(self._published.own_topics()))
        log.info("bridge_started", cluster=self._cluster, routes=known)
        ready.set()
        try:
            self._work(stop)
            self._signs.last()
        finally:
            ready.clear()
            log.info("bridge_stopped", cluster=self._cluster)

    def _work(self, stop: threading.Event) -> None:
        next_look_ms = next_discovery_ms = _now_ms()
        while not stop.is_set():
            now_ms = _now_ms()
            self._figures.turned()
            self._signs.give(self._figures.verdict().state, now_ms=now_ms)
            if now_ms >= next_discovery_ms:
                next_discovery_ms = now_ms + self._times.discovery_ms
                self._discover()
            if now_ms >= next_look_ms:
                next_look_ms = now_ms + self._times.poll_ms
                topics = self._watched.topics(self._published.own_topics(), now_ms=now_ms)
                failed = self._routes.watch(topics, now_ms=now_ms)
                self._figures.looked(len(topics), failed=failed)
            self._answer(next_look_ms)
            self._side.work(now_ms=_now_ms())

    def _answer(self, next_look_ms: int) -> None:
        """Wait for requests until the next look or retry, and answer what is due."""
        requests = self._requests
        due_ms = requests.next_at_ms()
        wake_ms = next_look_ms if due_ms is None else min(next_look_ms, due_ms)
        wait_ms = max(0, min(wake_ms - _now_ms(), _STOP_LOOK_MS))
        dropped, not_reached = requests.dropped, requests.not_reached
        self._answerer.note(self._control.requests(wait_ms), now_ms=_now_ms())
        if requests.dropped > dropped:
            log.warning("requests_dropped", dropped=requests.dropped - dropped)
        self._answerer.answer_due(now_ms=_now_ms())
        if requests.not_reached > not_reached:
            log.warning("requests_not_reached", requests=requests.not_reached - not_reached)
        self._figures.answered = requests.answered_in_full
        self._figures.waiting = requests.waiting

    def _discover(self) -> None:
        if self._watched.wants_discovery:
            names = self._side.names()
            if names is not None:
                self._watched.discover(names)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
