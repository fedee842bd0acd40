"""A liveness probe is answered alike by every process that has one."""

import asyncio

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from fairlead.http.endpoint import engine_application
from fairlead.http.event_streams import EventStreams
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import load_settings
from strategies.registry import STRATEGIES
from streaming.health import Health


def _alive(app: Starlette) -> bytes:
    (route,) = [each for each in app.routes if isinstance(each, Route) and each.path == "/healthz"]
    return bytes(asyncio.run(route.endpoint(Request({"type": "http"}))).body)


def test_serve_answers_as_the_engine_does() -> None:
    """One word for alive, whichever of them is asked."""
    settings = load_settings()

    def following() -> Following:
        raise AssertionError("nobody asks how far the topics were read")

    held = SharedView(settings.serve, settings.engine.tick_ms, STRATEGIES)
    metrics = ServeMetrics(following)
    streams = EventStreams(settings.http.connections, metrics.streams)
    served = application(held, following, metrics, streams, settings)
    engine = engine_application(CollectorRegistry(), Health().verdict)
    assert _alive(served).strip() == _alive(engine).strip() == b'{"state":"alive"}'
