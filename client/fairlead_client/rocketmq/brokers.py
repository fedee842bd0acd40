"""The brokers of a RocketMQ cluster: their addresses from the name servers, and connections."""

import itertools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Final

from fairlead_client.errors import FairleadClientError, RouteError
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import Connection
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import (
    NoConnectionError,
    RemotingError,
    RequestRefusedError,
)
from fairlead_client.rocketmq.route_reading import decode_topic_route
from fairlead_client.routes.topic_route import MASTER, TopicRoute
from fairlead_client.session.clock import now_ms
from fairlead_client.settings.rocketmq_settings import RocketMQSettings

__all__ = ["Brokers", "NoBrokerError"]

FAILED_MS: Final = 5_000
"""How long an address that failed comes after the others of its broker."""
REFRESH_MS: Final = 1_000
"""The least time between two look-ups of one topic's route because of failures."""
STALE_MS: Final = 30_000
"""How long a route counts (pollNameServerInterval)."""
_THREADS: Final = 8
"""The most addresses that a client connects to at once."""


class NoBrokerError(FairleadClientError):
    """No name server knows a broker of this name, or its master."""


class Brokers:
    """Finds brokers, and sends requests to them. Any thread may call it.

    Routes come from the first name server that has one, beginning with the one that answered last.
    A topic does not exist if every name server that answers says so. An address stays known until
    a route has another one, so that a broker whose name server forgot it is still tried.

    Args:
        settings: how to reach the cluster.
        on_route: called with each route that a name server sends.
    """

    def __init__(
        self,
        settings: RocketMQSettings,
        on_route: Callable[[str, TopicRoute], None] = lambda _topic, _route: None,
    ) -> None:
        self.settings = settings
        self._on_route = on_route
        self._connections = Connections(settings.connection)
        self._pool = ThreadPoolExecutor(_THREADS, "fairlead-rocketmq")
        self._lock = Lock()
        self._first = 0
        self._addresses: dict[str, dict[int, str]] = {}
        self._failed_ms: dict[str, int] = {}
        self._looked_up_ms: dict[str, int] = {}
        self._unsent: dict[str, list[tuple[Command, Future[Command]]]] = {}

    def route(self, topic: str) -> TopicRoute | None:
        """Return a topic's route (105), and note its brokers; None: the topic does not exist.

        Raises:
            RemotingError: no name server answers.
            RouteError: a name server's answer is no route, and no other one has one.
        """
        fields = {"topic": topic, "acceptStandardJsonOnly": "true"}
        command = Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, fields)
        servers, absent = self.settings.name_servers, False
        last: RemotingError | RouteError | None = None
        for number in range(len(servers)):
            at = (self._first + number) % len(servers)
            try:
                body = self._connections.call(servers[at], command).body
            except RequestRefusedError as error:
                absent = absent or error.code == ResponseCode.TOPIC_NOT_EXIST
                last = last if isinstance(last, RouteError) else error
            except RemotingError as error:
                last = last if isinstance(last, RouteError) else error
            else:
                try:
                    route = decode_topic_route(bytes(body))
                except RouteError as error:
                    last = error
                    continue
                self._first = at
                self._note(topic, route)
                self._on_route(topic, route)
                return route
        if absent and not isinstance(last, RouteError):
            return None
        assert last is not None
        raise last

    def master(self, broker_name: str, topic: str) -> str:
        """Return the address of a broker's master.

        Raises:
            NoBrokerError: no route has it.
            RemotingError: no name server answers.
        """
        address = self._known(broker_name, topic).get(MASTER)
        if address is None:
            raise NoBrokerError(f"broker {broker_name} has no master now")
        return address

    def readable(self, broker_name: str, topic: str, broker_id: int = MASTER) -> str:
        """Return the address to read from: of this broker id, or of another one that works.

        Raises:
            NoBrokerError: no route has the broker.
            RemotingError: no name server answers.
        """
        known = self._known(broker_name, topic)
        if not known:
            raise NoBrokerError(f"no name server knows broker {broker_name}")
        now = now_ms()
        with self._lock:
            failed = dict(self._failed_ms)
        return known[
            min(
                known,
                key=lambda each: (
                    now < failed.get(known[each], now) + FAILED_MS and known[each] in failed,
                    each != broker_id,
                    each,
                ),
            )
        ]

    def failed(self, address: str, topic: str) -> None:
        """Note that an address gave no answer; the topic's route is looked up again."""
        with self._lock:
            self._failed_ms[address] = now_ms()
        self._refresh(topic, REFRESH_MS)

    def worked(self, address: str) -> None:
        """Note that an address answered."""
        if address in self._failed_ms:
            with self._lock:
                self._failed_ms.pop(address, None)

    def call(self, address: str, command: Command, timeout_s: float | None = None) -> Command:
        """Send a request, wait, and return the response of success.

        Raises:
            RemotingError: the server refuses it, is not there, or does not answer in time.
        """
        return self._connections.call(address, command, timeout_s)

    def send(self, address: str, command: Command) -> "Future[Command]":
        """Send a request without waiting for a connection; the future gets the response.

        The future's error is a RemotingError.
        """
        connection = self._connections.opened(address)
        if connection is not None:
            with suppress(RemotingError):
                return connection.send(command)
        answered: Future[Command] = Future()
        with self._lock:
            waiting = self._unsent.get(address)
            if waiting is not None:
                waiting.append((command, answered))
                return answered
            self._unsent[address] = [(command, answered)]
        with suppress(RuntimeError):  # after `close`
            self._pool.submit(self._connect_and_send, address)
        return answered

    def in_background(self, topic: str) -> None:
        """Look a topic's route up soon, unless it is young."""
        self._refresh(topic, STALE_MS)

    def close(self) -> None:
        """End all connections; requests under way fail."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._connections.close()

    def _connect_and_send(self, address: str) -> None:
        """Connect, and send what has come meanwhile; one thread does so for each address."""
        connection: Connection | None = None
        problem: RemotingError | None = None
        try:
            connection = self._connections.to(address)
        except RemotingError as error:
            problem = error
        with self._lock:
            unsent = self._unsent.pop(address)
        for command, answered in unsent:
            if answered.cancelled():
                continue
            try:
                if connection is None:
                    raise problem or NoConnectionError(address, "no connection")
                sent = connection.send(command)
            except RemotingError as error:
                _settle(answered, error)
            else:
                sent.add_done_callback(partial(_settle, answered))

    def _known(self, broker_name: str, topic: str) -> dict[int, str]:
        known = self._addresses.get(broker_name)
        if known is None:
            self.route(topic)
            return self._addresses.get(broker_name, {})
        self._refresh(topic, STALE_MS)
        return known

    def _refresh(self, topic: str, least_ms: int) -> None:
        now = now_ms()
        with self._lock:
            if now < self._looked_up_ms.get(topic, -STALE_MS) + least_ms:
                return
            self._looked_up_ms[topic] = now
        with suppress(RuntimeError):  # after `close`
            self._pool.submit(self._look_up, topic)

    def _look_up(self, topic: str) -> None:
        # What fails here fails again where somebody waits for it.
        with suppress(RemotingError, RouteError):
            self.route(topic)

    def _note(self, topic: str, route: TopicRoute) -> None:
        with self._lock:
            self._looked_up_ms[topic] = now_ms()
            found = {
                broker.broker_name: dict(broker.addresses)
                for broker in route.broker_datas
                if broker.addresses
            }
            self._addresses = {**self._addresses, **found}
            used = set(itertools.chain.from_iterable(each.values() for each in found.values()))
            self._failed_ms = {
                address: at_ms
                for address, at_ms in self._failed_ms.items()
                if address in used or now_ms() < at_ms + FAILED_MS
            }


def _settle(answered: "Future[Command]", ended: "Future[Command] | RemotingError") -> None:
    """Give a future the end of another one, unless its caller has given it up."""
    if not answered.set_running_or_notify_cancel():
        return
    error = ended if isinstance(ended, RemotingError) else ended.exception()
    if error is not None:
        answered.set_exception(error)
    elif isinstance(ended, Future):
        answered.set_result(ended.result())
