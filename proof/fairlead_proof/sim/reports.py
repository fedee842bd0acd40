"""The reported positions of each queue in the log.

A successor must start neither below the position that the engine had read, nor above the processed
messages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson
from fairlead_client.model import Queue

from fairlead.wire.raw import RawRecord

__all__ = ["LoggedPosition", "Reports"]

PROGRESS = b'{"v":1,"kind":"progress"'
RELEASE = b'{"v":1,"kind":"release"'
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LoggedPosition:
    """A reported position, and its place in the log."""

    suffix: str
    offset: int
    epoch: Pair
    position: Pair
    incarnation: str


@dataclass(slots=True)
class Reports:
    """Positions by queue, and releases by holder.

    ``counts``: tells whether reports of a queue under an epoch are of the present identity, and
    whether the engine accepts them.
    """

    counts: Callable[[Queue, Pair], bool]
    _queues: dict[Queue, list[LoggedPosition]] = field(default_factory=dict)
    _gone: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _releases: dict[tuple[Queue, str, Pair], Pair] = field(default_factory=dict)

    def appended_heartbeats(self, record: RawRecord) -> None:
        """Note progress."""
        value = record.value
        if value is None or not value.startswith(PROGRESS):
            return
        read = orjson.loads(value)
        incarnation = read["incarnation"]
        for entry in read["queues"]:
            queue, epoch = Queue(*entry["queue"]), _pair(entry["epoch"])
            report = LoggedPosition(
                "heartbeats", record.offset, epoch, _pair(entry["position"]), incarnation
            )
            self._queues.setdefault(queue, []).append(report)

    def appended_releases(self, record: RawRecord) -> tuple[Queue, Pair] | None:
        """Note a release; return its queue and epoch if it has a position."""
        if record.value is None or not record.value.startswith(RELEASE):
            return None
        read = orjson.loads(record.value)
        if read["position"] is None:
            return None
        queue, epoch, position = (
            Queue(*read["queue"]),
            _pair(read["epoch"]),
            _pair(read["position"]),
        )
        self._releases[queue, read["incarnation"], epoch] = position
        report = LoggedPosition("releases", record.offset, epoch, position, read["incarnation"])
        self._queues.setdefault(queue, []).append(report)
        return queue, epoch

    def forget(self, queue: Queue) -> None:
        """Forget the positions of a queue."""
        self._queues.pop(queue, None)
        for key in [key for key in self._releases if key[0] == queue]:
            del self._releases[key]

    def gone(self, incarnation: str, ends: Mapping[str, int]) -> None:
        """Ignore an incarnation from these offsets on, where the engine called it dead."""
        self._gone.setdefault(incarnation, ends)

    def known(self, queue: Queue, ends: Mapping[str, int]) -> Pair:
        """Return the greatest position of a queue that the engine accepted, up to these offsets."""
        known = [
            report.position
            for report in self._queues.get(queue, ())
            if self.counts(queue, report.epoch)
            and report.offset < ends[report.suffix]
            and report.offset < self._gone.get(report.incarnation, ends)[report.suffix]
        ]
        return max(known, default=(0, 0))

    def released(self, queue: Queue, after: list[tuple[str, Pair]]) -> Pair:
        """Return the greatest position at which one of these holders released a queue."""
        known = [self._releases.get((queue, *holder)) for holder in after]
        return max((position for position in known if position is not None), default=(0, 0))


def _pair(value: list[int]) -> Pair:
    return (value[0], value[1])
