"""The connections to all servers of a cluster: made when needed, and again when they end."""

import threading
from types import TracebackType
from typing import Self

from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection, ConnectionSettings, OnRequest
from fairlead_client.remoting.remoting_error import NoConnectionError

__all__ = ["Connections"]


class Connections:
    """One connection to each server. Any thread may call it.

    Args:
        settings: how to connect.
        on_request: answers what servers ask of this side.
    """

    def __init__(self, settings: ConnectionSettings, on_request: OnRequest | None = None) -> None:
        self.settings = settings
        self._on_request = on_request
        self._guard = threading.Lock()
        self._open: dict[str, Connection] = {}
        self._making: dict[str, threading.Lock] = {}
        self._closed = False

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all connections."""
        self.close()

    def to(self, address: str) -> Connection:
        """Return the open connection to a server, or a new one.

        A server that accepts none keeps those waiting who want it, and nobody else.

        Raises:
            NoConnectionError: the server accepts none, or all connections were closed.
        """
        with self._guard:
            if self._closed:
                raise _closed(address)
            known = self._open.get(address)
            if known is not None and known.is_open:
                return known
            making = self._making.setdefault(address, threading.Lock())
        with making:
            with self._guard:
                known = self._open.get(address)
            if known is not None and known.is_open:
                return known
            made = Connection(address, self.settings, self._on_request)
            with self._guard:
                if not self._closed:
                    self._open[address] = made
                    return made
        # Nobody would end a connection that was under way while the others ended.
        made.close()
        raise _closed(address)

    def opened(self, address: str) -> Connection | None:
        """Return the open connection to a server; None: there is none now."""
        known = self._open.get(address)
        return known if known is not None and known.is_open else None

    def call(self, address: str, command: Command, timeout_s: float | None = None) -> Command:
        """Send a request to a server, wait, and return the response of success.

        Raises:
            RemotingError: the server refuses it, is not there, or does not answer in time.
        """
        return self.to(address).call(command, timeout_s)

    def close(self) -> None:
        """End all connections for good; requests under way fail."""
        with self._guard:
            self._closed = True
            ending, self._open = self._open, {}
        for connection in ending.values():
            connection.close()


def _closed(address: str) -> NoConnectionError:
    return NoConnectionError(address, "all connections were closed here")
