"""A server of the remoting protocol that a test leads by hand, on a real socket."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

from fairlead_client.remoting.command import Command
from fairlead_client.remoting.frame import FrameReader, frame_of

from tests.kit.awaiting import ended

Serve = Callable[[Command], list[Command]]


@contextlib.contextmanager
def serving(serve: Serve, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve every connection while the context is open; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threads = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    plain, _ = listening.accept()
                    thread = threading.Thread(target=_talk, args=(plain, serve, context))
                    thread.start()
                    threads.append(thread)

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            ended(accepting)
    for thread in threads:
        ended(thread)


def _talk(plain: socket.socket, serve: Serve, context: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError):
        stream = plain if context is None else context.wrap_socket(plain, server_side=True)
        reader = FrameReader()
        with stream:
            while data := stream.recv(65_536):
                for command in reader.feed(data):
                    for answer in serve(command):
                        stream.sendall(b"".join(map(bytes, frame_of(answer))))


def response(to: Command, body: bytes = b"", code: int = 0, remark: str | None = None) -> Command:
    """Return a response to a request."""
    return replace(to.answered(code, remark), body=body)
