"""What the parts that all bridges share ask of the side with the messages."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from fairlead.bridges.answer import Answer
from fairlead.bridges.finding import Finding
from fairlead.core.model import MessageQueue, Route
from fairlead.core.outputs import Request
from fairlead.core.records import RouteChanged

__all__ = ["ClusterSide", "PublishedRoutes"]


class PublishedRoutes(Protocol):
    """The routes that the routes topic holds, and whose they are."""

    def note(self, change: RouteChanged) -> None:
        """Note a record of the routes topic: read at start, or written since."""

    def own_topics(self) -> Iterator[str]:
        """Return the topics whose published route is this cluster's."""

    def is_foreign(self, topic: str) -> bool:
        """Tell whether the published route of this topic is another cluster's."""


class ClusterSide(Protocol):
    """One cluster with messages. Only the bridge's thread asks it, and nothing is raised."""

    def names(self) -> Iterable[str] | None:
        """Return the names of all topics; None if that failed."""

    def find(
        self, topics: Sequence[str], *, now_ms: int, requested: Collection[str]
    ) -> list[Finding]:
        """Look at these topics, and return what each look means, in their order."""

    def more_routes(self) -> Sequence[RouteChanged]:
        """Return what else to publish after a look at the watched topics."""

    def takes(self, request: Request, *, now_ms: int) -> bool:
        """Note a request; tell whether an answer is wanted."""

    def asked_queues(self, request: Request, route: Route) -> list[MessageQueue]:
        """Return the queues of a route that a request for offsets means."""

    def answers(
        self, route: Route, wanted: Sequence[tuple[Request, list[MessageQueue]]]
    ) -> list[Answer] | None:
        """Look offsets up, for each request its queues of this route.

        Returns:
            An answer per request; None: the topic began another life meanwhile.
        """

    def work(self, *, now_ms: int) -> None:
        """Do what else is due; returns soon."""
