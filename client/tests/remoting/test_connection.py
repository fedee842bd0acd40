"""A connection: answers find their requests, whatever their order, and nobody waits in vain."""

import base64
import hashlib
import hmac
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import pytest
from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection, ConnectionSettings
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import (
    NoConnectionError,
    NoResponseError,
    RequestRefusedError,
    UnreadableFrameError,
)

from tests.access.certificates import Authority
from tests.kit.awaiting import ended
from tests.kit.remoting_server import response, serving

SETTINGS = ConnectionSettings(call_s=20)


def _trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=authority.file)


def _server(authority: Authority) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = authority.server()
    context.load_cert_chain(pair.certificate, pair.key)
    return context


def _echo(command: Command) -> list[Command]:
    return [response(command, bytes(command.body))]


def test_answers_come_in_any_order() -> None:
    """The server answers the last request first, and asks something itself between."""
    kept: list[Command] = []

    def serve(command: Command) -> list[Command]:
        kept.append(command)
        if len(kept) < 3:
            return []
        push = Command(40, {"consumerGroup": "g"}, opaque=99, flag=2)
        return [push, *(response(each, bytes(each.body)) for each in reversed(kept))]

    with serving(serve) as address:
        connection = Connection(address, SETTINGS)
        sent = [connection.send(Command(1, body=b"%d" % number)) for number in range(3)]
        assert [bytes(each.result(20).body) for each in sent] == [b"0", b"1", b"2"]
        connection.close()


def test_a_refusal_has_code_and_words() -> None:
    """What the server says comes out as an error that names it."""
    with serving(lambda each: [response(each, code=17, remark="no topic")]) as address:
        connection = Connection(address, SETTINGS)
        with pytest.raises(RequestRefusedError, match="code 17: no topic") as raised:
            connection.call(Command(105))
        assert (raised.value.code, raised.value.address) == (17, address)
        connection.close()


def test_an_answer_that_does_not_come_ends_its_own_request_alone() -> None:
    """A late answer is thrown away, and the connection goes on."""
    held: list[Command] = []

    def serve(command: Command) -> list[Command]:
        if command.code == 1:
            held.append(command)
            return []
        return [*(response(each, b"late") for each in held), *_echo(command)]

    with serving(serve) as address:
        connection = Connection(address, SETTINGS)
        with pytest.raises(NoResponseError, match="no answer within"):
            connection.call(Command(1), timeout_s=0.05)
        assert bytes(connection.call(Command(2, body=b"x")).body) == b"x"
        assert connection.is_open
        connection.close()


def test_who_hangs_up_fails_all_that_wait() -> None:
    """Requests under way and later ones fail at once, and a new connection is made for the next."""
    asked: SimpleQueue[Command] = SimpleQueue()

    def serve(command: Command) -> list[Command]:
        if command.code == 1:
            asked.put(command)
            raise OSError
        return _echo(command)

    with serving(serve) as address, Connections(SETTINGS) as connections:
        first = connections.to(address)
        with pytest.raises(NoConnectionError):
            first.call(Command(1))
        assert not first.is_open
        with pytest.raises(NoConnectionError):
            first.call(Command(2))
        assert bytes(connections.call(address, Command(2, body=b"y")).body) == b"y"
        assert connections.to(address) is not first


def test_nobody_listens() -> None:
    """A port that nobody has, and an address that is none, are refused by name."""
    for address in ("127.0.0.1:1", "nonsense", "127.0.0.1:99999999"):
        with pytest.raises(NoConnectionError, match="accepts no connection"):
            Connection(address, SETTINGS)


def test_what_is_no_frame_ends_the_connection() -> None:
    """A server of another protocol is not waited for."""
    with serving(
        lambda each: [Command(0, {"x": "y" * 17_000_000}, opaque=each.opaque, flag=1)]
    ) as at:
        connection = Connection(at, SETTINGS)
        with pytest.raises(UnreadableFrameError):
            connection.call(Command(1))
        connection.close()


def test_what_the_server_asks_is_answered() -> None:
    """A request that nobody serves is answered with 3, so that the server does not wait."""
    answers: SimpleQueue[Command] = SimpleQueue()

    def serve(command: Command) -> list[Command]:
        if command.is_response:
            answers.put(command)
            return []
        asks = [Command(307, opaque=501), Command(309, opaque=502), Command(40, opaque=503, flag=2)]
        return [*asks, *_echo(command)]

    def on_request(command: Command) -> Command | None:
        return command.answered(0, "well") if command.code == 307 else None

    with serving(serve) as address:
        connection = Connection(address, SETTINGS, on_request)
        connection.call(Command(1))
        told = [answers.get(timeout=20) for _ in range(2)]
        assert [(each.opaque, each.code) for each in told] == [(501, 0), (502, 3)]
        connection.close()


def test_a_request_is_signed() -> None:
    """HMAC-SHA1 over the values of the fields by name, and then the body (AclUtils)."""
    seen: SimpleQueue[Command] = SimpleQueue()

    def serve(command: Command) -> list[Command]:
        seen.put(command)
        return _echo(command)

    login = Credentials("me", "secret", "session")
    with serving(serve) as address:
        connection = Connection(address, ConnectionSettings(call_s=20, credentials=login))
        connection.call(Command(1, {"topic": "T", "b": "2"}, b"body"))
        connection.close()
    fields = dict(seen.get().fields)
    content = b"me" + b"session" + b"2" + b"T" + b"body"
    wanted = base64.b64encode(hmac.digest(b"secret", content, hashlib.sha1)).decode()
    assert fields == {
        "topic": "T",
        "b": "2",
        "AccessKey": "me",
        "SecurityToken": "session",
        "Signature": wanted,
    }
    assert "secret" not in repr(login)


def test_a_server_that_sends_byte_by_byte_does_not_hold_who_connects(tmp_path: Path) -> None:
    """The time limit of a connection is that of its whole handshake."""
    settings = ConnectionSettings(connect_s=0.3, tls=_trusting(Authority(tmp_path)))
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            plain, _ = listening.accept()
            with plain, suppress(OSError):
                # The head of a record of a handshake, 16,000 bytes long; then its bytes.
                plain.sendall(b"\x16\x03\x03\x3e\x80")
                while not over.wait(0.02):
                    plain.sendall(b"\x00")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            with pytest.raises(NoConnectionError, match="accepts no connection"):
                Connection(f"127.0.0.1:{listening.getsockname()[1]}", settings)
        finally:
            over.set()
            ended(dripping)


def test_many_threads_share_a_connection_over_tls(tmp_path: Path) -> None:
    """Large requests of many threads go out whole, and large answers come back, encrypted."""
    authority = Authority(tmp_path)
    settings = ConnectionSettings(call_s=30, tls=_trusting(authority))
    with serving(_echo, _server(authority)) as address, ThreadPoolExecutor(8) as pool:
        connection = Connection(address, settings)
        started = threading.Barrier(8)

        def talk(number: int) -> bool:
            started.wait()
            for size in (10, 70_000, 300_000):
                body = b"%d" % number * size
                if bytes(connection.call(Command(1, body=body)).body) != body:
                    return False
            return True

        assert all(pool.map(talk, range(8)))
        connection.close()


def test_a_certificate_that_nobody_trusts_is_refused(tmp_path: Path) -> None:
    """The error names the address, and no request is sent."""
    authority = Authority(tmp_path)
    other = Authority(tmp_path, "other")
    refused = pytest.raises(NoConnectionError, match="certificate is not trusted")
    with serving(_echo, _server(authority)) as address, refused:
        Connection(address, ConnectionSettings(tls=_trusting(other)))


def test_closed_connections_stay_closed() -> None:
    """After the end of all nobody opens another one, not even a thread that is late."""
    with serving(_echo) as address:
        with Connections(SETTINGS) as connections:
            assert connections.call(address, Command(1, body=b"1")).body == b"1"
        with pytest.raises(NoConnectionError, match="all connections were closed here"):
            connections.call(address, Command(1, body=b"1"))
