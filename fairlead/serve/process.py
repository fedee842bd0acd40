"""The parts of ``fairlead serve``, put together."""

import threading
from contextlib import ExitStack

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.serve.answers import HeldView
from fairlead.serve.api import application
from fairlead.serve.following import TopicFollower
from fairlead.serve.group_metrics import GroupMetrics
from fairlead.serve.offset_poller import OffsetPoller
from fairlead.serve.requests_metrics import ServeMetrics
from fairlead.serve.server import listening_socket, serve_until_stopped
from fairlead.settings import Settings
from streaming.own_strategies import all_strategies

__all__ = ["run_serve"]


def run_serve(settings: Settings, data: DataCluster, stop: threading.Event) -> None:
    """Follow and answer until ``stop`` is set; ``data`` is the cluster with the messages.

    Raises:
        EnvironmentMissingError: the port cannot be had. A cluster that is not there is no error:
            the view says so, and goes on to try.
    """
    strategies = all_strategies(settings.engine.strategies)
    held = HeldView(settings.serve, settings.engine.tick_ms, strategies)
    follower = TopicFollower(
        settings.kafka, settings.serve.history_ms, held.begin, held.take, held.follow
    )
    metrics = ServeMetrics(lambda: follower.following)
    metrics.registry.register(GroupMetrics(held.snapshot))
    with ExitStack() as ending:
        listening = ending.enter_context(listening_socket(settings.serve))
        poller = OffsetPoller(held, data, settings.serve.lag_period_ms)
        for part in (follower, poller):
            part.start()
            ending.callback(part.stop)
        app = application(held, lambda: follower.following, metrics, settings.kafka)
        serve_until_stopped(listening, app, stop)
