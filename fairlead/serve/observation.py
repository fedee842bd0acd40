"""The part of `fairlead serve` that follows all groups and answers questions about them."""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from prometheus_client import CollectorRegistry

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.http.event_streams import EventStreams
from fairlead.kafka.topic_follower import Following, TopicFollower
from fairlead.native.native_poller import NativePoller
from fairlead.native.native_sources import is_wanted, native_sources
from fairlead.native.native_view import NativeView
from fairlead.observed.read_windows import WINDOWS_MS
from fairlead.serve.api import application
from fairlead.serve.group_metrics import GroupMetrics
from fairlead.serve.native_metrics import NativeMetrics
from fairlead.serve.offset_poller import OffsetPoller
from fairlead.serve.refused_paths import NOTHING_TO_FOLLOW, gateway_alone
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import Settings
from strategies.own_strategies import all_strategies

__all__ = ["DECISIONS_MIN", "Observation"]

DECISIONS_MIN: Final = 100_000
"""Read at least this many of the newest decisions, however old, so that quiet groups are shown."""


class Observation:
    """Follows the groups, if it shall; else it says that it does not.

    Args:
        settings: the settings; `serve.observe` says whether it follows.
        data: the cluster with the messages.

    Attributes:
        metrics: the numbers of this process and of the groups.
        application: answers over HTTP.
        streams: the open streams of events.
    """

    def __init__(self, settings: Settings, data: DataCluster) -> None:
        self._observes = settings.serve.observe
        strategies = all_strategies(settings.engine.strategies)
        held = SharedView(settings.serve, settings.engine.tick_ms, strategies)
        self._follower = TopicFollower(
            settings.kafka,
            {**WINDOWS_MS, "decisions": settings.serve.history_ms},
            held.begin,
            held.apply,
            held.follow,
            at_least={"decisions": DECISIONS_MIN},
        )
        self._poller = OffsetPoller(held, data, settings.serve.lag_period_ms)
        sources = native_sources(settings, sparing=True)
        native = NativeView((each.kind, each.address) for each in sources)
        self._natives = NativePoller(
            native, sources, partial(is_wanted, settings), settings.observe.interval_ms
        )
        self.metrics = ServeMetrics(self._following)
        self.registry.register(GroupMetrics(held.snapshot))
        self.registry.register(NativeMetrics(native, settings.serve.max_groups))
        self.streams = EventStreams(settings.http.connections, self.metrics.streams)
        answers = application(
            held,
            self._following,
            self.metrics,
            self.streams,
            settings,
            native=native,
            open_data=lambda: contextlib.closing(data.again()),
        )
        self.application: Any = answers if self._observes else gateway_alone(answers)

    @property
    def registry(self) -> CollectorRegistry:
        """Where the metrics are registered."""
        return self.metrics.registry

    def start(self, ending: Callable[[Callable[[], None]], object]) -> None:
        """Begin to follow; ``ending`` is given what stops each part."""
        if self._observes:
            self._follower.start()
            ending(self._follower.stop)
            self._poller.start()
            ending(self._poller.stop)
            self._natives.start()
            ending(self._natives.stop)

    def _following(self) -> Following:
        return self._follower.following if self._observes else NOTHING_TO_FOLLOW
