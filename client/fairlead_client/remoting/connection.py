"""One connection to a server of RocketMQ: many requests under way at once, paired by number."""

import contextlib
import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from typing import Final

from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.codes import ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.frame import FrameError, FrameReader, frame_of
from fairlead_client.remoting.outbox import Outbox, PlainStream, Stream
from fairlead_client.remoting.remoting_error import (
    NoConnectionError,
    NoResponseError,
    RemotingError,
    RequestRefusedError,
    UnreadableFrameError,
)
from fairlead_client.remoting.tls_stream import TlsStream

__all__ = ["Connection", "ConnectionSettings", "OnRequest"]

_CHUNK: Final = 262_144
_OPAQUE_MAX: Final = 2**31 - 1

OnRequest = Callable[[Command], Command | None]
"""Answers a request of the server; None: with "not supported", if an answer is awaited."""


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """How to connect.

    Attributes:
        connect_s: how long a connection may take to be made.
        call_s: how long an answer may take, unless a call says otherwise.
        tls: encrypts the connection; None: it is in the clear.
        credentials: sign each request; None: nobody asks for them.
    """

    connect_s: float = 3.0
    call_s: float = 3.0
    tls: ssl.SSLContext | None = None
    credentials: Credentials | None = None


class Connection:
    """A connection, and the thread that reads it. Any thread may call it.

    Args:
        address: the server's host:port.
        settings: how to connect.
        on_request: answers what the server asks of this side.

    Raises:
        NoConnectionError: the server accepts none.
    """

    def __init__(
        self,
        address: str,
        settings: ConnectionSettings,
        on_request: OnRequest | None = None,
    ) -> None:
        self.address = address
        self._settings, self._on_request = settings, on_request
        self._socket = _connected(address, settings)
        self._outbox = Outbox(self._socket, self._broken, f"remoting {address} writes")
        self._guard = threading.Lock()
        self._opaques = itertools.count(1)
        self._waiting: dict[int, Future[Command]] = {}
        self._ended: RemotingError | None = None
        self._answered = False
        self._thread = threading.Thread(target=self._run, name=f"remoting {address}", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether requests can still be sent."""
        return self._ended is None

    def call(self, command: Command, timeout_s: float | None = None) -> Command:
        """Send a request, wait, and return the response of success.

        Raises:
            RequestRefusedError: the server answers with another code than success.
            NoResponseError: no answer came in time.
            NoConnectionError: the connection ended before the answer.
        """
        response = self.answer(command, timeout_s)
        if response.code != ResponseCode.SUCCESS:
            raise RequestRefusedError(self.address, response.code, response.remark)
        return response

    def answer(self, command: Command, timeout_s: float | None = None) -> Command:
        """Send a request, wait, and return the response, whatever its code.

        Raises:
            NoResponseError: no answer came in time.
            NoConnectionError: the connection ended before the answer.
        """
        waits_s = self._settings.call_s if timeout_s is None else timeout_s
        opaque, future = self._send(command)
        try:
            return future.result(waits_s)
        except FutureTimeoutError:
            self._forget(opaque)
            raise NoResponseError(self.address, f"no answer within {waits_s:g} s") from None

    def send(self, command: Command) -> "Future[Command]":
        """Send a request; the future gets the response, or the error that ended the connection.

        Who waits no longer cancels the future; a late response is then thrown away.
        """
        opaque, future = self._send(command)
        future.add_done_callback(lambda _: self._forget(opaque))
        return future

    def tell(self, command: Command) -> None:
        """Send a request that nobody answers.

        Raises:
            NoConnectionError: the connection has ended.
        """
        opaque = self._next_opaque()
        self._write(opaque, replace(command, opaque=opaque, flag=2))

    def close(self) -> None:
        """End the connection; requests under way fail."""
        self._end(NoConnectionError(self.address, "the connection was closed"))
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _send(self, command: Command) -> tuple[int, "Future[Command]"]:
        opaque, future = self._next_opaque(), Future[Command]()
        with self._guard:
            if self._ended is not None:
                raise self._ended
            self._waiting[opaque] = future
        self._write(opaque, replace(command, opaque=opaque, flag=0))
        return opaque, future

    def _next_opaque(self) -> int:
        return next(self._opaques) % _OPAQUE_MAX

    def _write(self, number: Hashable, command: Command) -> None:
        credentials = self._settings.credentials
        signed = command if credentials is None else credentials.signed(command)
        try:
            self._outbox.put(number, frame_of(signed))
        except OSError as error:
            self._broken(error)
            assert self._ended is not None
            raise self._ended from None

    def _broken(self, error: OSError) -> None:
        # A part of a frame may be on its way, so nothing else can follow it.
        self._end(NoConnectionError(self.address, f"the connection ended: {error}"))

    def _forget(self, opaque: int) -> None:
        with self._guard:
            self._waiting.pop(opaque, None)
        self._outbox.take_back(opaque)

    def _run(self) -> None:
        reader = FrameReader()
        try:
            while data := self._socket.recv(_CHUNK):
                for command in reader.feed(data):
                    self._take(command)
            said = "the server has hung up"
            if not self._answered and self._settings.tls is None:
                said += " without an answer; if it asks for TLS, set tls"
            problem: RemotingError = NoConnectionError(self.address, said)
        except FrameError as error:
            problem = UnreadableFrameError(self.address, str(error))
        except (OSError, ValueError) as error:
            problem = NoConnectionError(self.address, f"the connection ended: {error}")
        self._end(problem)

    def _take(self, command: Command) -> None:
        self._answered = True
        if command.is_response:
            with self._guard:
                future = self._waiting.pop(command.opaque, None)
            # A caller who waits no longer may cancel it at this moment.
            if future is not None and future.set_running_or_notify_cancel():
                future.set_result(command)
            return
        answer = None if self._on_request is None else self._on_request(command)
        if command.is_one_way:
            return
        if answer is None:
            says = f"request code {command.code} is not served here"
            answer = command.answered(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, says)
        with contextlib.suppress(RemotingError):
            self._write(object(), answer)

    def _end(self, problem: RemotingError) -> None:
        with self._guard:
            if self._ended is not None:
                return
            self._ended = problem
            waiting, self._waiting = self._waiting, {}
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for future in waiting.values():
            if future.set_running_or_notify_cancel():
                future.set_exception(problem)


def _connected(address: str, settings: ConnectionSettings) -> Stream:
    host, _, port = address.rpartition(":")
    try:
        plain = socket.create_connection((host.strip("[]"), int(port)), settings.connect_s)
    except (OSError, ValueError, OverflowError) as error:
        raise NoConnectionError(address, f"it accepts no connection: {error}") from None
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        stream: Stream = (
            PlainStream(plain)
            if settings.tls is None
            else TlsStream(plain, settings.tls, host.strip("[]"))
        )
        plain.settimeout(None)
    except ssl.SSLCertVerificationError as error:
        plain.close()
        problem = f"its certificate is not trusted: {error.verify_message}"
        raise NoConnectionError(address, f"{problem}; give its CA as tls_ca_file") from None
    except (OSError, ValueError) as error:
        plain.close()
        raise NoConnectionError(address, f"it accepts no connection: {error}") from None
    return stream
