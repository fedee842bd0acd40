"""TLS over a socket that one thread reads while others write.

OpenSSL's connections are not for two threads at once, so both take turns at the connection itself;
the socket is read without that turn.
"""

import contextlib
import socket
import ssl
import threading
from typing import Final

__all__ = ["TlsStream"]

_CHUNK: Final = 65_536


class TlsStream:
    """An encrypted socket.

    Args:
        plain: the connected socket, whose time limit holds for the handshake.
        context: what TLS checks.
        host: the server's name.

    Raises:
        OSError: the handshake failed; the socket is left open.
    """

    def __init__(self, plain: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._plain = plain
        self._turn = threading.Lock()
        self._inward, self._outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._secure = context.wrap_bio(self._inward, self._outward, server_hostname=host)
        while True:
            try:
                self._secure.do_handshake()
                self._flush()
                return
            except ssl.SSLWantReadError:
                self._flush()
                data = plain.recv(_CHUNK)
                if not data:
                    raise ConnectionResetError("the server has hung up in the handshake") from None
                self._inward.write(data)

    def recv(self, size: int) -> bytes:
        """Return what has come, at most this many bytes; nothing: the server has hung up.

        Raises:
            OSError: the connection is broken.
        """
        while True:
            with self._turn:
                try:
                    return self._secure.read(size)
                except ssl.SSLWantReadError:
                    self._flush()
                except ssl.SSLZeroReturnError:
                    return b""
            data = self._plain.recv(_CHUNK)
            if not data:
                return b""
            with self._turn:
                self._inward.write(data)

    def sendall(self, data: bytes | memoryview) -> None:
        """Send all of it.

        Raises:
            OSError: the connection is broken.
        """
        with self._turn:
            self._secure.write(data)
            self._flush()

    def settimeout(self, seconds: float | None) -> None:
        """Limit the time of each step."""
        self._plain.settimeout(seconds)

    def shutdown(self, how: int) -> None:
        """Wake whoever reads."""
        self._plain.shutdown(how)

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(OSError):
            self._plain.close()

    def _flush(self) -> None:
        if data := self._outward.read():
            self._plain.sendall(data)
