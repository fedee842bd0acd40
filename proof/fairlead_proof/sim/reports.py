"""What stands in the log of how far each queue was processed, and from which offset on it was read.

A successor must not start below what the engine had read of it, nor above what was processed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson
from fairlead_client.model import Queue

from fairlead.wire.raw import RawRecord

__all__ = ["Report", "Reports"]

PROGRESS = b'{"v":1,"kind":"progress"'
RELEASE = b'{"v":1,"kind":"release"'
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Report:
    """A position that somebody reported, and where it stands in the log."""

    suffix: str
    offset: int
    epoch: Pair
    position: Pair
    incarnation: str


@dataclass(slots=True)
class Reports:
    """Positions by queue, and releases by whose they are.

    ``counts``: whether what is reported of a queue under an epoch is of the queue's present life,
    and can be heard.
    """

    counts: Callable[[Queue, Pair], bool]
    _queues: dict[Queue, list[Report]] = field(default_factory=dict)
    _gone: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _releases: dict[tuple[Queue, str, Pair], Pair] = field(default_factory=dict)

    def appended_heartbeats(self, record: RawRecord) -> None:
        """Take note of progress."""
        value = record.value
        if value is None or not value.startswith(PROGRESS):
            return
        read = orjson.loads(value)
        incarnation = read["incarnation"]
        for entry in read["queues"]:
            queue, epoch = Queue(*entry["queue"]), _pair(entry["epoch"])
            report = Report(
                "heartbeats", record.offset, epoch, _pair(entry["position"]), incarnation
            )
            self._queues.setdefault(queue, []).append(report)

    def appended_releases(self, record: RawRecord) -> tuple[Queue, Pair] | None:
        """Take note of a release; return whose it is if it has a position."""
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
        report = Report("releases", record.offset, epoch, position, read["incarnation"])
        self._queues.setdefault(queue, []).append(report)
        return queue, epoch

    def forget(self, queue: Queue) -> None:
        """Positions of a queue mean nothing any more, or are forgotten with good reason."""
        self._queues.pop(queue, None)
        for key in [key for key in self._releases if key[0] == queue]:
            del self._releases[key]

    def gone(self, incarnation: str, ends: Mapping[str, int]) -> None:
        """An incarnation was taken for gone by these offsets: what it says later is not heard."""
        self._gone.setdefault(incarnation, ends)

    def known(self, queue: Queue, ends: Mapping[str, int]) -> Pair:
        """Return the greatest position of a queue that was reported, and heard, up to here."""
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
