"""Sends a thin client's requests by HTTP, each on a thread and a connection that wait for it.

A gateway holds a poll until there is news. A client that has something to say meanwhile sends a
newer request on a second connection; whatever the older one still brings is of no use.
"""

import http.client
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Final

from fairlead_client.errors import GatewayError
from fairlead_client.settings.client_settings import Settings
from fairlead_client.settings.gateway_settings import GatewayAddress
from fairlead_client.thin.thin_member import Reply
from fairlead_client.thin.thin_words import Request
from fairlead_client.transport.gateway_faults import connection_fault, reply_of, retry_after_ms
from fairlead_client.transport.gateway_login import GatewayLogin
from fairlead_client.transport.gateway_places import GatewayPlaces

__all__ = ["GatewayLanes"]

logger = logging.getLogger(__name__)

_LANES_MAX: Final = 3
CONNECT_SECONDS: Final = 2.0

Report = Callable[[int, Reply], None]


class GatewayLanes:
    """The connections of one client.

    Args:
        settings: the client's settings.
        report: called with the number of a request and its reply, on a thread of its own.
    """

    def __init__(self, settings: Settings, report: Report) -> None:
        self._login = GatewayLogin(settings)
        self._places = GatewayPlaces(settings.gateways)
        self._report = report
        self._lanes: list[_Lane] = []

    def send(self, request: Request) -> None:
        """Send a request; it never waits."""
        lane = next((lane for lane in self._lanes if not lane.is_busy), None)
        if lane is None and len(self._lanes) < _LANES_MAX:
            lane = _Lane(self._login, self._places, self._report)
            self._lanes.append(lane)
            lane.start()
        if lane is None:
            # The one that has waited longest; nobody uses its reply.
            lane = min(self._lanes, key=lambda each: each.newest)
            lane.cut()
        lane.send(request)

    def close(self) -> None:
        """Close every connection, and end the threads."""
        for lane in self._lanes:
            lane.send(None)
            lane.cut()
        self._lanes = []


class _Lane(Thread):
    """One thread with one connection, which it keeps open."""

    def __init__(self, login: GatewayLogin, places: GatewayPlaces, report: Report) -> None:
        super().__init__(name="fairlead-gateway", daemon=True)
        self._login, self._places, self._report = login, places, report
        self._inbox: SimpleQueue[Request | None] = SimpleQueue()
        self._lock = Lock()
        self._waiting = 0
        self._connection: http.client.HTTPConnection | None = None
        self._address: GatewayAddress | None = None
        self._is_cut = False
        self.newest = 0

    @property
    def is_busy(self) -> bool:
        """Whether a request waits for its reply."""
        return self._waiting > 0

    def send(self, request: Request | None) -> None:
        """Send a request after the one that waits; None: end."""
        with self._lock:
            self._waiting += 1
        self.newest = self.newest if request is None else request.number
        self._inbox.put(request)

    def cut(self) -> None:
        """Break the connection off, whoever waits for it."""
        self._is_cut = True
        connection = self._connection
        sock = None if connection is None else connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        """Serve until the end."""
        while (request := self._inbox.get()) is not None:
            self._is_cut = False
            try:
                reply = self._reply(request)
            except GatewayError as error:
                reply = error
            except Exception as error:  # noqa: BLE001 - a cut connection fails in many ways
                reply = connection_fault(self._address or self._places.all[0], error)
            with self._lock:
                self._waiting -= 1
            self._report(request.number, reply)
        self._close()

    def _reply(self, request: Request) -> Reply:
        until = monotonic() + request.patience_ms / 1_000
        fault: GatewayError | None = None
        for address in self._places.in_turn():
            left = until - monotonic()
            if fault is not None and left <= 0:
                break
            reused = self._connection is not None and self._address == address
            try:
                self._connect(address, min(left, CONNECT_SECONDS))
            except (OSError, http.client.HTTPException) as error:
                # Nothing was sent: the next address may have it.
                self._close()
                fault = connection_fault(address, error)
                continue
            return self._exchange(request, address, until, again=reused)
        assert fault is not None
        raise fault

    def _exchange(
        self, request: Request, address: GatewayAddress, until: float, *, again: bool
    ) -> Reply:
        connection = self._connection
        assert connection is not None
        headers = {"Content-Type": "application/json", **self._login.headers()}
        if request.key:
            headers["Idempotency-Key"] = request.key
        try:
            if connection.sock is not None:
                connection.sock.settimeout(max(0.1, until - monotonic()))
            connection.request(request.method, request.path, request.body, headers)
            answer = connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._close()
            if again and not self._is_cut and not isinstance(error, TimeoutError):
                # The gateway closes connections that rest; to repeat a request is safe.
                self._connect(address, CONNECT_SECONDS)
                return self._exchange(request, address, until, again=False)
            if not self._is_cut:
                self._places.leave(address)
            raise connection_fault(address, error) from error
        if answer.will_close:
            self._close()
        if answer.status < 500:  # noqa: PLR2004 - RFC 9110
            self._places.stay(address)
        else:
            self._places.leave(address)
        retry_ms = retry_after_ms(answer.getheader("Retry-After"))
        return reply_of(request, address, answer.status, data, retry_ms)

    def _connect(self, address: GatewayAddress, seconds: float) -> None:
        if self._connection is not None and self._address == address:
            return
        self._close()
        seconds = max(0.1, seconds)
        if address.scheme == "https":
            context = self._login.context()
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                address.host, address.port, timeout=seconds, context=context
            )
        else:
            made = http.client.HTTPConnection(address.host, address.port, timeout=seconds)
        made.connect()
        self._connection, self._address = made, address

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
