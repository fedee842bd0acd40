"""The parts of ``fairlead serve``, put together."""

import gc
import sys
import threading
from contextlib import ExitStack
from typing import Any, Final

import structlog

from fairlead.access.guard import guarded
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.errors import UsageError
from fairlead.gateway.door import Door
from fairlead.http.descriptors import descriptors_needed, raise_descriptor_limit
from fairlead.http.server import start_server
from fairlead.http.tls import tls_contexts
from fairlead.kafka.topic_follower import Following, TopicFollower
from fairlead.observed.read_windows import WINDOWS_MS
from fairlead.serve.api import application
from fairlead.serve.event_streams import EventStreams
from fairlead.serve.gateway_alone import NOTHING_TO_FOLLOW, GatewayAlone
from fairlead.serve.group_metrics import GroupMetrics
from fairlead.serve.offset_poller import OffsetPoller
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import GARBAGE_THRESHOLDS, SharedView
from fairlead.settings import Settings
from strategies.own_strategies import all_strategies

__all__ = ["DECISIONS_MIN", "run_serve"]

DECISIONS_MIN: Final = 100_000
"""Read at least this many of the newest decisions, however old, so that quiet groups are shown."""

_SWITCH_S: Final = 0.001

log = structlog.get_logger()


def run_serve(settings: Settings, data: DataCluster, stop: threading.Event) -> None:
    """Follow and answer until ``stop`` is set; ``data``: the cluster with the messages.

    Raises:
        UsageError: a file of `[access]` or `[tls]` is wrong, or there is nothing to serve.
        EnvironmentMissingError: the port cannot be had, or nothing says who may call. A missing
            cluster raises nothing: the view says so and tries again.
        RuntimeError: the HTTP server ended by itself.
    """
    if not settings.serve.observe and not settings.gateway.enabled:
        raise UsageError(
            "serve.observe: is false, and so is gateway.enabled: there is nothing to serve.",
            remedy="Set one of them.",
        )
    strategies = all_strategies(settings.engine.strategies)
    held = SharedView(settings.serve, settings.engine.tick_ms, strategies)
    follower = TopicFollower(
        settings.kafka,
        {**WINDOWS_MS, "decisions": settings.serve.history_ms},
        held.begin,
        held.apply,
        held.follow,
        at_least={"decisions": DECISIONS_MIN},
    )
    observes = settings.serve.observe

    def following() -> Following:
        return follower.following if observes else NOTHING_TO_FOLLOW

    metrics = ServeMetrics(following)
    metrics.registry.register(GroupMetrics(held.snapshot))
    streams = EventStreams(settings.http.connections, metrics.streams)
    app: Any = application(held, following, metrics, streams, settings.kafka)
    app = app if observes else GatewayAlone(app)
    door = Door(settings, app, data, metrics.registry) if settings.gateway.enabled else None
    guard = guarded(
        app if door is None else door,
        settings,
        told_file=metrics.file_refused,
        told_refusal=metrics.caller_refused,
    )
    _raise_descriptor_limit(settings)
    if door is not None:
        # Threads that read the log must not hold up answers for the usual 5 ms at a time.
        sys.setswitchinterval(_SWITCH_S)
        # Sessions come and go with each poll: looking for garbage among them stops everybody.
        gc.set_threshold(*GARBAGE_THRESHOLDS)
    # The port first: if it is taken, nothing else begins.
    server = start_server(
        guard,
        settings.serve,
        "serve",
        settings.http if door is None else door.limits,
        on_end=stop.set,
        on_start=None if door is None else door.start,
        bodies_under=None if door is None else "/v1/",
        tls=tls_contexts(settings.tls, metrics.file_refused),
    )
    try:
        with ExitStack() as ending:
            poller = OffsetPoller(held, data, settings.serve.lag_period_ms)
            for part in (follower, poller) if observes else ():
                part.start()
                ending.callback(part.stop)
            if door is not None:
                ending.callback(door.stop)
            ending.callback(server.stop)
            log.info("serving", url=server.url)
            stop.wait()
            if not server.is_answering:
                raise RuntimeError("the HTTP server ended by itself")
    finally:
        log.info("serving_stopped", url=server.url)


def _raise_descriptor_limit(settings: Settings) -> None:
    needed = descriptors_needed(settings)
    allowed = raise_descriptor_limit(needed)
    if allowed < needed:
        # Callers beyond the limit are not accepted until others have gone.
        log.warning("descriptors_too_few", needed=needed, allowed=allowed)
