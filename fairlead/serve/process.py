"""The parts of ``fairlead serve``, put together."""

import threading
from contextlib import ExitStack

import structlog

from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.http.server import start_server
from fairlead.serve.api import application
from fairlead.serve.event_streams import EventStreams
from fairlead.serve.following import TopicFollower
from fairlead.serve.group_metrics import GroupMetrics
from fairlead.serve.offset_poller import OffsetPoller
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import Settings
from strategies.own_strategies import all_strategies

__all__ = ["run_serve"]

log = structlog.get_logger()


def run_serve(settings: Settings, data: DataCluster, stop: threading.Event) -> None:
    """Follow and answer until ``stop`` is set; ``data``: the cluster with the messages.

    Raises:
        EnvironmentMissingError: the port cannot be had. A missing cluster raises nothing: the view
            says so and tries again.
        RuntimeError: the HTTP server ended by itself.
    """
    strategies = all_strategies(settings.engine.strategies)
    held = SharedView(settings.serve, settings.engine.tick_ms, strategies)
    follower = TopicFollower(
        settings.kafka, settings.serve.history_ms, held.begin, held.apply, held.follow
    )
    metrics = ServeMetrics(lambda: follower.following)
    metrics.registry.register(GroupMetrics(held.snapshot))
    streams = EventStreams(settings.http.connections, metrics.streams)
    app = application(held, lambda: follower.following, metrics, streams, settings.kafka)
    # The port first: if it is taken, nothing else begins.
    server = start_server(app, settings.serve, "serve", settings.http, on_end=stop.set)
    try:
        with ExitStack() as ending:
            poller = OffsetPoller(held, data, settings.serve.lag_period_ms)
            for part in (follower, poller):
                part.start()
                ending.callback(part.stop)
            ending.callback(server.stop)
            log.info("serving", url=server.url)
            stop.wait()
            if not server.is_answering:
                raise RuntimeError("the HTTP server ended by itself")
    finally:
        log.info("serving_stopped", url=server.url)
