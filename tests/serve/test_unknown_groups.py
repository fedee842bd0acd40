"""Names that no group has, asked for over real sockets while others want their answers."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator

import pytest

from fairlead.access.guard import guarded
from fairlead.http.event_streams import EventStreams
from fairlead.http.server import HttpServer, start_server
from fairlead.kafka.topic_follower import Following
from fairlead.serve.api import application
from fairlead.serve.serve_metrics import ServeMetrics
from fairlead.serve.shared_view import SharedView
from fairlead.settings import ServeSettings, load_settings
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.kit.decision_bodies import encoded_decision
from tests.kit.memory_topics import NAMES, PARTITIONS

GROUPS = 2_000
CALLERS = 20


def _following() -> Following:
    return Following(caught_up=True, trouble="", topics={}, read=0, wanted=0)


def _held(settings: ServeSettings) -> SharedView:
    """Return the view of many groups, whose names are as long as they may be."""
    held = SharedView(settings, 1_000, STRATEGIES)
    held.begin(NAMES, PARTITIONS)
    made = json.loads(encoded_decision(1, []))
    now_ms = time.time_ns() // 1_000_000
    names = ("orders", *(f"{number:06}".rjust(120, "|") for number in range(GROUPS)))
    held.apply(
        [
            RawRecord(
                *(NAMES.name("decisions"), 0, offset, now_ms),
                append_time_is_log=True,
                key=name.encode(),
                value=json.dumps({**made, "group": name}).encode(),
            )
            for offset, name in enumerate(names)
        ]
    )
    return held


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    """A server that knows many groups."""
    settings = load_settings()
    where = ServeSettings(**{**settings.serve.model_dump(), "host": "127.0.0.1", "port": 0})
    metrics = ServeMetrics(_following)
    streams = EventStreams(settings.http.connections, metrics.streams)
    held = _held(where)
    assert len(held.groups()) == GROUPS + 1
    view = application(held, _following, metrics, streams, settings)
    app = guarded(view, settings)
    running = start_server(app, where, "serve", settings.http)
    yield running
    running.stop()


def _asking(server: HttpServer, path: str) -> socket.socket:
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    caller = socket.create_connection(address, timeout=60)
    caller.sendall(
        b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" % path.encode()
    )
    return caller


def _answer(caller: socket.socket) -> tuple[int, bytes]:
    """Return the status and the body."""
    with caller, caller.makefile("rb") as told:
        head, _, body = told.read().partition(b"\r\n\r\n")
    return int(head.split()[1]), body


@pytest.mark.parametrize(
    "name",
    ["%7C" * 4_800, "%7C" * 121, "%C3%B6rders", "orders%20eu"],
    ids=["longest", "longer", "letter", "space"],
)
def test_an_impossible_name_is_near_to_none(server: HttpServer, name: str) -> None:
    """A name that no group may have is near to none; the answer says what a name may be."""
    for path in ("", "/decisions", "/events"):
        status, body = _answer(_asking(server, f"/api/v1/groups/{name}{path}"))
        assert status == 404
        told = json.loads(body)
        assert "1-120 characters" in told["detail"]
        assert "nearest" not in told["remedy"]


def test_a_possible_name_has_the_nearest(server: HttpServer) -> None:
    """The answer to one that a group may have has the nearest, and what else to ask over HTTP."""
    status, body = _answer(_asking(server, "/api/v1/groups/oders"))
    assert status == 404
    remedy = json.loads(body)["remedy"]
    assert "nearest are orders, " in remedy
    assert remedy.endswith("; GET /api/v1/groups lists all.")


def test_a_stream_that_begins_too_early_is_refused_for_now(server: HttpServer) -> None:
    """Before all is read a group may still turn up: its stream is to be asked for again."""
    status, body = _answer(_asking(server, "/api/v1/groups/late/live"))
    assert (status, json.loads(body)["type"]) == (503, "urn:fairlead:not_ready")


def test_others_are_answered(server: HttpServer) -> None:
    """While the nearest of long names are looked for twenty times, a scrape is soon answered."""
    with contextlib.ExitStack() as stack:
        callers = [
            stack.enter_context(_asking(server, "/api/v1/groups/" + "%7C" * 120))
            for _ in range(CALLERS)
        ]
        begun = time.monotonic()
        assert _answer(_asking(server, "/metrics"))[0] == 200
        assert time.monotonic() - begun < 20, "without a bound it took minutes"
        assert {_answer(each)[0] for each in callers} == {404}
