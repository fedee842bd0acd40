"""A gateway whose answers a test gives by hand, over real HTTP."""

import json
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.kit.awaiting import SECONDS, ended

__all__ = ["Asked", "ScriptedGateway", "scripted_gateway", "start", "stop"]

JOINED = {"session": "s/1", "state": "j1", "client_id": "me", "lease_ms": 9_000, "poll_ms": 3_000}


@dataclass(slots=True)
class Asked:
    """One request, which waits for its answer.

    Attributes:
        peer: the port of the connection that it came on.
        at: when it came, in seconds.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    peer: int
    at: float = field(default_factory=time.monotonic)
    _answer: "queue.Queue[tuple[int, bytes, Mapping[str, str]] | None]" = field(
        default_factory=queue.Queue
    )

    @property
    def sequence(self) -> int:
        """The number of a poll."""
        sequence: int = self.body["sequence"]
        return sequence

    def answer(self, status: int, body: Any = None, **headers: str) -> None:
        """Answer with a body as JSON; bytes stay as they are."""
        data = body if isinstance(body, bytes) else b"" if body is None else _json(body)
        self._answer.put((status, data, headers))

    def news(self, *, state: str = "t", lease_ms: int = 9_000, **words: Any) -> None:
        """Answer a poll; by default the client goes on with what it works on."""
        held = [_name(each) for each in self.body["working"]]
        started = [_name(each) for each in words.get("start", [])]
        body = {"start": [], "stop": [], "working": held + started, **words}
        self.answer(200, {"state": state, "lease_ms": lease_ms, **body})

    def cut(self) -> None:
        """Break the connection instead of an answer."""
        self._answer.put(None)

    def wait(self) -> tuple[int, bytes, Mapping[str, str]] | None:
        """Return the answer once there is one."""
        return self._answer.get(timeout=SECONDS)


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


def _name(work: Mapping[str, Any]) -> dict[str, Any]:
    return {"queue": work["queue"], "epoch": work["epoch"]}


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Write nothing: a client that gives a request up breaks its connection."""


class ScriptedGateway:
    """The gateway; what it is asked waits in the order of its arrival."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.asked: queue.Queue[Asked] = queue.Queue()
        self._open: list[Asked] = []
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                gateway.hear(self)

            def do_DELETE(self) -> None:
                gateway.hear(self)

            def log_message(self, *_: Any) -> None:
                """Write nothing."""

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        scheme = "http"
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.address = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"

    def hear(self, handler: BaseHTTPRequestHandler) -> None:
        """Take a request, and answer it as the test says."""
        length = int(handler.headers.get("Content-Length", 0))
        body = json.loads(handler.rfile.read(length))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        peer = handler.client_address[1]
        asked = Asked(handler.command, handler.path, headers, body, peer)
        self._open.append(asked)
        self.asked.put(asked)
        answer = asked.wait()
        if answer is None:
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        status, data, more = answer
        handler.send_response(status)
        for name, value in more.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def next(self, part: str = "") -> Asked:
        """Return the next request; `part` is in its path."""
        asked = self.asked.get(timeout=SECONDS)
        assert part in asked.path, asked
        return asked

    def join(self, **words: Any) -> Asked:
        """Answer the next request, a join, and return it."""
        asked = self.next("/members")
        asked.answer(201, {**JOINED, **words})
        return asked

    def poll(self) -> Asked:
        """Return the next request, a poll."""
        return self.next("/poll")

    def close(self) -> None:
        """Break all requests that wait."""
        for asked in self._open:
            asked.cut()
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def scripted_gateway(context: ssl.SSLContext | None = None) -> Iterator[ScriptedGateway]:
    """Serve until the block ends."""
    gateway = ScriptedGateway(context)
    thread = threading.Thread(target=gateway.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield gateway
    finally:
        gateway.close()
        ended(thread)


def start(number: int, offset: int, epoch: tuple[int, int] = (1, 7)) -> dict[str, Any]:
    """Return a start as it stands in an answer."""
    return {"queue": ["orders", "main", number], "epoch": list(epoch), "offset": offset, "why": ""}


def stop(number: int, deadline_ms: int, epoch: tuple[int, int] = (1, 7)) -> dict[str, Any]:
    """Return a stop as it stands in an answer."""
    queue_name = ["orders", "main", number]
    return {"queue": queue_name, "epoch": list(epoch), "deadline_ms": deadline_ms}
