"""Writes to a server that may not read: whoever sends never waits for it.

A frozen server reads nothing, and its socket takes a few megabytes at most. Then a thread writes
what is left, so that neither an application's thread nor a timer stands still with the server.
"""

import select
import socket
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Final, Protocol

__all__ = ["Outbox", "PlainStream", "Stream"]

Parts = Sequence[bytes | memoryview]


class Stream(Protocol):
    """A connected socket, in the clear or encrypted."""

    def recv(self, size: int) -> bytes:
        """Return what has come, at most this many bytes; nothing: the server has hung up."""

    def write(self, parts: Parts) -> None:
        """Keep these bytes after those that are kept, and send what the socket takes now."""

    def drained(self) -> bool:
        """Send what the socket takes now; return whether nothing is kept."""

    def fileno(self) -> int:
        """Return the socket's number."""

    def shutdown(self, how: int) -> None:
        """Wake whoever reads or writes."""

    def close(self) -> None:
        """Close the socket."""


class PlainStream:
    """A socket in the clear. One thread writes at a time."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self._kept = b""
        self.recv: Final = plain.recv
        self.fileno: Final = plain.fileno
        self.shutdown: Final = plain.shutdown
        self.close: Final = plain.close

    def write(self, parts: Parts) -> None:
        """Keep these bytes after those that are kept, and send what the socket takes now."""
        if self._kept:
            self._kept = b"".join((self._kept, *parts))
            return
        try:
            sent = self._plain.sendmsg(parts, (), socket.MSG_DONTWAIT)
        except BlockingIOError:
            sent = 0
        if sent < sum(map(len, parts)):
            self._kept = b"".join(parts)[sent:]

    def drained(self) -> bool:
        """Send what the socket takes now; return whether nothing is kept."""
        self._kept = send_some(self._plain, self._kept)
        return not self._kept


def send_some(plain: socket.socket, data: bytes) -> bytes:
    """Send what the socket takes now; return the rest.

    Raises:
        OSError: the connection is broken.
    """
    if not data:
        return data
    try:
        return data[plain.send(data, socket.MSG_DONTWAIT) :]
    except BlockingIOError:
        return data


class Outbox:
    """The frames to a server, in order. Any thread may call it.

    Args:
        stream: the connection.
        broken: called on the writing thread with the error that ends the connection.
        name: the name of the thread that writes while the server takes nothing.
    """

    def __init__(self, stream: Stream, broken: Callable[[OSError], None], name: str) -> None:
        self._stream, self._broken, self._name = stream, broken, name
        self._lock = threading.Lock()
        self._frames: dict[Hashable, Parts] = {}
        self._writing = False

    def put(self, number: Hashable, frame: Parts) -> None:
        """Send a frame now, or as soon as the server takes it.

        Args:
            number: names it for `take_back`.
            frame: its bytes, in parts.

        Raises:
            OSError: the connection is broken.
        """
        with self._lock:
            if self._writing:
                self._frames[number] = frame
                return
            self._stream.write(frame)
            if self._stream.drained():
                return
            self._writing = True
        threading.Thread(target=self._write, name=self._name, daemon=True).start()

    def take_back(self, number: Hashable) -> None:
        """Do not send this frame, unless it has left."""
        if self._writing:
            with self._lock:
                self._frames.pop(number, None)

    def _write(self) -> None:
        """Write until nothing is left."""
        try:
            waiting = select.poll()
            waiting.register(self._stream.fileno(), select.POLLOUT)
            while True:
                waiting.poll()
                with self._lock:
                    while self._stream.drained():
                        if not self._frames:
                            self._writing = False
                            return
                        self._stream.write(self._frames.pop(next(iter(self._frames))))
        except (OSError, ValueError) as error:
            self._broken(OSError(str(error)))
