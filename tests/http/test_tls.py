"""Encrypted connections: handshakes, certificates of callers, and files that change."""

import contextlib
import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fairlead.http.server import HttpServer, start_server
from fairlead.http.tls import TlsError, tls_contexts
from fairlead.settings import HttpSettings, MetricsSettings, TlsSettings, load_settings
from tests.access.certificates import Authority, Pair
from tests.kit.awaiting import await_seen


async def _who(request: Request) -> Response:
    body = await request.body() if request.method == "POST" else b""
    names = request.scope["extensions"]["fairlead.certificate"]
    return JSONResponse({"names": names, "scheme": request.url.scheme, "body": len(body)})


@contextlib.contextmanager
def _serving(
    pair: Pair,
    told: list[str] | None = None,
    *,
    ca: Path | None = None,
    required: bool = False,
    **limits: Any,
) -> Iterator[HttpServer]:
    tls = TlsSettings(
        certfile=pair.certificate,
        keyfile=pair.key,
        client_cafile=ca,
        client_certificate_required=required,
    )
    settings = HttpSettings(**{**load_settings().http.model_dump(), **limits})
    server = start_server(
        Starlette(routes=[Route("/v1/who", _who, methods=["GET", "POST"])]),
        MetricsSettings(host="127.0.0.1", port=0),
        "serve",
        settings,
        bodies_under=["/v1/"],
        tls=tls_contexts(tls, (told if told is not None else []).append),
    )
    try:
        yield server
    finally:
        server.stop()


def _where(server: HttpServer) -> tuple[str, int]:
    return "127.0.0.1", int(server.url.rpartition(":")[2])


def _context(ca: Authority, own: Pair | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(ca.file))
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
    return context


def _ask(server: HttpServer, context: ssl.SSLContext, body: bytes | None = None) -> dict[str, Any]:
    asked = http.client.HTTPSConnection(*_where(server), timeout=20, context=context)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    try:
        asked.request("GET" if body is None else "POST", "/v1/who", body, headers)
        found: dict[str, Any] = json.loads(asked.getresponse().read())
    finally:
        asked.close()
    return found


@pytest.fixture
def ca(tmp_path: Path) -> Authority:
    """Return an authority that signs for the test."""
    return Authority(tmp_path)


def test_requests_come_over_tls(ca: Authority) -> None:
    """Requests and their bodies arrive over TLS; the URL says https."""
    with _serving(ca.server()) as server:
        assert server.url.startswith("https://")
        answer = _ask(server, _context(ca), b"x" * 200_000)
        assert answer == {"names": [], "scheme": "https", "body": 200_000}


def test_a_request_in_one_piece_with_the_handshake_is_answered(ca: Authority) -> None:
    """A request that arrives with the last message of the handshake is not lost."""
    with _serving(ca.server()) as server:
        inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        secure = _context(ca).wrap_bio(inward, outward, server_hostname="127.0.0.1")
        with socket.create_connection(_where(server), timeout=20) as plain:
            while True:
                try:
                    secure.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    plain.sendall(outward.read())
                    inward.write(plain.recv(65_536))
            secure.write(b"GET /v1/who HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            plain.sendall(outward.read())
            answer = b""
            while b'"scheme"' not in answer:
                inward.write(plain.recv(65_536))
                # Head and body may come in records of their own; one read returns one of them.
                with contextlib.suppress(ssl.SSLWantReadError):
                    while part := secure.read(65_536):
                        answer += part
        assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "subject, others, names",
    [
        ("CN=orders,O=Example", [], ["CN=orders,O=Example"]),
        ("CN=a\\,b", [x509.DNSName("Orders.example")], ["CN=a\\,b", "dns:orders.example"]),
        ("", [x509.UniformResourceIdentifier("spiffe://x/y")], ["uri:spiffe://x/y"]),
    ],
)
def test_the_names_of_a_certificate_arrive(
    ca: Authority, subject: str, others: list[x509.GeneralName], names: list[str]
) -> None:
    """The subject and the other names of a caller's certificate reach the application."""
    own = ca.pair("client", subject, *others)
    with _serving(ca.server(), ca=ca.file) as server:
        assert _ask(server, _context(ca, own))["names"] == names
        assert _ask(server, _context(ca))["names"] == []


def test_a_certificate_may_be_required(ca: Authority) -> None:
    """Where a certificate is required, a caller without one gets nothing."""
    own = ca.pair("client", "CN=orders")
    with _serving(ca.server(), ca=ca.file, required=True) as server:
        assert _ask(server, _context(ca, own))["names"] == ["CN=orders"]
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            _ask(server, _context(ca))


def test_foreign_and_ended_certificates_are_refused(ca: Authority, tmp_path: Path) -> None:
    """A certificate of another authority, or one that has ended, is refused in the handshake."""
    foreign = Authority(tmp_path, "other").pair("foreign", "CN=orders")
    ended = ca.pair("ended", "CN=orders", ends_h=-1)
    with _serving(ca.server(), ca=ca.file) as server:
        for own in (foreign, ended):
            with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
                _ask(server, _context(ca, own))
        assert _ask(server, _context(ca))["names"] == []


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_versions_are_refused(ca: Authority, version: ssl.TLSVersion) -> None:
    """Versions before TLS 1.2 are refused."""
    context = _context(ca)
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version, context.maximum_version = version, version
    with _serving(ca.server()) as server, pytest.raises((ssl.SSLError, ConnectionError)):
        _ask(server, context)


def _subject(server: HttpServer, ca: Authority) -> str:
    with (
        socket.create_connection(_where(server), timeout=20) as plain,
        _context(ca).wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        certificate = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True) or b"")
        return certificate.subject.rfc4514_string()


def test_a_new_certificate_is_used_without_a_restart(ca: Authority) -> None:
    """New connections get the new certificate; an open one goes on."""
    with _serving(ca.server()) as server:
        kept = http.client.HTTPSConnection(*_where(server), timeout=20, context=_context(ca))
        kept.request("GET", "/v1/who")
        kept.getresponse().read()
        ca.server(subject="CN=newer")
        await_seen(lambda: _subject(server, ca) == "CN=newer", what="the new certificate")
        kept.request("GET", "/v1/who")
        assert kept.getresponse().status == 200
        kept.close()


@pytest.mark.parametrize("broken", ["empty", "other key", "gone"])
def test_a_broken_pair_leaves_the_former_in_force(ca: Authority, broken: str) -> None:
    """A broken new pair is counted, and the former one stays in force."""
    pair, told = ca.server(), list[str]()
    with _serving(pair, told) as server:
        other = ca.server("other", "CN=other")
        if broken == "empty":
            pair.certificate.write_text("")
        elif broken == "gone":
            pair.key.unlink()
        else:
            pair.key.write_bytes(other.key.read_bytes())
        assert await_seen(lambda: _subject(server, ca) and told, what="the word of it") == ["tls"]
        assert _subject(server, ca) == "CN=server"


@pytest.mark.parametrize("name", ["certfile", "keyfile", "client_cafile"])
def test_a_broken_file_at_the_start_is_named(ca: Authority, tmp_path: Path, name: str) -> None:
    """A file that cannot be used at the start is named with its setting."""
    pair, bad = ca.server(), tmp_path / "bad.pem"
    bad.write_text("bad")
    files = {"certfile": pair.certificate, "keyfile": pair.key, "client_cafile": ca.file, name: bad}
    with pytest.raises(TlsError, match=rf"tls.{name}.*bad.pem"):
        tls_contexts(TlsSettings(**files, client_certificate_required=False))


def test_a_key_with_a_password_asks_no_terminal(ca: Authority, tmp_path: Path) -> None:
    """A key with a password is refused at once: nobody sits at the terminal of a server."""
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
    )

    key = rsa.generate_private_key(65_537, 2_048)
    locked = tmp_path / "locked.pem"
    hidden = BestAvailableEncryption(b"secret")
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))
    files = {"certfile": ca.server().certificate, "keyfile": locked}
    with pytest.raises(TlsError, match="without a password"):
        tls_contexts(TlsSettings(**files, client_certificate_required=False))


def test_handshakes_are_bounded(ca: Authority) -> None:
    """Handshakes that never end are cut off, hold up no caller, and few stay open."""
    with (
        _serving(ca.server(), request_ms=60_000, connections=16) as server,
        contextlib.ExitStack() as hanging,
    ):
        silent = [
            hanging.enter_context(socket.create_connection(_where(server), timeout=20))
            for _ in range(60)
        ]
        silent[-1].sendall(b"\x16\x03\x01\x02\x00")
        assert _ask(server, _context(ca))["scheme"] == "https"

        def still_open() -> int:
            return sum(_is_open(each) for each in silent)

        await_seen(still_open, lambda count: count <= 16, what="at most 16 connections")
    with (
        _serving(ca.server(), request_ms=300) as server,
        socket.create_connection(_where(server), timeout=20) as silent_one,
    ):
        begun = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert silent_one.recv(1) == b""
        assert time.monotonic() - begun < 10


def _is_open(caller: socket.socket) -> bool:
    caller.settimeout(0)
    try:
        return caller.recv(1) != b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except ConnectionResetError:
        return False


def test_a_slow_request_over_tls_is_cut_off(ca: Authority) -> None:
    """A request over TLS that is not whole in time is cut off."""
    with (
        _serving(ca.server(), request_ms=300) as server,
        socket.create_connection(_where(server), timeout=20) as plain,
        _context(ca).wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(b"GET /v1/who HTTP/1.1\r\nHost")
        with contextlib.suppress(OSError):
            assert secure.recv(1) == b""


def test_plain_http_to_tls_ends(ca: Authority) -> None:
    """Whoever speaks plain HTTP to an encrypted server is closed, and others go on."""
    with _serving(ca.server()) as server:
        with socket.create_connection(_where(server), timeout=20) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                while plain.recv(1_000):
                    pass
        assert _ask(server, _context(ca))["scheme"] == "https"


def test_the_server_stops_with_open_handshakes(ca: Authority) -> None:
    """A server stops although handshakes and idle connections are open."""
    with contextlib.ExitStack() as hanging:
        begun = time.monotonic()
        with _serving(ca.server(), request_ms=60_000) as server:
            for _ in range(3):
                hanging.enter_context(socket.create_connection(_where(server), timeout=20))
            _ask(server, _context(ca))
            begun = time.monotonic()
        assert time.monotonic() - begun < 8
