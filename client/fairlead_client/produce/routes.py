"""Where a producer has its routes from: the interface, and Fairlead's topics on Kafka."""

from collections.abc import Callable
from typing import Protocol

from fairlead_client.errors import StartFailedError
from fairlead_client.produce.producer_settings import ProducerSettings
from fairlead_client.produce.publish_table import Published, PublishTable
from fairlead_client.produce.route_refresher import RouteRefresher
from fairlead_client.produce.send_error import NoRouteError
from fairlead_client.transport.requester import Requester
from fairlead_client.transport.route_reader import RouteReader

__all__ = ["KafkaRoutes", "Routes"]


class Routes(Protocol):
    """Keeps a producer's table of routes up to date, and finds what is missing in it."""

    def start(self) -> None:
        """Begin, without waiting."""

    def await_ready(self, timeout_ms: int) -> None:
        """Wait until routes can be found.

        Raises:
            StartFailedError: they could not within this time.
        """

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Return a topic's queues; wait for them.

        Raises:
            NoRouteError: there is no route.
            RouteError: the route is unreadable.
            SendingError: nobody who knows routes answers.
        """

    def ask(self, topic: str) -> None:
        """Find a topic's route again, in the background: a broker no longer has the topic."""

    def no_route(self, topic: str, waited_ms: int) -> NoRouteError:
        """Return the error of a topic without a route, with what to do."""

    def stop(self) -> None:
        """End soon."""


class KafkaRoutes:
    """Routes of the topic `routes`, and requests to the bridges.

    Args:
        settings: the producer's settings.
        client_id: its id, which names the connections.
        table: gets the routes.
        refreshed: called every 30 s.
    """

    def __init__(
        self,
        settings: ProducerSettings,
        client_id: str,
        table: PublishTable,
        refreshed: Callable[[], None],
    ) -> None:
        self._reader = RouteReader(settings, client_id, table.set_route, "producers")
        self._requester = Requester(settings, client_id, settings.group, "producers")
        self._refresher = RouteRefresher(
            table,
            self._reader.read_to_end,
            self._requester.ask,
            refreshed,
            lambda: self._requester.lack,
        )
        self.look_up = self._refresher.look_up
        self.ask = self._refresher.ask
        self.no_route = self._refresher.no_route

    def start(self) -> None:
        """Read the routes in the background."""
        self._reader.start()

    def await_ready(self, timeout_ms: int) -> None:
        """Wait until all routes are read once.

        Raises:
            StartFailedError: they were not within this time.
        """
        if not self._reader.ready.wait(timeout_ms / 1_000):
            raise StartFailedError(
                f"the routes were not read within {timeout_ms} ms: {self._reader.last_error}"
            )
        self._refresher.start()

    def stop(self) -> None:
        """End soon."""
        self._refresher.stop()
        self._reader.stop()
        self._requester.close()
