"""Which partitions a fetch names: those that have changed since the one before.

kafka-python compares every partition with its last state, field by field and by the fields' names,
for each fetch. With 81 partitions that was a fifth of a process that follows topics at rest.
"""

from collections import OrderedDict
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, Final

from kafka import TopicPartition
from kafka.consumer.fetcher import FetchRequestData, FetchSessionHandler

__all__ = ["FetchSessions"]

_ASKED: Final = attrgetter(
    "fetch_offset", "current_leader_epoch", "last_fetched_epoch", "partition_max_bytes"
)
"""All that kafka-python says of a partition in a fetch, beside its number."""


class FetchSessions(dict[Any, FetchSessionHandler]):
    """The sessions of a consumer, by broker; takes the place of kafka-python's own dictionary."""

    def __setitem__(self, node_id: Any, session: FetchSessionHandler) -> None:
        """Take a session of ours instead of a new one of the library's."""
        del session
        super().__setitem__(node_id, _FetchSession(node_id))


class _FetchSession(FetchSessionHandler):  # type: ignore[misc]  # kafka-python has no types
    session_partitions: Mapping[TopicPartition, Any]

    def build_next(self, next_partitions: "OrderedDict[TopicPartition, Any]") -> FetchRequestData:
        """Return what the next fetch says beside what the broker remembers."""
        if self.next_metadata.is_full:
            return super().build_next(next_partitions)
        known, self.session_partitions = self.session_partitions, next_partitions
        changed = OrderedDict(
            (place, each)
            for place, each in next_partitions.items()
            if place not in known or _ASKED(known[place]) != _ASKED(each)
        )
        return FetchRequestData(changed, known.keys() - next_partitions.keys(), self.next_metadata)
