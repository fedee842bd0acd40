"""The view of `fairlead serve` behind its guard, over real sockets, with rows that a test gives."""

import contextlib
import http.client
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from fairlead.access.guard import guarded
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import start_server
from fairlead.kafka.topic_follower import Following
from fairlead.native.native_view import NativeView
from fairlead.serve.api import application
from fairlead.serve.refused_paths import CONSOLE_PATHS, GATEWAY_PATHS, without_gateway
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import load_settings
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.kit.memory_topics import NAMES, PARTITIONS

__all__ = ["Answered", "ServedView", "serving_view"]

_WAIT_S = 60
_TICK_MS = 1_000


@dataclass(frozen=True)
class Answered:
    """An answer; ``document`` is parsed JSON, or None where the body is no JSON."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    document: Any


@dataclass(frozen=True)
class ServedView:
    """A running server; ``held`` is its view, to which a test may add rows."""

    port: int
    held: SharedView
    metrics: ServeMetrics

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answered:
        """Send a request; a body is sent as JSON."""
        given = dict(headers or {})
        sent = None
        if body is not None:
            sent = orjson.dumps(body)
            given.setdefault("Content-Type", "application/json")
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_WAIT_S)
        with contextlib.closing(asked):
            asked.request(method, path, sent, given)
            answer = asked.getresponse()
            content = answer.read()
            kind = answer.headers.get("content-type", "")
            document = orjson.loads(content) if "json" in kind and content else None
            heads = {name.lower(): value for name, value in answer.headers.items()}
            return Answered(answer.status, heads, content, document)


@contextlib.contextmanager
def serving_view(
    rows: Sequence[RawRecord],
    access: Path | None = None,
    native: NativeView | None = None,
    **settings: Any,
) -> Iterator[ServedView]:
    """Serve a view that has read these rows, while the context is open.

    Args:
        rows: the rows.
        access: the access file; None: everybody may do everything.
        native: what is known of native groups; None: nobody looks at any.
        settings: other values of settings, by their whole names.
    """
    overrides = {"access.file": None if access is None else str(access), **settings}
    loaded = load_settings(overrides={"serve.port": 0, **overrides})
    following = Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)
    metrics = ServeMetrics(lambda: following)
    streams = EventStreams(loaded.http.connections, metrics.streams)
    held = SharedView(loaded.serve, _TICK_MS, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    held.apply(rows)
    held.follow()
    view = without_gateway(
        application(held, lambda: following, metrics, streams, loaded, native=native)
    )
    guard = guarded(view, loaded, told_refusal=metrics.caller_refused)
    paths = [GATEWAY_PATHS, CONSOLE_PATHS]
    server = start_server(guard, loaded.serve, "serve", loaded.http, bodies_under=paths)
    try:
        yield ServedView(int(server.url.rpartition(":")[2]), held, metrics)
    finally:
        streams.close()
        server.stop()
