"""A native consumer group on the cluster with the messages: its members and its positions.

A position counts if the group committed it under the topic's present identity.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import orjson

from fairlead.bridges.kafka.committed import Committed, read_committed
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.native_group import NativeGroup
from fairlead.control.queue_place import QueuePlace
from fairlead.core.model import MessageQueue, Position

__all__ = ["NativeConsumers"]

_PATIENCE_S: Final = 5.0
_PAUSE_S: Final = 0.5

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class NativeConsumers:
    """One group of native consumers; every method asks the cluster."""

    data: DataCluster
    group: str

    def read_members(self) -> NativeGroup:
        """Return its present members.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        members = _answered(lambda: self.data.native_group(self.group))
        if members is None:
            raise self.data.unanswered(f"it did not say who is in {self.group}")
        return members

    def topics(self) -> list[str]:
        """Return the topics in which it has committed anything.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        topics = _answered(lambda: self.data.committed_topics(self.group))
        if topics is None:
            raise self.data.unanswered(f"it did not say what {self.group} committed")
        return topics

    def positions(self, places: Iterable[QueuePlace]) -> dict[MessageQueue, int]:
        """Return its position in each queue; a queue without a commit has no entry.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        positions: dict[MessageQueue, int] = {}
        for topic, of_topic in _by_topic(places).items():
            partitions = [place.queue.queue_id for place in of_topic]
            committed = self.data.committed(self.group, topic, partitions)
            if not committed.keys() >= {*partitions}:
                raise self.data.unanswered(f"it did not say what {self.group} committed in {topic}")
            for place in of_topic:
                position = read_committed(committed[place.queue.queue_id], place.identity)
                if position is not None:
                    positions[place.queue] = position.offset
        return positions

    def commit(
        self, positions: Mapping[MessageQueue, tuple[QueuePlace, Position]]
    ) -> dict[MessageQueue, str | None]:
        """Commit where it shall go on, with the reset and the topic's identity beside it.

        Kafka refuses this while the group has members.

        Returns:
            Per queue the reason of a refusal; None: the commit stands.
        """
        refusals: dict[MessageQueue, str | None] = {}
        for topic, of_topic in _by_topic(place for place, _ in positions.values()).items():
            wanted = {
                place.queue.queue_id: Committed(
                    positions[place.queue][1].offset, _metadata(*positions[place.queue])
                )
                for place in of_topic
            }
            refused = self.data.commit(self.group, topic, wanted)
            refusals.update({place.queue: refused[place.queue.queue_id] for place in of_topic})
        return refusals


def _answered(ask: Callable[[], _Found | None]) -> _Found | None:
    """Ask again for some seconds: a cluster that is asked first has to create its coordinator."""
    over_s = time.monotonic() + _PATIENCE_S
    while (answer := ask()) is None and time.monotonic() < over_s:
        time.sleep(_PAUSE_S)
    return answer


def _by_topic(places: Iterable[QueuePlace]) -> dict[str, Sequence[QueuePlace]]:
    by_topic: dict[str, list[QueuePlace]] = {}
    for place in places:
        by_topic.setdefault(place.queue.topic, []).append(place)
    return dict(by_topic)


def _metadata(place: QueuePlace, position: Position) -> str:
    """Return what Fairlead's clients write beside an offset; it means nothing to others."""
    body = {"v": 1, "reset": position.reset, "identity": place.identity}
    return orjson.dumps(body).decode()
