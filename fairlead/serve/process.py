"""The parts of ``fairlead serve``, put together."""

import gc
import sys
import threading
from contextlib import ExitStack
from typing import Final

import structlog

from fairlead.access.guard import guarded
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.errors import UsageError
from fairlead.gateway.door import Door
from fairlead.http.descriptors import descriptors_needed, raise_descriptor_limit
from fairlead.http.server import start_server
from fairlead.http.tls import tls_contexts
from fairlead.serve.observation import Observation
from fairlead.serve.refused_paths import CONSOLE_PATHS, GATEWAY_PATHS, without_gateway
from fairlead.serve.shared_view import GARBAGE_THRESHOLDS
from fairlead.settings import Settings

__all__ = ["run_serve"]

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
    observation = Observation(settings, data)
    metrics, app = observation.metrics, observation.application
    door = Door(settings, app, data, metrics.registry) if settings.gateway.enabled else None
    guard = guarded(
        without_gateway(app) if door is None else door,
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
        bodies_under=[GATEWAY_PATHS, CONSOLE_PATHS],
        tls=tls_contexts(settings.tls, metrics.file_refused),
    )
    try:
        with ExitStack() as ending:
            observation.start(ending.callback)
            if door is not None:
                ending.callback(door.stop)
            ending.callback(server.stop)
            ending.callback(observation.streams.close)
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
