"""TLS over a socket that one thread reads while others write.

OpenSSL's connections are not for two threads at once, so both take turns at the connection itself;
the socket is read without that turn.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from typing import Final

from fairlead_client.remoting.outbox import send_some

__all__ = ["TlsStream"]

_CHUNK: Final = 65_536


class TlsStream:
    """An encrypted socket.

    Args:
        plain: the connected socket, whose time limit holds for the whole handshake.
        context: what TLS checks.
        host: the server's name.

    Raises:
        OSError: the handshake failed; the socket is left open.
    """

    def __init__(self, plain: socket.socket, context: ssl.SSLContext, host: str) -> None:
        self._plain = plain
        self._turn = threading.Lock()
        self._kept = b""
        self._inward, self._outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._secure = context.wrap_bio(self._inward, self._outward, server_hostname=host)
        limit_s = plain.gettimeout()
        until = None if limit_s is None else time.monotonic() + limit_s
        while True:
            try:
                self._secure.do_handshake()
                plain.sendall(self._outward.read())
                return
            except ssl.SSLWantReadError:
                plain.sendall(self._outward.read())
                if until is not None:
                    # A server may send byte by byte.
                    left_s = until - time.monotonic()
                    if left_s <= 0:
                        raise TimeoutError("the handshake takes too long") from None
                    plain.settimeout(left_s)
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

    def write(self, parts: Sequence[bytes | memoryview]) -> None:
        """Keep these bytes after those that are kept, and send what the socket takes now.

        Raises:
            OSError: the connection is broken.
        """
        with self._turn:
            for part in parts:
                self._secure.write(part)
            self._flush()

    def drained(self) -> bool:
        """Send what the socket takes now; return whether nothing is kept.

        Raises:
            OSError: the connection is broken.
        """
        with self._turn:
            self._flush()
            return not self._kept

    def fileno(self) -> int:
        """Return the socket's number."""
        return self._plain.fileno()

    def shutdown(self, how: int) -> None:
        """Wake whoever reads."""
        self._plain.shutdown(how)

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(OSError):
            self._plain.close()

    def _flush(self) -> None:
        # What the reading thread has to say leaves after what is kept; none of both waits.
        self._kept = send_some(self._plain, self._kept + self._outward.read())
