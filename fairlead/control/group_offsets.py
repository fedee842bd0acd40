"""How far a group is in each queue, and what each queue holds: read, and nothing else.

Decides which position counts: the greatest of what the group committed in the data plane, of what
its members told as progress or released, and of the resets that stand in the control topic.
Positions are pairs (a reset wins over everything older), and those of another life of a topic do
not count.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from fairlead.bridges.kafka.committed import read_committed
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.snapshot import TopicSeen
from fairlead.control.known_groups import named_groups, unknown_group
from fairlead.control.strange_queues import routes_told
from fairlead.core.model import MessageQueue, Position, Route
from fairlead.core.ordering import queue_order
from fairlead.core.records import Heartbeat, Progress, Record, Release, Reset, RuleSet
from fairlead.core.topics.routes import readable_queues
from fairlead.errors import EnvironmentMissingError, UsageError
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["GroupOffsets", "QueuePlace"]

From = Literal["committed", "progress", "release", "reset"]
"""Who said a position: the group in the data plane, a member that works or stopped, an operator."""

_HEARD_MS: Final = LEASE_MS_MAX
"""Heartbeats, progress and releases are read from so long before the newest heartbeat."""
_NEW_GROUP: Final = "A group that is meant to begin is reset with --new-group."


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """One queue: what it holds, and where the group is in it.

    Attributes:
        queue: which.
        identity: the life of its topic that all this is of.
        earliest: the first offset that is kept.
        latest: the next one to be written.
        position: where a new owner would start; None: nobody has said anything.
        told_by: who said so.
        for_times: time -> the first offset whose message is not older, −1: there is none.
        committed: what the group has committed in this life of the topic; None: nothing.
    """

    queue: MessageQueue
    identity: str
    earliest: int
    latest: int
    position: Position | None = None
    told_by: From | None = None
    for_times: Mapping[int, int] = field(default_factory=dict)
    committed: Position | None = None

    @property
    def lag(self) -> int | None:
        """How many messages are left from the position on, of those that are kept."""
        if self.position is None:
            return None
        return self.latest - min(max(self.position.offset, self.earliest), self.latest)

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "queue": [*self.queue],
            "position": None if self.position is None else [*self.position],
            "why": self.told_by,
            "earliest": self.earliest,
            "end": self.latest,
            "end_is_older": False,
            "lag_messages": self.lag,
            "identity": self.identity,
        }


@dataclass(slots=True)
class _Told:
    """What Fairlead's topics say of one group; ``known``: they have a record of it."""

    known: bool = False
    topics: set[str] = field(default_factory=set)
    positions: dict[tuple[MessageQueue, str | None], tuple[Position, From]] = field(
        default_factory=dict
    )

    def note(self, queue: MessageQueue, identity: str | None, told: tuple[Position, From]) -> None:
        """Keep the greatest position of each life of a queue."""
        self.positions[queue, identity] = max(self.positions.get((queue, identity), told), told)


class GroupOffsets:
    """Reads the places of one group's queues, when it is asked."""

    def __init__(self, source: TopicSource, data: DataCluster, group: str) -> None:
        """Take Fairlead's topics, and the cluster with the messages."""
        self._source = source
        self._data = data
        self._group = group
        self._read: _Told | None = None

    def require_known(self) -> None:
        """Refuse a group that nobody has heard of: its name is mistyped, most likely.

        Raises:
            UsageError: no member, no rule, no reset and no commit is of it.
            EnvironmentMissingError: a cluster does not answer.
        """
        if self._told.known or self._committed_topics():
            return
        known = named_groups(self._source) | set(self._data.groups() or ())
        if self._group not in known:
            raise unknown_group(self._group, known, self._source.place, or_else=_NEW_GROUP)

    def topics(self) -> set[str]:
        """Return what a member subscribes to or the group has commits in, if a route tells of it.

        Raises:
            EnvironmentMissingError: a cluster does not answer.
        """
        wanted = self._told.topics | set(self._committed_topics())
        return {*self._routes(wanted)} if wanted else set()

    def places(
        self, topics: Sequence[str], queues: Collection[MessageQueue], times: Sequence[int]
    ) -> list[QueuePlace]:
        """Return the queues asked for, in RocketMQ's order.

        Args:
            topics: all queues of these; if neither topics nor queues are named, of every topic that
                a member subscribes to or that the group has commits in.
            queues: and these.
            times: those whose offsets are looked up too, in milliseconds.

        Raises:
            UsageError: a topic or queue is unknown, or nothing is known of the group.
            EnvironmentMissingError: a cluster does not answer, or not for one of the queues.
        """
        told = self._told
        named = {*topics, *(queue.topic for queue in queues)}
        wanted = named or told.topics | set(self._committed_topics())
        if not wanted:
            raise UsageError(
                f"{self._group}: no member has heartbeat and nothing was committed.",
                remedy="Name a topic (--topic).",
            )
        routes = self._routes(wanted)
        if not named:
            # A topic that was read once and is gone is no reason to refuse the others.
            wanted &= routes.keys()
        found: list[QueuePlace] = []
        for topic in sorted(wanted):
            if topic not in routes:
                raise UsageError(
                    f"{topic}: no bridge has published a route of it.",
                    remedy="Check its name, and that a bridge runs and watches it (--topics).",
                )
            picked = None if topic in topics or not named else queues
            found += self._of_topic(routes[topic], picked, times, told)
        return sorted(found, key=lambda place: queue_order(place.queue))

    @property
    def _told(self) -> _Told:
        """What the topics said when they were asked first."""
        if self._read is None:
            self._read = _told(self._source, self._group)
        return self._read

    def _routes(self, topics: Collection[str]) -> dict[str, Route]:
        rows = self._source.rows("routes", self._source.partitions_of("routes"))
        return routes_told(rows, topics)

    def _committed_topics(self) -> Iterable[str]:
        found = self._data.committed_topics(self._group)
        if found is None:
            raise self._data.unanswered(f"it did not say what {self._group} committed")
        return found

    def _of_topic(
        self,
        route: Route,
        picked: Collection[MessageQueue] | None,
        times: Sequence[int],
        told: _Told,
    ) -> Iterator[QueuePlace]:
        topic, readable = route.topic, readable_queues(route)
        asked = readable if picked is None else [each for each in picked if each.topic == topic]
        for queue in asked:
            if queue not in readable:
                raise _no_such_queue(queue, readable)
        partitions = [queue.queue_id for queue in asked]
        bounds, for_times = self._data.bounds(topic, self._leaders(route, partitions), times)
        committed = self._data.committed(self._group, topic, partitions)
        for queue in asked:
            number = queue.queue_id
            earliest, latest = bounds.earliest.get(number), bounds.latest.get(number)
            known = {time: for_times[time][number] for time in times if number in for_times[time]}
            if earliest is None or latest is None or number not in committed:
                raise self._data.unanswered(
                    f"it did not say the offsets of {'/'.join(map(str, queue))}"
                )
            if len(known) < len(times):
                raise self._data.unanswered(
                    f"it did not say the offset of {'/'.join(map(str, queue))} at that time"
                )
            said = [
                told.positions[queue, identity]
                for identity in (None, route.identity)
                if (queue, identity) in told.positions
            ]
            position = read_committed(committed[number], route.identity)
            if position is not None:
                said.append((position, "committed"))
            best, by = max(said, default=(None, None))
            yield QueuePlace(queue, route.identity, earliest, latest, best, by, known, position)

    def _leaders(self, route: Route, partitions: Collection[int]) -> dict[int, int]:
        """Return the leader of each partition that has one, in the life that the route tells."""
        (look,) = self._data.look([route.topic]).looks
        if not isinstance(look, TopicSeen):
            raise self._data.unanswered(f"it did not say where the partitions of {route.topic} are")
        if look.identity != route.identity:
            raise EnvironmentMissingError(
                f"{route.topic}: the data cluster has it as {look.identity}, its route says "
                f"{route.identity}.",
                remedy="If it was made anew, wait for the bridge; else check --data-bootstrap.",
            )
        leaders = {each: look.leaders[each] for each in partitions if each < len(look.leaders)}
        return {number: leader for number, leader in leaders.items() if leader is not None}


def _no_such_queue(queue: MessageQueue, readable: Sequence[MessageQueue]) -> UsageError:
    brokers = [each.broker_name for each in readable]
    known = [f"{name}/0 to {brokers.count(name) - 1}" for name in dict.fromkeys(brokers)]
    return UsageError(
        f"{'/'.join(map(str, queue))}: no route has this queue.",
        remedy=f"{queue.topic} has {', '.join(known) or 'no queues'}.",
    )


def _told(source: TopicSource, group: str) -> _Told:
    """Read what members have said of late, and the resets."""
    shards = source.partitions.shards
    shard, limits = partition_of_group(group, shards), WireLimits(shards)
    told = _Told()
    newest_ms = source.newest_ms("heartbeats", shard)
    since_ms = 0 if newest_ms is None else max(newest_ms - _HEARD_MS, 0)
    for row in source.rows("heartbeats", [shard], since_ms):
        read = _decoded("heartbeats", row, limits) if row.key == group.encode() else None
        told.known |= read is not None
        match read:
            case Heartbeat():
                told.topics.update(each.topic for each in read.subscriptions)
            case Progress():
                for each in read.queues:
                    told.note(each.queue, each.identity, (each.position, "progress"))
    for row in source.rows("releases", [shard], since_ms):
        read = _decoded("releases", row, limits) if row.key == group.encode() else None
        if isinstance(read, Release) and read.position is not None:
            told.note(read.queue, read.identity, (read.position, "release"))
    for row in source.rows("control", [shard]):
        read = _decoded("control", row, limits)
        told.known |= isinstance(read, RuleSet | Reset) and read.group == group
        if isinstance(read, Reset) and read.group == group:
            position = Position(row.offset + 1, read.offset)
            told.note(read.queue, read.identity, (position, "reset"))
    return told


def _decoded(suffix: str, row: RawRecord, limits: WireLimits) -> Record | None:
    """Return what a record says; None: the engine refuses it as well."""
    try:
        return decode(suffix, row, limits)
    except WireError:
        return None
