"""A server that reads nothing: nobody who sends waits for it, and what has not left comes back."""

import ssl
from collections.abc import Callable
from pathlib import Path
from threading import Event
from threading import enumerate as all_threads

import pytest
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection, ConnectionSettings
from fairlead_client.remoting.remoting_error import NoConnectionError

from tests.access.certificates import Authority
from tests.kit.awaiting import await_seen
from tests.kit.remoting_server import response, serving

WAIT = 20.0
BODY = bytes(256 * 1_024)
MANY = 60
"""Their bodies are more than a socket keeps for a server that does not read."""


@pytest.fixture(params=["in the clear", "encrypted"])
def contexts(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """The server's TLS and the client's."""
    if request.param == "in the clear":
        return None, None
    authority = Authority(tmp_path)
    pair = authority.server()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pair.certificate, pair.key)
    return server, ssl.create_default_context(cafile=authority.file)


def _frozen(frozen: Event, seen: list[int]) -> Callable[[Command], list[Command]]:
    def serve(command: Command) -> list[Command]:
        assert frozen.wait(WAIT)
        seen.append(command.code)
        return [response(command, b"%d" % command.code)]

    return serve


def _threads_of(address: str) -> int:
    """How many threads the connection to this server has; those of other tests come and go."""
    return sum(each.name.startswith(f"remoting {address}") for each in all_threads())


def test_nobody_waits_for_a_frozen_server(
    contexts: tuple[ssl.SSLContext | None, ssl.SSLContext | None],
) -> None:
    """All requests are taken at once; when the server reads again, they are answered in order."""
    let, seen = Event(), list[int]()
    with serving(_frozen(let, seen), contexts[0]) as address:
        connection = Connection(address, ConnectionSettings(tls=contexts[1]))
        sent = [connection.send(Command(code, body=BODY)) for code in range(MANY)]
        taken_back = [code for code in range(MANY) if code % 3 == 1]
        for code in taken_back:
            sent[code].cancel()
        let.set()
        wanted = [code for code in range(MANY) if code not in taken_back]
        assert [int(bytes(sent[code].result(WAIT).body)) for code in wanted] == wanted
        # The first few had left, or begun to, when they were taken back.
        assert seen == sorted(seen)
        assert MANY - 2 not in seen
        threads = _threads_of(address)
        assert connection.call(Command(MANY)).body == b"%d" % MANY
        assert _threads_of(address) <= threads
        connection.close()


def test_what_waits_ends_with_the_connection(
    contexts: tuple[ssl.SSLContext | None, ssl.SSLContext | None],
) -> None:
    """A close fails every request, sent or not, and the thread that writes ends."""
    let = Event()
    with serving(_frozen(let, []), contexts[0]) as address:
        connection = Connection(address, ConnectionSettings(tls=contexts[1]))
        assert _threads_of(address) == 1
        sent = [connection.send(Command(code, body=BODY)) for code in range(MANY)]
        connection.close()
        for each in sent:
            assert isinstance(each.exception(WAIT), NoConnectionError)
        await_seen(lambda: _threads_of(address) == 0, what="the end of both threads")
        let.set()
