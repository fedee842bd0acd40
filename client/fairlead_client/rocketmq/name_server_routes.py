"""A producer's routes from RocketMQ's name servers, without a bridge (ADR 0232)."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from fairlead_client.errors import FairleadClientError, RouteError, StartFailedError
from fairlead_client.produce.publish_table import DEFAULT_TOPIC, Published, PublishTable
from fairlead_client.produce.send_error import Fault, NoRouteError, SendingError
from fairlead_client.remoting.remoting_error import RemotingError
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.session.clock import now_ms
from fairlead_client.session.failure import FailureLog

__all__ = ["NameServerRoutes"]

logger = logging.getLogger(__name__)

INTERVAL_MS: Final = 30_000
"""How often each topic's route is looked up again (pollNameServerInterval)."""
RETRY_SECONDS: Final = 0.2


class NameServerRoutes(Thread):
    """Looks up the routes of the topics that a producer sends to: at first, and every 30 s.

    A topic keeps its last route while name servers know none: one that was restarted knows nothing
    until the brokers have told it. Only if a broker has said that it lacks the topic, and the name
    servers say so too, the topic is gone.

    Args:
        brokers: asks the name servers; the sender closes it. It gives each route to the table.
        table: the routes, and the topics that somebody sends to.
        refreshed: called after each round.
        creates: whether the route of TBW102 stands in for a topic that does not exist; the broker
            of its first message then creates it.
    """

    interval_ms = INTERVAL_MS

    def __init__(
        self,
        brokers: Brokers,
        table: PublishTable,
        refreshed: Callable[[], None] = lambda: None,
        *,
        creates: bool = False,
    ) -> None:
        super().__init__(name="fairlead-name-server-routes", daemon=True)
        self._brokers = brokers
        self._table = table
        self._refreshed = refreshed
        self._creates = creates
        self._asking = ThreadPoolExecutor(1, "fairlead-route-asking")
        self._asked: set[str] = set()
        self._lock = Lock()
        self._stopping = Event()
        self._ready = Event()
        self._problem: Exception | None = None

    def await_ready(self, timeout_ms: int) -> None:
        """Wait until a name server has answered.

        Raises:
            StartFailedError: none did within this time.
        """
        if not self._ready.wait(timeout_ms / 1_000):
            servers = ";".join(self._brokers.settings.name_servers)
            problem = f"no name server of {servers} answered within {timeout_ms} ms"
            raise StartFailedError(f"{problem}: {self._problem}; check the setting namesrv")

    def run(self) -> None:
        """Reach a name server, then refresh until stopped."""
        failures = FailureLog(logger)
        while not self._stopping.is_set():
            try:
                self._brokers.route(DEFAULT_TOPIC)
                break
            except FairleadClientError as error:
                self._problem = error
                failures.log(repr(error), "cannot look up routes: %s; trying again", error)
            self._stopping.wait(RETRY_SECONDS)
        self._ready.set()
        while not self._stopping.wait(self.interval_ms / 1_000):
            self._refresh()
            self._refreshed()

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Return a topic's queues, as the name servers tell them now.

        Raises:
            NoRouteError: it does not exist.
            RouteError: its route is unreadable.
            SendingError: no name server answers.
        """
        del timeout_ms  # The caller gives the message up; requests have their own time.
        begun_ms = now_ms()
        try:
            if self._brokers.route(topic) is None:
                if not self._creates or self._brokers.route(DEFAULT_TOPIC) is None:
                    raise self.no_route(topic, now_ms() - begun_ms)
                published = self._table.find_default(topic)
            else:
                published = self._table.find(topic)
        except RemotingError as error:
            raise SendingError(Fault.UNREACHABLE, f"no name server answers: {error}") from error
        if published is None:  # it was deleted meanwhile
            raise self.no_route(topic, now_ms() - begun_ms)
        return published

    def ask(self, topic: str) -> None:
        """Find the route again in the background; a topic that nobody has any more is gone."""
        with self._lock:
            if topic in self._asked:
                return
            self._asked.add(topic)
        with suppress(RuntimeError):  # after `stop`
            self._asking.submit(self._ask, topic)

    def no_route(self, topic: str, waited_ms: int) -> NoRouteError:
        """Return the error of a topic without a route."""
        remedy = "create it" if self._creates else "create it, or give create_topics=True"
        servers = ";".join(self._brokers.settings.name_servers)
        remedy += f", or check namesrv: {servers} may be of another cluster"
        return NoRouteError(topic, waited_ms, remedy=remedy)

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _ask(self, topic: str) -> None:
        with self._lock:
            self._asked.discard(topic)
        with suppress(RemotingError, RouteError):
            if self._brokers.route(topic) is None:
                self._table.set_route(topic, None)

    def _refresh(self) -> None:
        for topic in self._table.sent_to():
            if self._stopping.is_set():
                return
            try:
                self._brokers.route(topic)
            except FairleadClientError as error:
                logger.warning("topic %s keeps its route; cannot look it up: %s", topic, error)
