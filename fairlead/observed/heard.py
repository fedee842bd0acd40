"""What the members of a group said of late, and what bridges know of its queues.

Decides which position counts: the greatest of those told by progress, by a release, by a bridge (as
what was committed) and by an operator's reset, of the present life of the topic. How long messages
wait follows from when a queue's end was first told to be beyond the position.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from fairlead.core.model import MemberKey, MessageQueue, Position
from fairlead.core.records import Heartbeat, OffsetsKnown, Progress, Record, Release, Reset
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["Heard", "Place", "ToldBy", "hear"]

ToldBy = Literal["progress", "release", "committed", "reset"]
"""Who said a position: a member, or the group in the data plane, or an operator."""

_SAMPLES_MAX: Final = 1_000
"""Of the ends of one queue; those between are left out."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a group is in one queue.

    Attributes:
        position: where a new owner would start; None: nobody has said.
        told_by: who said so.
        end: the next offset to be written; None: nobody has said.
        asked: position and end are the data cluster's own; else each is as old as whoever told it.
        lag_ms: for how long the oldest message has waited; None: that is not known.
        lag_ms_at_least: it may have waited longer.
    """

    position: Position | None = None
    told_by: ToldBy | None = None
    end: int | None = None
    earliest: int | None = None
    lag_ms: int | None = None
    lag_ms_at_least: bool = False
    asked: bool = False

    @property
    def end_is_older(self) -> bool:
        """Whether the position was told later than the end: how much there is beyond is unknown."""
        if self.asked or self.position is None or self.end is None:
            return False
        return self.position.offset > self.end

    @property
    def lag(self) -> int | None:
        """How many messages are left; None: position or end is not known, or the end is older."""
        if self.position is None or self.end is None or self.end_is_older:
            return None
        return max(self.end - max(self.position.offset, self.earliest or 0), 0)


@dataclass(slots=True)
class _Told:
    """What was said of one queue in one life of its topic, or in one that was not told."""

    position: tuple[Position, ToldBy] | None = None
    earliest: int | None = None
    ends: list[tuple[int, int]] = field(default_factory=list)
    """(when it was told, the end), both rising."""

    def take_position(self, position: Position, by: ToldBy) -> None:
        """Keep the greatest."""
        if self.position is None or self.position[0] < position:
            self.position = (position, by)

    def take_end(self, at_ms: int, end: int) -> None:
        """Keep an end that is beyond the last one."""
        if not self.ends or end > self.ends[-1][1]:
            self.ends.append((at_ms, end))
            if len(self.ends) > _SAMPLES_MAX:
                # What is far back is needed less exactly.
                del self.ends[1 : _SAMPLES_MAX // 2 : 2]


@dataclass(slots=True)
class Heard:
    """What was said.

    ``beats``: each member's newest heartbeat, and when it was appended. ``since``: since when it
    heartbeats without a break of a lease.
    """

    beats: dict[MemberKey, tuple[Heartbeat, int]] = field(default_factory=dict)
    since: dict[MemberKey, int] = field(default_factory=dict)
    told: dict[MessageQueue, dict[str | None, _Told]] = field(default_factory=dict)

    def place(self, queue: MessageQueue, identity: str | None, now_ms: int) -> Place:
        """Return how far the group is in a queue.

        Args:
            queue: which.
            identity: the present life of its topic; None: it is not known, so every life counts.
            now_ms: up to when messages wait.
        """
        said = [
            told
            for life, told in self.told.get(queue, {}).items()
            if identity is None or life in (None, identity)
        ]
        best = max((told.position for told in said if told.position), default=None)
        ends = sorted(sample for told in said for sample in told.ends)
        end = max((end for _, end in ends), default=None)
        earliest = max((told.earliest for told in said if told.earliest is not None), default=None)
        if best is None:
            return Place(end=end, earliest=earliest)
        position, by = best
        found = Place(position, by, end, earliest)
        if not found.lag:
            return found if found.lag is None else Place(position, by, end, earliest, 0)
        beyond = next(index for index, (_, each) in enumerate(ends) if each > position.offset)
        lag_ms = max(now_ms - ends[beyond][0], 0)
        return Place(position, by, end, earliest, lag_ms, lag_ms_at_least=beyond == 0)

    def of(self, queue: MessageQueue, identity: str | None) -> _Told:
        """Return what was said of a queue in a life of its topic, to be added to."""
        return self.told.setdefault(queue, {}).setdefault(identity, _Told())


def hear(group: str, rows: Mapping[str, Iterable[RawRecord]], shards: int) -> Heard:
    """Return what was said of a group.

    Args:
        group: its name.
        rows: suffix of a topic (heartbeats, releases, control, offsets) -> records, in order within
            each partition; those of other groups do no harm.
        shards: partitions of heartbeats.
    """
    heard, limits = Heard(), WireLimits(shards)
    key = group.encode()
    for suffix in ("heartbeats", "releases"):
        for row in rows.get(suffix, ()):
            if row.key == key and row.value is not None:
                _take(heard, _read(suffix, row, limits), row.append_ms)
    for row in rows.get("control", ()):
        record = None if row.value is None else _read("control", row, limits)
        if isinstance(record, Reset) and record.group == group:
            told = heard.of(record.queue, record.identity)
            told.take_position(Position(row.offset + 1, record.offset), "reset")
    for row in rows.get("offsets", ()):
        if key in (row.key or b"") and row.value is not None:
            record = _read("offsets", row, limits)
            if isinstance(record, OffsetsKnown) and record.group == group:
                _take(heard, record, row.append_ms)
    return heard


def _read(suffix: str, row: RawRecord, limits: WireLimits) -> Record | None:
    try:
        return decode(suffix, row, limits)
    except WireError:
        # The engine refuses it as well.
        return None


def _take(heard: Heard, record: Record | None, at_ms: int) -> None:
    match record:
        case Heartbeat():
            known = heard.beats.get(record.member)
            if known is None or at_ms - known[1] > known[0].profile.lease_ms:
                heard.since[record.member] = at_ms
            if known is None or known[0].sequence <= record.sequence:
                heard.beats[record.member] = (record, at_ms)
        case Progress():
            for each in record.queues:
                told = heard.of(each.queue, each.identity)
                told.take_position(each.position, "progress")
                if each.end is not None:
                    told.take_end(at_ms, each.end)
        case Release():
            if record.position is not None:
                told = heard.of(record.queue, record.identity)
                told.take_position(record.position, "release")
        case OffsetsKnown():
            for known_queue in record.queues:
                told = heard.of(known_queue.queue, record.identity)
                if known_queue.committed is not None:
                    told.take_position(known_queue.committed, "committed")
                told.earliest = known_queue.min_offset
                told.take_end(at_ms, known_queue.max_offset)
