"""What callers of the HTTP server may do: the engine's own application, over real sockets."""

import asyncio
import contextlib
import resource
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from fairlead.http.endpoint import engine_application
from fairlead.http.server import HttpServer, start_server
from fairlead.settings import HttpSettings, MetricsSettings, load_settings
from streaming.health import Health
from tests.kit.awaiting import await_seen

CALLERS = 1_500
HALF = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half"
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def _address(server: HttpServer) -> tuple[str, int]:
    return "127.0.0.1", int(server.url.rpartition(":")[2])


@contextlib.contextmanager
def _engine(**limits: Any) -> Iterator[HttpServer]:
    registry = CollectorRegistry()
    Counter("fairlead_one", "Help.", registry=registry)
    with _running(engine_application(registry, Health().verdict), **limits) as server:
        yield server


@contextlib.contextmanager
def _running(application: Starlette, **limits: Any) -> Iterator[HttpServer]:
    settings = HttpSettings(**{**load_settings().http.model_dump(), **limits})
    where = MetricsSettings(host="127.0.0.1", port=0)
    server = start_server(application, where, "metrics", settings)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def _caller(server: HttpServer, *sent: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(_address(server), timeout=20) as caller:
        for each in sent:
            caller.sendall(each)
        yield caller


def _answer(caller: socket.socket) -> bytes:
    """Return all that comes until the server closes; nothing if it was cut off."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := caller.recv(65_536):
            found += part
    return found


def _until(caller: socket.socket, end: bytes) -> bool:
    """Read up to the end of an answer; tell whether it came before the server closed."""
    found = b""
    while not found.endswith(end):
        part = caller.recv(65_536)
        if not part:
            return False
        found += part
    return True


def _scrape(server: HttpServer) -> str:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=10) as answer:  # noqa: S310
        text: str = answer.read().decode()
    return text


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process have both ends of all those connections open."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(before[0], 2 * CALLERS + 500)
    if before[1] != resource.RLIM_INFINITY and wanted > before[1]:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow
@pytest.mark.usefixtures("many_files")
def test_half_sent_requests_hold_no_scrape_up() -> None:
    """While 1,500 half-sent requests hang, scrapes go on, on a few threads, and few stay open."""
    threads = threading.active_count()
    with _engine(request_ms=60_000) as server, contextlib.ExitStack() as hanging:
        callers = [hanging.enter_context(_caller(server, HALF)) for _ in range(CALLERS)]
        for _ in range(5):
            # Prometheus waits for 10 s, and so does this.
            assert "fairlead_one_total 0.0" in _scrape(server)
        # One for the loop, and few for the answers.
        assert threading.active_count() - threads < 10

        def still_open() -> int:
            return sum(_is_open(each) for each in callers)

        await_seen(still_open, lambda count: count <= 256, what="at most 256 connections")
        assert still_open() > 200, "nobody is closed without need"


def _is_open(caller: socket.socket) -> bool:
    caller.settimeout(0)
    try:
        return caller.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@pytest.mark.parametrize("half", [b"", HALF], ids=["nothing", "head"])
def test_a_slow_request_is_cut_off(half: bytes) -> None:
    """A request that is not whole in time is cut off, also one that goes on byte by byte."""
    with _engine(request_ms=500) as server, _caller(server, half) as caller:
        begun = time.monotonic()
        caller.settimeout(0.1)
        with pytest.raises(OSError, match=r"reset|pipe|closed"):
            _drip(caller)
        assert 0.4 < time.monotonic() - begun < 10.0


def _drip(caller: socket.socket) -> None:
    """Send byte by byte until the other side has closed.

    Raises:
        OSError: it has.
    """
    for _ in range(200):
        caller.sendall(b"x")
        with contextlib.suppress(TimeoutError):
            while caller.recv(65_536):
                pass
            raise OSError("closed")


def test_a_client_that_reads_no_answer_is_cut_off() -> None:
    """Whoever does not read an answer is cut off, so that it takes no place for ever."""
    told = threading.Event()

    async def endless(request: Request) -> StreamingResponse:
        del request

        async def parts() -> Any:
            try:
                for _ in range(1_000_000):
                    yield b"x" * 65_536
                    await asyncio.sleep(0)
            finally:
                told.set()

        return StreamingResponse(parts(), media_type="text/event-stream")

    asked = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with (
        _running(Starlette(routes=[Route("/", endless)]), request_ms=500) as server,
        _caller(server, asked),
    ):
        assert told.wait(20)


def test_an_unread_last_answer_is_cut_off() -> None:
    """Whoever does not read the end of the last answer is cut off, however little it is."""

    async def page(request: Request) -> Response:
        del request
        return Response(b"x" * 20_000)

    asked = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with (
        _running(Starlette(routes=[Route("/", page)]), request_ms=2_000) as server,
        _caller(server) as caller,
    ):
        state = server._server.server_state  # noqa: SLF001 - what it has not sent yet
        (connection,) = await_seen(lambda: state.connections, what="connection")
        count = 0
        while not connection.transport.get_write_buffer_size():
            caller.sendall(asked + b"\r\n")
            count += 1
            await_seen(partial(_has_answered, state, count), what="answer", pause=0.001)
        caller.sendall(asked + b"Connection: close\r\n\r\n")
        await_seen(lambda: not state.connections, what="end of the connection", seconds=20)


def _has_answered(state: ServerState, count: int) -> bool:
    return state.total_requests >= count


def test_a_kept_connection_serves_one_request_after_another() -> None:
    """A connection serves one request after another, and the time of each begins anew."""
    with _engine(request_ms=1_000) as server, _caller(server) as caller:
        for _ in range(4):
            caller.sendall(WHOLE)
            assert _until(caller, b'{"state":"alive"}\n')
            time.sleep(0.4)


def test_a_head_without_an_end_is_refused() -> None:
    """A head without an end is refused; one within the bound is not."""
    with _engine(head_bytes=1_024) as server:
        with _caller(server, HALF + b"x" * 2_000) as caller:
            assert _answer(caller).startswith(b"HTTP/1.1 400 ")
        with _caller(server, HALF + b": x\r\nConnection: close\r\n\r\n") as caller:
            assert _answer(caller).startswith(b"HTTP/1.1 200 ")


def test_long_head_at_once() -> None:
    """A head that arrives whole is measured too: headers, path and query."""
    end = b"\r\nConnection: close\r\n\r\n"
    with _engine(head_bytes=1_024) as server:
        for head in (
            b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 2_000 + end,
            b"GET /healthz?" + b"x" * 2_000 + b" HTTP/1.1\r\nHost: 127.0.0.1" + end,
        ):
            with _caller(server, head) as caller:
                answer = _answer(caller)
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert b"http.head_bytes" in answer


def test_long_head_in_one_read() -> None:
    """However much has come before the loop reads it, a head that is too long is cut short."""
    held, freed = threading.Event(), threading.Event()

    async def hold(request: Request) -> StreamingResponse:
        del request
        held.set()
        # It blocks the loop, as the work for others may.
        freed.wait(20)
        return StreamingResponse(iter(()))

    head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"a:\r\n" * 12_000 + b"\r\n"
    with (
        _running(Starlette(routes=[Route("/", hold)])) as server,
        _caller(server) as caller,
        _caller(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
    ):
        assert held.wait(20)
        caller.sendall(head)
        freed.set()
        answer = _answer(caller)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"http.head_bytes" in answer


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 99\r\n\r\nhalf",
        b"Content-Length: 4\r\n\r\nbody",
        b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\n",
    ],
    ids=["half", "whole", "chunk", "chunks", "expecting"],
)
def test_a_request_with_a_body_is_refused(body: bytes) -> None:
    """A request with a body is refused and its connection closed; one before it is answered."""
    asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + body
    with _engine() as server, _caller(server, WHOLE + asked + WHOLE) as caller:
        answer = _answer(caller)
    first, refused = answer.split(b"HTTP/1.1 ")[1:]
    assert first.startswith(b"200 ")
    assert refused.startswith(b"413 ")
    assert b"connection: close" in refused
    assert b"Transfer-Encoding" in refused


def test_a_length_of_0_is_no_body() -> None:
    """A length of 0 is no body, and the connection serves what follows."""
    asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 00\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with _engine() as server, _caller(server, asked * 2 + WHOLE + last) as caller:
        assert _answer(caller).count(b"HTTP/1.1 200 ") == 4


def test_chunks_of_a_byte() -> None:
    """Bodies of 100,000 chunks cost no time of the processor: nothing of them is parsed."""
    head = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"1\r\na\r\n" * 100_000
    with _engine() as server:
        begun = time.process_time()
        for _ in range(5):
            with _caller(server) as caller:
                with contextlib.suppress(ConnectionError):
                    caller.sendall(head + chunks)
                _answer(caller)
        assert time.process_time() - begun < 4, "parsed, they take 6 s and more"


def test_two_ends_of_a_body() -> None:
    """A request that tells in two ways where it ends is refused, and nothing behind it is read."""
    doubtful = (
        b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    with _engine() as server, _caller(server, doubtful + WHOLE) as caller:
        answer = _answer(caller)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


def test_all_are_answered() -> None:
    """Where every connection is busy, one more gets 503."""

    async def stream(request: Request) -> StreamingResponse:
        del request

        async def parts() -> Any:
            yield b"first"
            await asyncio.Event().wait()

        return StreamingResponse(parts())

    asked = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with (
        _running(Starlette(routes=[Route("/", stream)]), connections=8) as server,
        contextlib.ExitStack() as stack,
    ):
        for _ in range(8):
            busy = stack.enter_context(_caller(server, asked))
            assert busy.recv(100).startswith(b"HTTP/1.1 200 ")
        with _caller(server, asked) as caller:
            assert _answer(caller).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize(
    "accept",
    [
        b"application/openmetrics-text;version=\xff,",
        b"text/plain;version=x",
        b"application/openmetrics-text;version=1.x;escaping=y",
        b"text/plain;version=1." + b"9" * 5_000,
    ],
    ids=["byte", "letter", "part", "digits"],
)
def test_an_unreadable_accept_header_gets_the_plain_format(accept: bytes) -> None:
    """A scrape that wants a version which is no number gets the plain format."""
    asked = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAccept: "
    with _engine() as server, _caller(server, asked + accept + b"\r\n\r\n") as caller:
        answer = _answer(caller)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"content-type: text/plain; version=0.0.4" in answer
    assert b"fairlead_one_total 0.0" in answer


def test_a_foreign_host_name_gets_no_numbers() -> None:
    """A request for a name of somebody else gets no numbers, but the setting that allows it."""
    asked = b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    with _engine() as server, _caller(server, asked) as caller:
        answer = _answer(caller)
    assert answer.startswith(b"HTTP/1.1 421 ")
    assert b"fairlead_one" not in answer
    assert b"http.allowed_hosts" in answer
    with _engine(allowed_hosts=("evil.example",)) as server, _caller(server, asked) as caller:
        assert b"fairlead_one_total 0.0" in _answer(caller)
