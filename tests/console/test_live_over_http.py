"""Live streams over real sockets: what is refused, and how a stream ends with its server."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator

import pytest

from fairlead.access.guard import guarded
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import HttpServer, start_server
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.settings import load_settings
from tests.console.live_page import LookedView
from tests.kit.awaiting import SECONDS
from tests.kit.http_caller import Asking
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.observed_world import Reader
from tests.kit.world import world_of

FEW = 8
"""Connections of the server: six of them may be streams."""


class Served:
    """A server of a view that has read a small world."""

    def __init__(self) -> None:
        settings = load_settings(overrides={"http.connections": FEW, "serve.port": 0})
        view = LookedView()
        view.begin(NAMES, PARTITIONS)
        view.apply(Reader(world_of("c1", "c2", queues=4)).rows())
        view.follow()
        metrics = ServeMetrics(_following)
        self.streams = EventStreams(settings.http.connections, metrics.streams)
        app = guarded(application(view, _following, metrics, self.streams, settings), settings)
        self.server: HttpServer = start_server(app, settings.serve, "serve", settings.http)
        self.ask = Asking(int(self.server.url.rpartition(":")[2]))

    @contextlib.contextmanager
    def stream(self, path: str, method: str = "GET") -> Iterator[http.client.HTTPResponse]:
        """Open a stream."""
        caller = http.client.HTTPConnection(self.server.url.partition("//")[2], timeout=SECONDS)
        with contextlib.closing(caller):
            caller.request(method, path, headers={"Accept-Encoding": "gzip"})
            yield caller.getresponse()


def _following() -> Following:
    return Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)


@pytest.fixture
def served() -> Iterator[Served]:
    """A server."""
    running = Served()
    yield running
    running.streams.close()
    running.server.stop()


def _first(answer: http.client.HTTPResponse) -> tuple[str, dict[str, object]]:
    """Return the kind and the document of the first event."""
    kind = ""
    while not (line := answer.readline()).startswith(b"data: "):
        if line.startswith(b"event: "):
            kind = line.split()[1].decode()
    return kind, json.loads(line.removeprefix(b"data: "))


def test_what_a_stream_refuses(served: Served) -> None:
    """A server names what is wrong with an interval, a moment, a group or one stream too many."""
    for query in ("interval_ms=249", "interval_ms=60001", "interval_ms=soon", "interval_ms=٤٠٠"):
        answer = served.ask("GET", f"/api/v1/live?{query.encode().decode('ascii', 'ignore')}")
        assert (answer.status, answer.document["field"]) == (400, "interval_ms"), query
    answer = served.ask("GET", "/api/v1/groups/orders/live?from_ms=yesterday")
    assert (answer.status, answer.document["field"]) == (400, "from_ms")
    assert served.ask("GET", "/api/v1/groups/order/live").status == 404
    with served.stream("/api/v1/live", "HEAD") as head:
        assert head.headers["content-type"].startswith("text/event-stream")
        assert head.read() == b""
    with contextlib.ExitStack() as opened:
        for path in ("/api/v1/live", "/api/v1/groups/orders/live") * 3:
            answer_of = opened.enter_context(served.stream(path))
            assert answer_of.headers["content-encoding"] is None
            assert _first(answer_of)[0] == "snapshot"
        full = served.ask("GET", "/api/v1/live")
        assert (full.status, full.document["type"]) == (503, "urn:fairlead:streams_full")


def test_streams_end_with_the_server(served: Served) -> None:
    """A server that stops ends its streams at once, each behind a whole event."""
    with served.stream("/api/v1/live") as every, served.stream("/api/v1/groups/orders/live") as one:
        assert _first(every)[1]["groups"]
        assert _first(one)[1]["ribbon"]
        begun = time.monotonic()
        served.streams.close()
        served.server.stop()
        assert every.read().endswith(b"\n")
        assert one.read().endswith(b"\n")
        # uvicorn would cut them off after two seconds.
        assert time.monotonic() - begun < 2


def test_an_id_in_the_query_counts_as_the_header(served: Served) -> None:
    """A page that begins a stream of its own says the last id in the query."""
    with served.stream("/api/v1/groups/orders/live?last_event_id=0") as stream:
        _, told = _first(stream)
        assert told["resumed"] == {"after": 0, "complete": True}
