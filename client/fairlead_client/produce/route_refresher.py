"""Finds the routes that a producer lacks: reads to the end, then asks the bridges (ADR 0134)."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from kafka.errors import KafkaTimeoutError

from fairlead_client.errors import FairleadClientError, NotAllowedError
from fairlead_client.produce.publish_table import Published, PublishTable
from fairlead_client.produce.send_error import NoRouteError
from fairlead_client.session.clock import now_ms

logger = logging.getLogger(__name__)

INTERVAL_MS: Final = 30_000
"""How often the producer asks for wanted topics without a route (pollNameServerInterval)."""
WAIT_MS_MAX: Final = 3_000
"""How long a second caller waits for the refresh under way (lockNamesrv)."""
BRIDGE_MS: Final = 1_000
"""How long a bridge has for its answer if there is a default route."""

_TRIES = 4
"""A new connection may learn of the requests topic later than one try waits, half a second."""


class RouteRefresher(Thread):
    """Finds a route for a waiting message, and every 30 s for all topics without one.

    Args:
        table: the known routes.
        read_to_end: lets the reader of routes read to the topic's end.
        request: asks the bridges for a topic's route.
        refreshed: called after each refresh, every 30 s.
        lack: returns the missing right without which no bridge can be asked, or None.
    """

    interval_ms = INTERVAL_MS

    def __init__(
        self,
        table: PublishTable,
        read_to_end: Callable[[], Future[None]],
        request: Callable[[str], None],
        refreshed: Callable[[], None],
        lack: Callable[[], NotAllowedError | None] = lambda: None,
    ) -> None:
        super().__init__(name="fairlead-route-refresher", daemon=True)
        self._table = table
        self._read_to_end = read_to_end
        self._request = request
        self._refreshed = refreshed
        self._lack = lack
        self._refreshing = Lock()
        # A connection may take longer than a message has.
        self._asking = ThreadPoolExecutor(1, "fairlead-route-asking")
        self._stopping = Event()

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Return a topic's queues; wait for them, at most 3 s.

        The default route stands in if no bridge sends a route within 1 s.

        Raises:
            NoRouteError: there is no route.
            RouteError: the route is unreadable.
        """
        begun_ms = now_ms()
        ends_ms = begun_ms + min(timeout_ms, WAIT_MS_MAX)
        self._refresh(ends_ms)
        published = self._table.find(topic)
        if published is not None:
            return published
        self.ask(topic)
        left_ms = max(0, ends_ms - now_ms())
        published = self._table.await_route(
            topic, min(left_ms, BRIDGE_MS) if self._table.has_default else left_ms
        ) or self._table.find_default(topic)
        if published is None:
            raise self.no_route(topic, now_ms() - begun_ms)
        return published

    def no_route(self, topic: str, waited_ms: int) -> NoRouteError:
        """Return the error of a topic without a route, with the missing right as its cause."""
        return NoRouteError(topic, waited_ms, self._lack())

    def ask(self, topic: str, tries: int = _TRIES) -> None:
        """Ask the bridges for a topic's route, in the background; log an error."""
        with suppress(RuntimeError):  # after `stop`
            self._asking.submit(self._ask, topic, tries)

    def _ask(self, topic: str, tries: int) -> None:
        for _ in range(tries):
            try:
                self._request(topic)
            except Exception as error:  # noqa: BLE001 - a needed request is repeated
                logger.warning("cannot ask the bridges for the route of %s: %r", topic, error)
                if isinstance(error, KafkaTimeoutError) and not self._stopping.is_set():
                    continue
            return

    def run(self) -> None:
        """Refresh until stopped."""
        while not self._stopping.wait(self.interval_ms / 1_000):
            self._refresh(now_ms() + WAIT_MS_MAX)
            for topic in self._table.lacking():
                # No message waits for it: the next round tries again.
                self.ask(topic, tries=1)
            self._refreshed()

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _refresh(self, ends_ms: int) -> None:
        """Read all present routes; one caller at a time does, and others wait for it."""
        left_ms = ends_ms - now_ms()
        if left_ms <= 0 or not self._refreshing.acquire(timeout=left_ms / 1_000):
            return
        try:
            self._read_to_end().result(max(0, ends_ms - now_ms()) / 1_000)
        except (FutureTimeoutError, FairleadClientError) as error:
            logger.debug("routes were not read to their end: %r", error)
        finally:
            self._refreshing.release()
