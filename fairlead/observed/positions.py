"""How far one group is with each queue: position, end, and since when it is behind.

Decides which position counts: the greatest that progress, a release, a bridge (as a commit) or an
operator's reset told of the topic's present identity. How long messages wait is an estimate: the
end counts as growing evenly between two samples.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.core.records import Reset
from fairlead.observed.end_history import EndHistory, Reached
from fairlead.observed.topic_lag import Behind, Lag, TopicLag
from fairlead.wire.quick_fields import epoch_of, integer_of, name_of, position_of, queue_of

__all__ = [
    "GroupPositions",
    "ObservedQueue",
    "PositionReport",
    "QueuePosition",
    "ToldBy",
    "progress_of",
]

ToldBy = Literal["progress", "release", "committed", "reset"]
"""Who told a position: a member, the group in the data plane, or an operator."""

_TOLD_WITHIN_MS: Final = 1_000
"""A client that has read everything tells a new end within about this time."""


_FORMER_MAX: Final = 8
_TELLERS: Final = ("committed", "progress", "release", "reset")
"""If two of these told the same position, the later one in this order is named."""


class PositionReport(NamedTuple):
    """What somebody told of a queue; None: not told. ``by``: who told the position."""

    queue: MessageQueue
    epoch: Epoch | None
    position: Position | None = None
    end: int | None = None
    identity: str | None = None
    idle_ms: int | None = None
    by: ToldBy = "progress"
    earliest: int | None = None


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """How far a group is in one queue.

    Attributes:
        position: where a new owner would start; None: nobody has told.
        told_by: who told the position.
        end: the offset of the next message; None: nobody has told.
        asked: position and end come from the data cluster itself; else they are as old as the
            records that told them.
        lag_ms: how long the oldest message has waited; None: unknown.
        lag_at_least: it may have waited longer.
    """

    position: Position | None = None
    told_by: ToldBy | None = None
    end: int | None = None
    earliest: int | None = None
    lag_ms: int | None = None
    lag_at_least: bool = False
    asked: bool = False

    @property
    def end_is_older(self) -> bool:
        """Whether the position is newer than the end, so that the lag is unknown."""
        if self.asked or self.position is None or self.end is None:
            return False
        return self.position.offset > self.end

    @property
    def lag(self) -> int | None:
        """How many messages are left; None: position or end is unknown, or the end is older."""
        if self.position is None or self.end is None or self.end_is_older:
            return None
        return max(self.end - max(self.position.offset, self.earliest or 0), 0)


def progress_of(body: Mapping[str, Any]) -> list[PositionReport]:
    """Return what a progress record says.

    Raises:
        ValueError, KeyError, TypeError: it is no progress record.
    """
    return [_report(entry) for entry in body["queues"]]


def _report(entry: Mapping[str, Any]) -> PositionReport:
    end, identity, idle_ms = entry.get("end"), entry.get("identity"), entry.get("idle_ms")
    return PositionReport(
        queue_of(entry["queue"]),
        epoch_of(entry["epoch"]),
        position_of(entry["position"]),
        None if end is None else integer_of(end),
        None if identity is None else name_of(identity),
        None if idle_ms is None else integer_of(idle_ms),
    )


@dataclass(slots=True)
class ObservedQueue:
    """One queue, from everything that records tell of it.

    Attributes:
        position: the greatest one of this identity of the topic.
        told_by: who told it.
        earliest: the first kept offset, as a bridge told it last.
        told_ms: when the newest record that told of the queue was appended.
        identity: the identity that the position belongs to; None: not told.
        identity_ms: when a record named that identity last.
        former: earlier identities; none of them comes back.
        epoch: the epoch of the newest progress.
        idle_ms: how long its owner had not tried to pull it, as the newest progress says.
        worked: the position of the newest progress.
        ends: where the end was, by progress.
        bounds: where the end was when a bridge was asked.
        topic: how far behind the group is in the topic; this queue is at ``slot``.
        confirmed: a bridge, an operator or the data cluster has told of it.
    """

    position: Position | None = None
    told_by: ToldBy | None = None
    earliest: int | None = None
    told_ms: int = 0
    identity: str | None = None
    identity_ms: int = 0
    former: tuple[str, ...] = ()
    epoch: Epoch | None = None
    idle_ms: int | None = None
    worked: Position | None = None
    ends: EndHistory = field(default_factory=EndHistory)
    bounds: EndHistory = field(default_factory=EndHistory)
    topic: TopicLag = field(default_factory=TopicLag)
    slot: int = -1
    confirmed: bool = False

    def apply_report(self, report: PositionReport, append_ms: int) -> bool:
        """Apply a position; tell whether it belongs to the newest identity of the topic."""
        if report.identity is not None and not self.is_of_this_identity(report.identity, append_ms):
            return False
        self.told_ms = max(self.told_ms, append_ms)
        if report.position is not None and self._is_further(report.position, report.by):
            self.position, self.told_by = report.position, report.by
            self.ends.forget_below(report.position.offset)
        return True

    def _is_further(self, position: Position, by: ToldBy) -> bool:
        if self.position is None or self.told_by is None:
            return True
        # Of equal positions the same one is named, whichever record is read first.
        known = self.position, _TELLERS.index(self.told_by)
        return (position, _TELLERS.index(by)) > known

    def apply_native(self, report: PositionReport, append_ms: int) -> None:
        """Apply the position of native consumers; in a released group only these count."""
        if self.apply_report(report, append_ms):
            self.position, self.told_by = report.position, report.by

    def apply_bounds(self, report: PositionReport, append_ms: int) -> None:
        """Apply the answer of a bridge."""
        if self.apply_report(report, append_ms) and report.end is not None:
            self.earliest = report.earliest
            self.bounds.add(append_ms, report.end)

    def apply_progress(self, report: PositionReport, append_ms: int) -> None:
        """Apply progress; it also tells the end, and whether the queue is pulled."""
        if report.end is not None and (
            report.identity is None or self.is_of_this_identity(report.identity, append_ms)
        ):
            self._take_end(report.end, append_ms)
        if not self.apply_report(report, append_ms):
            return
        if self.epoch is None or (report.epoch is not None and report.epoch >= self.epoch):
            self.epoch, self.idle_ms, self.worked = report.epoch, report.idle_ms, report.position

    def is_of_this_identity(self, identity: str, append_ms: int) -> bool:
        """Tell whether a record is of the newest identity; a newer one resets what is known."""
        if self.identity is not None and identity != self.identity:
            if append_ms < self.identity_ms or identity in self.former:
                return False
            self.former = (*self.former, self.identity)[-_FORMER_MAX:]
            self.position = self.worked = self.idle_ms = self.told_by = self.earliest = None
            self.ends, self.bounds = EndHistory(), EndHistory()
        self.identity = identity
        self.identity_ms = max(self.identity_ms, append_ms)
        return True

    def _take_end(self, end: int, append_ms: int) -> None:
        """Apply the end that a client saw.

        A client that has read everything keeps asking for more and tells a new end at once. So
        until shortly before, the end was still where the client's position was.
        """
        newest, at = self.ends.newest, self.worked
        still_ms = None
        if newest is not None and at is not None and at.offset >= newest[1]:
            still_ms = append_ms - _TOLD_WITHIN_MS
        self.ends.add(append_ms, end, still_ms=still_ms)

    def date(self, polled: EndHistory | None) -> None:
        """Compute how far behind the group is, after the position or the ends have changed."""
        self.topic.put(self.slot, self._behind(polled))

    def _behind(self, polled: EndHistory | None) -> Behind | None:
        end, at = self.end(polled), self.position
        if end is None or at is None:
            return None
        if at.offset > end:
            # The position is newer than the end: the lag is unknown.
            return None
        from_offset = max(at.offset, self.earliest or 0)
        if from_offset >= end:
            return Behind(0, None, earlier=False)
        known = [ends for ends in (self.ends, self.bounds, polled) if ends is not None and ends]
        reached = _best(filter(None, (ends.reached(from_offset) for ends in known)))
        since_ms = None if reached is None else reached.at_ms
        return Behind(end - from_offset, since_ms, reached is not None and reached.earlier)

    def lag(self, as_of_ms: int) -> Lag | None:
        """Return how far behind the group is; None: position or end is unknown."""
        behind = self.topic.at(self.slot) if self.slot >= 0 else None
        return None if behind is None else behind.lag(as_of_ms)

    def end(self, polled: EndHistory | None) -> int | None:
        """Return the greatest known end of this identity.

        A client that is held up fetches nothing and repeats the end that it saw last. So an end
        that it tells late is no newer than an end that the data cluster was asked for.
        """
        seen, asked = self.ends.newest, None if polled is None else polled.newest
        bounds = self.bounds.newest
        if bounds is not None and (seen is None or seen < bounds):
            # Both were asked for: the later answer counts.
            return max(each for each in (bounds, asked) if each is not None)[1]
        return max((each[1] for each in (seen, asked) if each is not None), default=None)


def _best(candidates: Iterable[Reached]) -> Reached | None:
    """Return what dates an offset best: the closest samples, or the earliest bound."""
    best: Reached | None = None
    for each in candidates:
        if best is None or _rank(each) < _rank(best):
            best = each
    return best


def _rank(reached: Reached) -> tuple[bool, int]:
    return reached.earlier, reached.at_ms if reached.earlier else reached.within_ms


@dataclass(slots=True)
class GroupPositions:
    """The queues of one group with a known position or end.

    ``polled``: the ends that the data cluster was asked for, of the queues of all groups.
    ``identities``: topic -> its identity by its route, and when a bridge told it. ``topics``: how
    far behind the group is in each topic, queue by queue.
    """

    polled: Mapping[MessageQueue, EndHistory]
    identities: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    queues: dict[MessageQueue, ObservedQueue] = field(default_factory=dict)
    topics: dict[str, TopicLag] = field(default_factory=dict)

    def place(self, queue: MessageQueue, now_ms: int) -> QueuePosition:
        """Return how far the group is in a queue; ``now_ms``: until when messages wait."""
        measure = self.queues.get(queue)
        if measure is None:
            return QueuePosition()
        lag = measure.lag(now_ms)
        return QueuePosition(
            measure.position,
            measure.told_by,
            measure.end(self.polled.get(queue)),
            measure.earliest,
            None if lag is None else lag.ms,
            lag_at_least=lag is not None and lag.at_least,
        )

    def apply_report(self, report: PositionReport, append_ms: int) -> None:
        """Apply a position in a queue."""
        observed = self._of(report.queue)
        observed.apply_report(report, append_ms)
        observed.date(self.polled.get(report.queue))

    def apply_native(self, report: PositionReport, append_ms: int) -> None:
        """Apply the position of the native consumers of a released group."""
        observed = self._of(report.queue)
        observed.confirmed = True
        observed.apply_native(report, append_ms)
        observed.date(self.polled.get(report.queue))

    def apply_bounds(self, report: PositionReport, append_ms: int) -> None:
        """Apply the answer of a bridge."""
        observed = self._of(report.queue)
        observed.confirmed = True
        observed.apply_bounds(report, append_ms)
        observed.date(self.polled.get(report.queue))

    def apply_progress(self, report: PositionReport, append_ms: int) -> None:
        """Apply how far a member is with a queue that it works on."""
        observed = self._of(report.queue)
        observed.apply_progress(report, append_ms)
        observed.date(self.polled.get(report.queue))

    def apply_reset(self, reset: Reset, offset: int, append_ms: int) -> None:
        """Apply an operator's reset of a queue; an offline group starts there.

        ``offset``: of its control record. The engine never follows one for another identity.
        """
        observed = self._of(reset.queue)
        observed.confirmed = True
        if None not in (observed.identity, reset.identity) and observed.identity != reset.identity:
            return
        position = Position(offset + 1, reset.offset)
        self.apply_report(
            PositionReport(reset.queue, None, position, identity=reset.identity, by="reset"),
            append_ms,
        )

    def apply_identities(self, identities: Mapping[str, str], at_ms: int) -> None:
        """Apply the identities of topics: positions of other identities no longer count."""
        for queue, measure in self.queues.items():
            identity = identities.get(queue.topic)
            if identity is not None and measure.identity is not None:
                measure.is_of_this_identity(identity, at_ms)

    def _of(self, queue: MessageQueue) -> ObservedQueue:
        """Return what is known of a queue, to be changed."""
        observed = self.queues.get(queue)
        if observed is None:
            topic = self.topics.setdefault(queue.topic, TopicLag())
            identity, told_ms = self.identities.get(queue.topic, (None, 0))
            observed = self.queues[queue] = ObservedQueue(
                topic=topic, slot=topic.new_place(), identity=identity, identity_ms=told_ms
            )
        return observed

    def date(self, polled: Container[MessageQueue]) -> bool:
        """Compute the lag of these queues again; tell whether the group has any of them."""
        dated = [(queue, each) for queue, each in self.queues.items() if queue in polled]
        for queue, measure in dated:
            measure.date(self.polled.get(queue))
        return bool(dated)

    def behind(self, topic: str) -> Behind | None:
        """Return how far behind a topic is: all messages, and since when the furthest queue is."""
        lag = self.topics.get(topic)
        return None if lag is None else lag.all()

    def is_behind(self) -> bool:
        """Tell whether the group is known to have unread messages."""
        return any(behind.messages for each in self.topics.values() if (behind := each.all()))

    def forget_queues(self, queues: Iterable[MessageQueue]) -> None:
        """Forget some queues, with everything about them."""
        for queue in queues:
            measure = self.queues.pop(queue, None)
            if measure is not None:
                measure.topic.free(measure.slot)
        left = {queue.topic for queue in self.queues}
        self.topics = {name: each for name, each in self.topics.items() if name in left}

    def forget(self, topics: Iterable[str], oldest_ms: int) -> None:
        """Forget other topics than these, if nobody has told anything of them since this time."""
        kept = {*topics}
        kept.update(
            queue.topic for queue, measure in self.queues.items() if measure.told_ms >= oldest_ms
        )
        if kept.issuperset(self.topics):
            return
        self.topics = {name: each for name, each in self.topics.items() if name in kept}
        self.queues = {queue: each for queue, each in self.queues.items() if queue.topic in kept}
