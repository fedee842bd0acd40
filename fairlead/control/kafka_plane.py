"""A Kafka cluster as commands ask it."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fairlead.bridges.kafka.committed import read_committed
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.snapshot import TopicAbsent, TopicSeen
from fairlead.control.data_plane import QueueLook
from fairlead.core.model import MessageQueue, Route
from fairlead.errors import EnvironmentMissingError, Way

__all__ = ["ElsewhereError", "KafkaPlane"]


class ElsewhereError(EnvironmentMissingError):
    """The messages of a topic are on another cluster than the one that was asked."""

    def __init__(self, route: Route) -> None:
        """Describe it: a bridge of Kafka tells leaders with a route, a bridge of RocketMQ none."""
        self.on_rocketmq = all(each.leaders is None for each in route.brokers)
        place = "RocketMQ (--namesrv)" if self.on_rocketmq else "another Kafka (--data-bootstrap)"
        command = "Use `fairlead offsets` with the option that names the cluster."
        super().__init__(
            f"{route.topic}: the data cluster has no topic of this name.",
            remedy=Way(f"Its messages are elsewhere: name {place}.", command),
        )


class KafkaPlane:
    """Look-ups on one Kafka cluster; positions count under the topic's present identity."""

    def __init__(self, data: DataCluster) -> None:
        self.data = data

    def groups(self) -> list[str] | None:
        """Return the names of Kafka's own groups; None if that failed."""
        return self.data.groups()

    def committed_topics(self, group: str) -> Iterable[str] | None:
        """Return the topics in which a group has committed anything; None if that failed."""
        return self.data.committed_topics(group)

    def unanswered(self, says: str) -> EnvironmentMissingError:
        """Return the error of a question that the cluster did not answer."""
        return self.data.unanswered(says)

    def look(
        self, group: str, route: Route, queues: Sequence[MessageQueue], times: Sequence[int]
    ) -> Mapping[MessageQueue, QueueLook]:
        """Return what these queues of one route hold, and where the group is in them.

        Raises:
            ElsewhereError: the cluster has no topic of that name.
            EnvironmentMissingError: the cluster does not say it of each queue, or it has another
                topic of that name.
        """
        topic, partitions = route.topic, [queue.queue_id for queue in queues]
        bounds, for_times = self.data.bounds(topic, self._leaders(route, partitions), times)
        committed = self.data.committed(group, topic, partitions)
        looks: dict[MessageQueue, QueueLook] = {}
        for queue in queues:
            number = queue.queue_id
            earliest, latest = bounds.earliest.get(number), bounds.latest.get(number)
            known = {time: for_times[time][number] for time in times if number in for_times[time]}
            if earliest is None or latest is None or number not in committed:
                raise self.unanswered(f"it did not say the offsets of {'/'.join(map(str, queue))}")
            if len(known) < len(times):
                raise self.unanswered(
                    f"it did not say the offset of {'/'.join(map(str, queue))} at that time"
                )
            own = read_committed(committed[number], route.identity)
            looks[queue] = QueueLook(earliest, latest, own, known)
        return looks

    def _leaders(self, route: Route, partitions: Collection[int]) -> dict[int, int]:
        """Return the leader of each partition that has one."""
        (look,) = self.data.look_at([route.topic]).looks
        if isinstance(look, TopicAbsent):
            raise ElsewhereError(route)
        if not isinstance(look, TopicSeen):
            raise self.unanswered(f"it did not say where the partitions of {route.topic} are")
        if look.identity != route.identity:
            raise EnvironmentMissingError(
                f"{route.topic}: the data cluster has it as {look.identity}, its route says "
                f"{route.identity}.",
                remedy="If it was recreated, wait for the bridge; else check --data-bootstrap.",
            )
        leaders = {each: look.leaders[each] for each in partitions if each < len(look.leaders)}
        return {number: leader for number, leader in leaders.items() if leader is not None}
