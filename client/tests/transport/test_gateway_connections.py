"""How a client speaks HTTP with gateways, on threads and on an event loop: over real sockets."""

import asyncio
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

import pytest
from fairlead_client.errors import GatewayError
from fairlead_client.settings.client_settings import Settings
from fairlead_client.thin.thin_member import Reply
from fairlead_client.thin.thin_words import Joined, Left, Request
from fairlead_client.transport.gateway_lanes import GatewayLanes
from fairlead_client.transport.gateway_streams import GatewayStreams

from fairlead.broker.ports import free_ports
from tests.fixtures.certificates import Certificates, make_certificates
from tests.kit.awaiting import ended

WAIT_SECONDS = 30
JOINED = {"session": "s", "state": "t", "client_id": "me", "lease_ms": 9_000, "poll_ms": 3_000}


class Gateway:
    """A server that answers as the test says: status, body, headers; None holds the request."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.said: list[dict[str, Any]] = []
        self.answers: SimpleQueue[tuple[int, bytes, dict[str, str]] | None] = SimpleQueue()
        self.held: SimpleQueue[str] = SimpleQueue()
        self.let_go = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        ended(self._thread)

    def answer(self, status: int, body: Any = b"", **headers: str) -> None:
        """Answer the next request so."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.put((status, data, headers))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                said = {"path": self.path, "body": body, "from": self.client_address[1]}
                gateway.said.append({**said, "headers": dict(self.headers)})
                answer = gateway.answers.get(timeout=WAIT_SECONDS)
                if answer is None:
                    gateway.held.put(self.path)
                    assert gateway.let_go.wait(WAIT_SECONDS)
                    answer = (503, b"{}", {})
                self._answer(*answer)

            do_DELETE = do_POST  # noqa: N815 - the name is http.server's

            def _answer(self, status: int, data: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                if status != 204:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = headers.get("Connection") == "close"

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name
                del format, arguments

        return Handler


class Sender:
    """What sends the requests of a client, and the replies that came."""

    def __init__(self, send: Callable[[Request], None]) -> None:
        self.send = send
        self.replies: SimpleQueue[tuple[int, Reply]] = SimpleQueue()

    def ask(self, number: int = 1, patience_ms: int = 10_000) -> Reply:
        """Send a request and return its reply."""
        self.send(request(number, patience_ms))
        came, reply = self.replies.get(timeout=WAIT_SECONDS)
        assert came == number
        return reply

    def fault(self, patience_ms: int = 10_000) -> GatewayError:
        """Send a request that must fail, and return why it did."""
        reply = self.ask(patience_ms=patience_ms)
        assert isinstance(reply, GatewayError)
        return reply


def request(number: int, patience_ms: int = 10_000) -> Request:
    """Return a request."""
    return Request(number, "POST", f"/v1/{number}", b'{"a":1}', patience_ms, key=f"k{number}")


@contextmanager
def _on_threads(settings: Settings) -> Iterator[Sender]:
    sender = Sender(lambda _request: None)
    lanes = GatewayLanes(settings, lambda *came: sender.replies.put(came))
    sender.send = lanes.send
    yield sender
    lanes.close()


@contextmanager
def _on_loop(settings: Settings) -> Iterator[Sender]:
    sender = Sender(lambda _request: None)
    loop = asyncio.new_event_loop()
    streams = GatewayStreams(settings, lambda *came: sender.replies.put(came))
    sender.send = lambda asked: void(loop.call_soon_threadsafe(streams.send, asked))
    thread = Thread(target=loop.run_forever)
    thread.start()
    yield sender

    async def close() -> None:
        streams.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0.01)

    asyncio.run_coroutine_threadsafe(close(), loop).result(WAIT_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    ended(thread)
    loop.close()


def void(_value: object) -> None:
    """Take a value."""


@pytest.fixture(params=["threads", "loop"])
def sender(request: pytest.FixtureRequest) -> Iterator[Callable[..., Sender]]:
    """Make what sends, on threads or on a loop."""
    open_sender = _on_threads if request.param == "threads" else _on_loop
    with ExitStack() as stack:

        def make(*addresses: str, **settings: Any) -> Sender:
            place = {"bootstrap": "b:1", "group": "g", "topics": ["t"], "gateway": addresses}
            return stack.enter_context(open_sender(Settings(**{**place, **settings})))

        yield make


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """A gateway without TLS."""
    one = Gateway()
    yield one
    one.close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates for 127.0.0.1."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def test_a_request_and_its_answer(gateway: Gateway, sender: Callable[..., Sender]) -> None:
    """One connection carries request after request; the key of a join goes with it."""
    one = sender(f"http://127.0.0.1:{gateway.port}")
    gateway.answer(201, JOINED)
    assert one.ask(1) == Joined("s", "t", "me", 9_000, 3_000)
    gateway.answer(204)
    assert one.ask(2) == Left()
    first, second = gateway.said
    assert (first["path"], first["body"]) == ("/v1/1", b'{"a":1}')
    assert first["headers"]["Idempotency-Key"] == "k1"
    assert first["from"] == second["from"]


def test_a_newer_request_does_not_wait_for_the_one_that_is_held(
    gateway: Gateway, sender: Callable[..., Sender]
) -> None:
    """While a gateway holds a request, the next ones have connections of their own."""
    one = sender(f"http://127.0.0.1:{gateway.port}")
    gateway.answers.put(None)
    one.send(request(1))
    assert gateway.held.get(timeout=WAIT_SECONDS) == "/v1/1"
    for number in (2, 3):
        gateway.answer(201, JOINED)
        assert isinstance(one.ask(number), Joined)
    assert gateway.said[1]["from"] == gateway.said[2]["from"] != gateway.said[0]["from"]


def test_held_requests_are_few(gateway: Gateway, sender: Callable[..., Sender]) -> None:
    """Whoever gives up one held request after another does not gather connections."""
    one = sender(f"http://127.0.0.1:{gateway.port}")
    for number in range(1, 5):
        gateway.answers.put(None)
        one.send(request(number))
        assert gateway.held.get(timeout=WAIT_SECONDS) == f"/v1/{number}"
    gateway.answer(201, JOINED)
    one.send(request(5))
    replies = {}
    while 5 not in replies:
        number, reply = one.replies.get(timeout=WAIT_SECONDS)
        replies[number] = reply
    assert isinstance(replies[5], Joined)


def test_a_connection_that_the_gateway_closed(
    gateway: Gateway, sender: Callable[..., Sender]
) -> None:
    """A gateway closes a connection that rests: the next request has a new one, and no failure."""
    one = sender(f"http://127.0.0.1:{gateway.port}")
    gateway.answer(201, JOINED, Connection="close")
    gateway.answer(201, JOINED)
    assert isinstance(one.ask(1), Joined)
    assert isinstance(one.ask(2), Joined)


def test_another_address_stands_in(gateway: Gateway, sender: Callable[..., Sender]) -> None:
    """Where nobody listens the next address is asked, in the same request, and first from then."""
    (port,) = free_ports(1)
    one = sender(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{gateway.port}")
    gateway.answer(201, JOINED)
    assert isinstance(one.ask(1), Joined)
    with socket.create_server(("127.0.0.1", port)):
        # Nobody would answer there any more.
        gateway.answer(201, JOINED)
        assert isinstance(one.ask(2), Joined)


def test_a_silent_gateway_is_left(gateway: Gateway, sender: Callable[..., Sender]) -> None:
    """A gateway that says nothing costs one request; the next one goes to the next address."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        one = sender(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{gateway.port}")
        fault = one.fault(patience_ms=300)
        assert fault.kind == "timeout"
        assert str(port) in str(fault)
        gateway.answer(201, JOINED)
        assert isinstance(one.ask(2), Joined)


def test_a_token_is_read_again(
    gateway: Gateway, sender: Callable[..., Sender], tmp_path: Path
) -> None:
    """A file with a new token counts from the next request on; no error shows a token."""
    file = tmp_path / "token"
    file.write_text("flt_one\n")
    one = sender(f"http://127.0.0.1:{gateway.port}", token_file=str(file))
    gateway.answer(401, {"detail": "The token has ended.", "remedy": "Ask for a new one."})
    fault = one.fault()
    assert (fault.status, str(fault).count("flt_")) == (401, 0)
    assert "The token has ended; Ask for a new one." in str(fault)
    new = tmp_path / "new"
    new.write_text("flt_other\n")
    new.rename(file)
    gateway.answer(201, JOINED)
    one.ask(1)
    file.unlink()
    gateway.answer(201, JOINED)
    one.ask(1)
    tokens = [said["headers"]["Authorization"] for said in gateway.said]
    assert tokens == ["Bearer flt_one", "Bearer flt_other", "Bearer flt_other"]


@pytest.mark.parametrize(
    "status, kind, remedy",
    [
        (403, "forbidden", "the right `consume`"),
        (404, "", "gateway.enabled"),
        (503, "not_ready", "gateway's log"),
    ],
)
def test_a_refusal_without_a_remedy_has_one(
    gateway: Gateway, sender: Callable[..., Sender], status: int, kind: str, remedy: str
) -> None:
    """What an answer does not say about the way out, the client says."""
    one = sender(f"http://127.0.0.1:{gateway.port}")
    gateway.answer(status, {"type": f"urn:fairlead:{kind}", "detail": "So."}, Retry_After="2")
    fault = one.fault()
    assert (fault.status, fault.kind, fault.retry_after_ms) == (status, kind, 2_000)
    assert "So; " in str(fault)
    assert remedy in str(fault)


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"x" * 100_000]
)
def test_what_is_no_http(sender: Callable[..., Sender], answer: bytes) -> None:
    """Somebody else listens there: the error says so."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        one = sender(f"http://127.0.0.1:{listening.getsockname()[1]}")
        one.send(request(1))
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(answer)
            reply = one.replies.get(timeout=WAIT_SECONDS)[1]
        assert isinstance(reply, GatewayError)
        assert reply.kind in ("no_http", "closed")


def _encrypted(certificates: Certificates, *, wants: Path | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.broker)
    if wants is not None:
        context.load_verify_locations(wants)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def test_encrypted(certificates: Certificates, sender: Callable[..., Sender]) -> None:
    """With its CA the connection stands; without it, or under another name, the error says why."""
    one = Gateway(_encrypted(certificates))
    url = f"https://127.0.0.1:{one.port}"
    try:
        one.answer(201, JOINED)
        known = str(certificates.authority)
        assert isinstance(sender(url, gateway_ca_file=known).ask(), Joined)
        fault = sender(url).fault()
        assert fault.kind == "bad_certificate"
        assert "give the file of its CA as gateway_ca_file" in str(fault)
        named = sender(url.replace("127.0.0.1", "localhost"), gateway_ca_file=known).fault()
        assert "its certificate is not for localhost" in str(named)
        assert sender(url.replace("https", "http")).fault().kind in ("closed", "no_http")
    finally:
        one.close()


def test_a_certificate_of_the_client(
    certificates: Certificates, sender: Callable[..., Sender]
) -> None:
    """A gateway that wants the client's certificate gets it, or the error says that it does."""
    one = Gateway(_encrypted(certificates, wants=certificates.authority))
    url, known = f"https://127.0.0.1:{one.port}", str(certificates.authority)
    try:
        one.answer(201, JOINED)
        mine = str(certificates.broker)
        with_mine = sender(url, gateway_ca_file=known, gateway_cert_file=mine)
        assert isinstance(with_mine.ask(), Joined)
        without = sender(url, gateway_ca_file=known).fault()
        assert without.kind in ("certificate_required", "closed")
        assert "gateway_cert_file" in str(without) or without.kind == "closed"
    finally:
        one.close()


def test_no_encryption_there(gateway: Gateway, sender: Callable[..., Sender]) -> None:
    """https:// to a gateway that speaks none: the error says so."""
    fault = sender(f"https://127.0.0.1:{gateway.port}").fault()
    assert fault.kind in ("not_tls", "closed")


def test_an_unknown_host(sender: Callable[..., Sender]) -> None:
    """A name that nobody knows is named in the error."""
    fault = sender("https://nobody.invalid:1").fault()
    assert fault.kind == "unknown_host"
    assert "nobody.invalid" in str(fault)
