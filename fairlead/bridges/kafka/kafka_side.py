"""A Kafka cluster as the parts that all bridges share ask it."""

from collections.abc import Collection, Iterable, Sequence

from fairlead.bridges.answer import Answer
from fairlead.bridges.finding import Finding
from fairlead.bridges.kafka.answer import OffsetLookup, answer, asked_partitions
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.retry_topics import RetryTopics
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.core.model import MessageQueue, Route
from fairlead.core.outputs import Request
from fairlead.core.records import RouteChanged

__all__ = ["KafkaSide"]


class KafkaSide:
    """Looks and look-ups on one Kafka cluster.

    Args:
        cluster: the cluster's name, the broker name of its queues.
        data: the cluster.
        published: the published routes, and the rule for the next one.
        retries: creates the retry topics that groups ask for.
        default_topic_queue_nums: queues of the default route; 0: there is none.
    """

    def __init__(
        self,
        cluster: str,
        data: DataCluster,
        published: RouteBook,
        retries: RetryTopics,
        *,
        default_topic_queue_nums: int = 0,
    ) -> None:
        self._cluster = cluster
        self._data = data
        self._published = published
        self._retries = retries
        self._default_topic_queue_nums = default_topic_queue_nums

    def names(self) -> Iterable[str] | None:
        """Return the names of all topics; None if that failed."""
        return self._data.names()

    def find(
        self, topics: Sequence[str], *, now_ms: int, requested: Collection[str]
    ) -> list[Finding]:
        """Look at these topics, and return what each look means, in their order."""
        looks, racks = self._data.look_at(topics)
        return [
            self._published.find(look, racks, now_ms=now_ms, requested=look.topic in requested)
            for look in looks
        ]

    def more_routes(self) -> Sequence[RouteChanged]:
        """Return the default route, or its deletion, if that changes anything."""
        change = self._published.find_default(self._default_topic_queue_nums)
        return () if change is None else (change,)

    def takes(self, request: Request, *, now_ms: int) -> bool:
        """Note what a request says of the group's retry topic; tell whether to answer it.

        Who is in a group, and who has locked a queue, concerns clusters whose own consumers share
        queues without the engine.
        """
        if request.what == "forgotten":
            self._retries.forgotten(request.group, now_ms=now_ms)
            return False
        if request.what in ("members", "unlock"):
            return False
        self._retries.note(request.group, request.topic)
        if request.what == "retry":
            self._retries.want(request.group, request.topic)
        return True

    def asked_queues(self, request: Request, route: Route) -> list[MessageQueue]:
        """Return the partitions that a request for offsets means, as queues."""
        partitions = asked_partitions(request, route, self._cluster)
        return [MessageQueue(request.topic, self._cluster, number) for number in partitions]

    def answers(
        self, route: Route, wanted: Sequence[tuple[Request, list[MessageQueue]]]
    ) -> list[Answer] | None:
        """Look offsets up; all requests share the bounds, each has its group's commits."""
        numbers = [[queue.queue_id for queue in queues] for _, queues in wanted]
        lookups = self._look_up(route, wanted, numbers)
        # Only now it is certain that all look-ups were of one identity of the topic.
        if self._data.identity(route.topic) != route.identity:
            return None
        return [
            answer(request, route.identity, self._cluster, partitions, lookup)
            for (request, _), partitions, lookup in zip(wanted, numbers, lookups, strict=True)
        ]

    def _look_up(
        self,
        route: Route,
        wanted: Sequence[tuple[Request, list[MessageQueue]]],
        numbers: Sequence[list[int]],
    ) -> list[OffsetLookup]:
        asked = {partition for partitions in numbers for partition in partitions}
        leaders = {
            number: int(leader)
            for broker in route.brokers
            for number, leader in enumerate(broker.leaders or ())
            if leader is not None and number in asked
        }
        timestamps = sorted(
            {
                request.consume_timestamp_ms
                for request, _ in wanted
                if request.consume_timestamp_ms is not None
            }
        )
        bounds, for_times = self._data.bounds(route.topic, leaders, timestamps)
        return [
            OffsetLookup(
                bounds.earliest,
                bounds.latest,
                for_times.get(request.consume_timestamp_ms or 0, {}),
                self._data.committed(request.group, route.topic, partitions),
            )
            for (request, _), partitions in zip(wanted, numbers, strict=True)
        ]

    def work(self, *, now_ms: int) -> None:
        """Collect what became of retry topics, and start what is due; returns at once."""
        self._retries.work(now_ms=now_ms)
