"""Looks for the routes that a producer lacks: reads to the end, then asks the bridges.

ADR 0134 gives the reasons.
"""

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
"""How often topics that are wanted and have no route are asked for (pollNameServerInterval)."""
WAIT_MS_MAX: Final = 3_000
"""How long a second caller waits for the refresh under way (lockNamesrv)."""
BRIDGE_MS: Final = 1_000
"""How long a bridge has for its answer while the default topic's route would do."""

_TRIES = 4
"""A new connection may hear of the topic of requests later than one try waits, half a second."""


class RouteRefresher(Thread):
    """Finds routes for who waits for one, and every 30 s for all topics that lack one.

    Args:
        table: where routes become known.
        read_to_end: asks the reader of routes to read all that is written.
        request: asks the bridges for a topic's route.
        refreshed: called every 30 s, when that is done.
        lack: tells the right without which nobody can be asked; None: there is none.
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
        # To connect may take longer than a message has.
        self._asking = ThreadPoolExecutor(1, "fairlead-route-asking")
        self._stopping = Event()

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Return a topic's queues; wait for them, 3 s at most.

        By the default topic's route when the topic has none and a bridge tells none within 1 s.

        Raises:
            NoRouteError: there is no route.
            RouteError: the route cannot be read.
        """
        begun_ms = now_ms()
        ends_ms = begun_ms + min(timeout_ms, WAIT_MS_MAX)
        self._refresh(ends_ms)
        found = self._table.find(topic)
        if found is not None:
            return found
        self.ask(topic)
        left_ms = max(0, ends_ms - now_ms())
        found = self._table.await_route(
            topic, min(left_ms, BRIDGE_MS) if self._table.has_default else left_ms
        )
        found = found or self._table.find_default(topic)
        if found is None:
            raise NoRouteError(topic, now_ms() - begun_ms, self._lack())
        return found

    def ask(self, topic: str, tries: int = _TRIES) -> None:
        """Ask the bridges for a topic's route, in the background; what goes wrong is logged."""
        with suppress(RuntimeError):  # when it was stopped
            self._asking.submit(self._ask, topic, tries)

    def _ask(self, topic: str, tries: int) -> None:
        for _ in range(tries):
            try:
                self._request(topic)
            except Exception as error:  # noqa: BLE001 - a request is repeated while it is needed
                logger.warning("asking for the route of %s: %r", topic, error)
                if isinstance(error, KafkaTimeoutError) and not self._stopping.is_set():
                    continue
            return

    def run(self) -> None:
        """Refresh until stopped."""
        while not self._stopping.wait(self.interval_ms / 1_000):
            self._refresh(now_ms() + WAIT_MS_MAX)
            for topic in self._table.lacking():
                # Nobody waits for it: the next round is another try.
                self.ask(topic, tries=1)
            self._refreshed()

    def stop(self) -> None:
        """End soon."""
        self._stopping.set()
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _refresh(self, ends_ms: int) -> None:
        """Read all routes there are; one caller at a time does, others wait for it."""
        left_ms = ends_ms - now_ms()
        if left_ms <= 0 or not self._refreshing.acquire(timeout=left_ms / 1_000):
            return
        try:
            self._read_to_end().result(max(0, ends_ms - now_ms()) / 1_000)
        except (FutureTimeoutError, FairleadClientError) as error:
            logger.debug("routes were not read to their end: %r", error)
        finally:
            self._refreshing.release()
