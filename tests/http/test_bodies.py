"""Bodies of requests: who may send one, and what a hostile one costs; over real sockets."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead.http.bodies import BodyError, ChunkedBody, LengthBody
from fairlead.http.server import HttpServer
from tests.http.raw_callers import answers_of, caller, running
from tests.kit.awaiting import await_seen

LIMIT = 4_096
JSON = b"Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
LAST = b"GET /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def _post(
    body: bytes, *headers: bytes, path: bytes = b"/v1/echo", method: bytes = b"POST"
) -> bytes:
    own = b"".join(each + b"\r\n" for each in headers or (b"Content-Length: %d" % len(body),))
    return method + b" " + path + b" HTTP/1.1\r\n" + JSON + own + b"\r\n" + body


def _connections(server: HttpServer) -> list[Any]:
    """Return the connections of a server, to see what they hold."""
    return list(server._server.server_state.connections)  # noqa: SLF001 - as the docstring says


def _chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))


async def _echo(request: Request) -> Response:
    return Response(b"<" + await request.body() + b">")


async def _deaf(request: Request) -> Response:
    del request
    return Response(b"deaf", 401)


@contextlib.contextmanager
def _echoing(**limits: int) -> Iterator[HttpServer]:
    methods = ["GET", "POST", "DELETE"]
    paths = {"/v1/echo": _echo, "/v1/deaf": _deaf, "/other": _echo}
    application = Starlette(
        routes=[Route(path, each, methods=methods) for path, each in paths.items()]
    )
    with running(application, bodies_under=["/v1/"], **{"body_bytes": LIMIT, **limits}) as server:
        yield server


@pytest.mark.parametrize("method", [b"POST", b"DELETE"])
@pytest.mark.parametrize("body", [b"{}", b"x" * LIMIT], ids=["short", "longest"])
def test_a_body_within_the_limit_arrives(method: bytes, body: bytes) -> None:
    """A body of JSON under /v1 arrives whole; the connection then serves the next request."""
    asked = _post(body, method=method)
    with _echoing() as server, caller(server, asked + asked + LAST) as connection:
        first, second, last = answers_of(connection)
    assert first.startswith(b"200 ")
    assert first.endswith(b"<" + body + b">")
    assert second.endswith(b"<" + body + b">")
    assert last.endswith(b"<>")


def test_a_body_may_come_in_chunks() -> None:
    """A body in chunks arrives, however its bytes are cut, and what follows is served."""
    asked = _post(_chunks(b"one ", b"two"), b"Transfer-Encoding: chunked")
    with _echoing() as server, caller(server) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in asked:
            connection.sendall(bytes([byte]))
        connection.sendall(asked + LAST)
        first, second, last = answers_of(connection)
    assert first.endswith(b"<one two>")
    assert second.endswith(b"<one two>")
    assert last.endswith(b"<>")


@pytest.mark.parametrize(
    "asked",
    [
        _post(b"{}", path=b"/other"),
        _post(b"{}", path=b"/v1"),
        _post(b"{}", method=b"GET"),
        _post(b"{}", method=b"PATCH"),
        _post(_chunks(b"{}"), b"Transfer-Encoding: chunked", path=b"/other"),
    ],
    ids=["path", "root", "GET", "PATCH", "chunks"],
)
def test_other_paths_and_methods_take_no_body(asked: bytes) -> None:
    """Outside POST, PUT and DELETE under /v1 a body is refused, and nothing behind it is read."""
    with _echoing() as server, caller(server, asked + LAST) as connection:
        (answer,) = answers_of(connection)
    assert answer.startswith(b"413 ")
    assert b"connection: close" in answer
    assert b"urn:fairlead:unexpected_body" in answer


def test_a_body_that_is_no_json_is_refused() -> None:
    """A body of another type is refused: a web page may send such ones to a foreign server."""
    asked = (
        b"POST /v1/echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
        b"Content-Length: 2\r\n\r\n{}"
    )
    with _echoing() as server, caller(server, asked + LAST) as connection:
        (answer,) = answers_of(connection)
    assert answer.startswith(b"415 ")
    assert b"Content-Type: application/json" in answer


@pytest.mark.parametrize(
    "asked",
    [
        _post(b"", b"Content-Length: %d" % (LIMIT + 1)),
        _post(b"x" * 1_000_000),
        _post(b"", b"Expect: 100-continue", b"Content-Length: %d" % (LIMIT + 1)),
        _post(_chunks(b"x" * (LIMIT + 1)), b"Transfer-Encoding: chunked"),
        _post(_chunks(*[b"x" * 100] * 50), b"Transfer-Encoding: chunked"),
        _post(_chunks(*[b"x"] * LIMIT), b"Transfer-Encoding: chunked"),
        _post(b"ffffffff\r\n", b"Transfer-Encoding: chunked"),
    ],
    ids=["told", "sent", "expecting", "chunk", "chunks", "around", "announced"],
)
def test_a_larger_body_is_refused(asked: bytes) -> None:
    """A larger body gets 413 with the setting, also after the whole of it was sent."""
    with _echoing() as server, caller(server, asked) as connection:
        (answer,) = answers_of(connection)
    assert answer.startswith(b"413 ")
    assert b"http.body_bytes" in answer


def test_the_caller_who_expects_is_told_to_go_on() -> None:
    """Whoever asks before he sends hears that he may go on."""
    asked = _post(b"", b"Expect: 100-continue", b"Content-Length: 2", b"Connection: close")
    with _echoing() as server, caller(server, asked) as connection:
        assert connection.recv(1_000).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        (answer,) = answers_of(connection)
    assert answer.endswith(b"<{}>")


@pytest.mark.parametrize(
    "chunks",
    [
        b"2;name=value\r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
        b"2\n{}\n0\n\n",
        b"+2\r\n{}\r\n0\r\n\r\n",
        b"0x2\r\n{}\r\n0\r\n\r\n",
        b"2 \r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}0\r\n\r\n",
        b"-2\r\n{}\r\n0\r\n\r\n",
        b"0000000002\r\n{}\r\n0\r\n\r\n",
        b"\r\n\r\n",
    ],
)
def test_doubtful_chunks_are_refused(chunks: bytes) -> None:
    """Chunks that two parsers may read in two ways are refused, and nothing behind them is read."""
    asked = _post(chunks, b"Transfer-Encoding: chunked")
    with _echoing() as server, caller(server, asked + LAST) as connection:
        (answer,) = answers_of(connection)
    assert answer.startswith(b"400 ")
    assert b"urn:fairlead:malformed_body" in answer


@pytest.mark.parametrize(
    "headers",
    [
        [b"Content-Length: 2", b"Content-Length: 2"],
        [b"Content-Length: 2, 2"],
        [b"Content-Length: +2"],
        [b"Content-Length: 0x2"],
        [b"Content-Length: -2"],
        [b"Content-Length: 2", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: gzip, chunked"],
        [b"Transfer-Encoding: identity"],
        [b"Transfer-Encoding : chunked"],
        [b"Content-Length: 99999999999999999999999999"],
        [b"Host: other.example", b"Content-Length: 2"],
    ],
)
def test_doubtful_ends_are_refused(headers: list[bytes]) -> None:
    """A head that leaves its end or its host in doubt is refused, and nothing behind it is read."""
    with _echoing() as server, caller(server, _post(b"{}", *headers) + LAST) as connection:
        (answer,) = answers_of(connection)
    assert answer.startswith(b"400 ")


def test_a_length_that_lies_hides_no_request() -> None:
    """Bytes behind the told length are the next request, and garbage there ends the connection."""
    with _echoing() as server, caller(server, _post(b"{}junk", b"Content-Length: 2")) as connection:
        connection.sendall(b"\r\n\r\n")
        first, second = answers_of(connection)
    assert first.endswith(b"<{}>")
    assert second.startswith(b"400 ")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("path", [b"/v1/echo", b"/v1/deaf"])
def test_a_slow_body_is_cut_off(path: bytes, *, chunked: bool) -> None:
    """A body that is not whole in time is cut off, whether the application waits for it or not."""
    kind = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 3000"
    asked = _post(b"800\r\n" if chunked else b"", kind, path=path)
    with _echoing(request_ms=500) as server, caller(server, asked) as connection:
        begun = time.monotonic()
        connection.settimeout(0.05)
        with pytest.raises(OSError, match=r"reset|pipe|closed"):
            _drip(connection)
        assert 0.4 < time.monotonic() - begun < 10


def _drip(connection: socket.socket) -> None:
    for _ in range(400):
        connection.sendall(b"x")
        with contextlib.suppress(TimeoutError):
            while connection.recv(65_536):
                pass
            raise OSError("closed")


def test_an_application_learns_that_a_body_does_not_come() -> None:
    """The application that waits for a body learns when its caller has gone."""
    told = threading.Event()

    async def wait(request: Request) -> Response:
        try:
            await request.body()
        except ClientDisconnect:
            told.set()
            raise
        return Response()

    application = Starlette(
        routes=[Route("/v1/wait", wait, methods=["POST"])],
        exception_handlers={ClientDisconnect: lambda *_: Response()},
    )
    asked = _post(b"{", b"Content-Length: 9", path=b"/v1/wait")
    with running(application, bodies_under=["/v1/"]) as server:
        with caller(server, asked):
            pass
        assert told.wait(20)


def test_an_early_answer_keeps_the_connection_in_step() -> None:
    """A body that nobody reads is passed over, and the request behind it is served."""
    asked = _post(b"x" * LIMIT, path=b"/v1/deaf")
    with _echoing() as server, caller(server, asked + LAST) as connection:
        first, last = answers_of(connection)
    assert first.startswith(b"401 ")
    assert last.endswith(b"<>")


def test_unread_bodies_fill_no_memory() -> None:
    """Of a large body that the application does not read yet, the server holds little."""
    freed, state = asyncio.Event(), {}

    async def hold(request: Request) -> Response:
        state["loop"] = asyncio.get_running_loop()
        await freed.wait()
        return Response(str(len(await request.body())))

    size = 8_000_000
    application = Starlette(routes=[Route("/v1/hold", hold, methods=["POST"])])
    head = _post(b"", b"Content-Length: %d" % size, path=b"/v1/hold")
    with (
        running(application, bodies_under=["/v1/"], body_bytes=size) as server,
        caller(server, head) as connection,
    ):
        await_seen(lambda: "loop" in state, what="the request")
        sending = threading.Thread(target=connection.sendall, args=(b"x" * size,))
        sending.start()
        (held,) = _connections(server)
        await_seen(lambda: held.flow.read_paused, what="a pause")
        assert len(held.cycle.body) < 100_000
        state["loop"].call_soon_threadsafe(freed.set)
        sending.join()
        connection.sendall(LAST)
        assert answers_of(connection)[0].endswith(str(size).encode())


def test_requests_behind_others_wait_outside() -> None:
    """Ten thousand requests in one connection are served one by one: few of them are in memory."""
    count = 10_000
    with _echoing() as server, caller(server) as connection:
        asked = _post(b"{}") * count
        sending = threading.Thread(target=connection.sendall, args=(asked + LAST,))
        sending.start()
        (held,) = await_seen(lambda: _connections(server), what="the connection")
        found, most = b"", 0
        while part := connection.recv(65_536):
            found += part
            most = max(most, len(held._unread))  # noqa: SLF001 - what it holds
        sending.join()
    assert found.count(b"<{}>") == count
    assert found.endswith(b"<>")
    assert most < 50_000


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_chunks_are_read_however_they_are_cut(parts: list[bytes], cuts: list[int]) -> None:
    """A body in chunks is the same however its bytes arrive, and what is behind it stays."""
    sent = _chunks(*parts) + b"GET /"
    body, unread, content = ChunkedBody(10_000), bytearray(), b""
    place = index = 0
    while place < len(sent):
        unread += sent[place : place + cuts[index % len(cuts)]]
        place, index = place + cuts[index % len(cuts)], index + 1
        if not body.is_whole:
            content += body.take(unread)
    assert content == b"".join(parts)
    assert (body.is_whole, bytes(unread)) == (True, b"GET /")


@given(st.binary(max_size=60))
def test_any_bytes_are_chunks_or_refused(sent: bytes) -> None:
    """Whatever comes as chunks is read, waited for or refused; no content exceeds what came."""
    body, unread = ChunkedBody(50), bytearray(sent)
    with contextlib.suppress(BodyError):
        assert len(body.take(unread)) <= 50
        assert body.is_whole or len(unread) < 12


def test_a_told_length_leaves_what_is_behind() -> None:
    """A body of a told length takes so many bytes and no more."""
    body, unread = LengthBody(5), bytearray(b"abc")
    assert (body.take(unread), body.is_whole) == (b"abc", False)
    unread += b"defg"
    assert (body.take(unread), body.is_whole, bytes(unread)) == (b"de", True, b"fg")


def test_no_part_of_an_answer_waits_for_a_receipt() -> None:
    """An answer of two parts goes out at once: its connection has no Nagle's algorithm."""
    with _echoing() as server, caller(server) as connection:
        connection.sendall(_post(b"{}"))
        assert connection.recv(65_536)
        (served,) = _connections(server)
        sock = served.transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
