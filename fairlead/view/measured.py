"""How far one group is with each queue: position, end, and since when it is behind."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.view.end_history import EndHistory, Reached
from fairlead.view.reading import epoch_of, integer_of, position_of, queue_of, text_of

__all__ = ["Behind", "Lag", "Measure", "Measured", "Report", "progress_of"]

_TOLD_WITHIN_MS: Final = 1_000
"""A client that has nothing left to read tells of a new end within this time, or so."""


class Report(NamedTuple):
    """What somebody told of a queue; None: not told."""

    queue: MessageQueue
    epoch: Epoch | None
    position: Position | None = None
    end: int | None = None
    identity: str | None = None
    idle_ms: int | None = None


class Lag(NamedTuple):
    """How far a group is behind the end of a queue.

    ``seconds``: how long ago the end was where the position is now; 0 where nothing is left. An
    estimate: between two samples of the end it is taken to have grown evenly. None: when the end
    was there is not known. ``at_least``: it may be more, for the end is remembered no longer.
    """

    messages: int
    seconds: float | None
    at_least: bool


class Behind(NamedTuple):
    """How far a group is behind the end of a queue, whatever time it is.

    ``since_ms``: when the end was where the position is now; None: that is not known, or nothing
    is left. ``earlier``: it was before that.
    """

    messages: int
    since_ms: int | None
    earlier: bool

    def lag(self, as_of_ms: int) -> Lag:
        """Return how far behind that is at a time."""
        if self.messages == 0:
            return Lag(0, 0.0, at_least=False)
        if self.since_ms is None:
            return Lag(self.messages, None, at_least=False)
        return Lag(self.messages, max(0, as_of_ms - self.since_ms) / 1000, self.earlier)


def progress_of(body: Mapping[str, Any]) -> list[Report]:
    """Return what a record of progress says.

    Raises:
        ValueError, KeyError, TypeError: it is none.
    """
    return [_report(entry) for entry in body["queues"]]


def _report(entry: Mapping[str, Any]) -> Report:
    end, identity, idle_ms = entry.get("end"), entry.get("identity"), entry.get("idle_ms")
    return Report(
        queue_of(entry["queue"]),
        epoch_of(entry["epoch"]),
        position_of(entry["position"]),
        None if end is None else integer_of(end),
        None if identity is None else text_of(identity),
        None if idle_ms is None else integer_of(idle_ms),
    )


@dataclass(slots=True)
class Measure:
    """One queue, as it was told of.

    Attributes:
        position: the greatest that was told of this life of the topic.
        told_ms: when the newest record was appended that told of it.
        identity: of which life the position is; None: not told.
        identity_ms: when that was told last.
        epoch: under which progress was told last.
        idle_ms: how long its owner had not tried to pull it, when it told last.
        worked: the position that progress told last.
        ends: where the end was, as progress tells it.
        bounds: where it was when a bridge was asked.
        behind: how far the group is behind it; None: position or end is not known.
    """

    position: Position | None = None
    told_ms: int = 0
    identity: str | None = None
    identity_ms: int = 0
    epoch: Epoch | None = None
    idle_ms: int | None = None
    worked: Position | None = None
    ends: EndHistory = field(default_factory=EndHistory)
    bounds: EndHistory = field(default_factory=EndHistory)
    behind: Behind | None = None

    def take(self, report: Report, append_ms: int) -> bool:
        """Take in where somebody was; return whether it is of the newest life of the topic."""
        if report.identity is not None and not self._is_of_this_life(report.identity, append_ms):
            return False
        self.told_ms = max(self.told_ms, append_ms)
        if report.position is not None and (
            self.position is None or report.position > self.position
        ):
            self.position = report.position
            self.ends.forget_below(report.position.offset)
        return True

    def take_bounds(self, report: Report, append_ms: int) -> None:
        """Take in what a bridge was asked for."""
        if self.take(report, append_ms) and report.end is not None:
            self.bounds.add(append_ms, report.end)

    def take_progress(self, report: Report, append_ms: int) -> None:
        """Take in progress, which also tells of the end, and whether the queue is pulled."""
        if report.end is not None and (
            report.identity is None or self._is_of_this_life(report.identity, append_ms)
        ):
            self._take_end(report.end, append_ms)
        if not self.take(report, append_ms):
            return
        if self.epoch is None or (report.epoch is not None and report.epoch >= self.epoch):
            self.epoch, self.idle_ms, self.worked = report.epoch, report.idle_ms, report.position

    def _is_of_this_life(self, identity: str, append_ms: int) -> bool:
        """Tell whether a record is of the newest life of the topic; a newer life begins anew."""
        if self.identity is not None and identity != self.identity:
            if append_ms < self.identity_ms:
                return False
            self.position = self.worked = self.idle_ms = None
            self.ends, self.bounds = EndHistory(), EndHistory()
        self.identity = identity
        self.identity_ms = max(self.identity_ms, append_ms)
        return True

    def _take_end(self, end: int, append_ms: int) -> None:
        """Take in the end that a client saw.

        One that had read everything goes on asking for more, and tells of a new end at once: so
        before that the end was still where it was.
        """
        newest, at = self.ends.newest, self.worked
        still_ms = None
        if newest is not None and at is not None and at.offset >= newest[1]:
            still_ms = append_ms - _TOLD_WITHIN_MS
        self.ends.add(append_ms, end, still_ms=still_ms)

    def date(self, polled: EndHistory | None) -> None:
        """Find out how far behind the group is, after position or ends have changed."""
        self.behind = None
        end, at = self.end(polled), self.position
        if end is None or at is None:
            return
        if at.offset >= end:
            self.behind = Behind(0, None, earlier=False)
            return
        known = [ends for ends in (self.ends, self.bounds, polled) if ends is not None and ends]
        found = _best(filter(None, (ends.reached(at.offset) for ends in known)))
        since_ms = None if found is None else found.at_ms
        self.behind = Behind(end - at.offset, since_ms, found is not None and found.earlier)

    def lag(self, as_of_ms: int) -> Lag | None:
        """Return how far behind the group is; None: position or end is not known."""
        behind = self.behind
        return None if behind is None else behind.lag(as_of_ms)

    def end(self, polled: EndHistory | None) -> int | None:
        """Return the newest end that is known."""
        newest = self.ends.newest
        if polled is None and not self.bounds:
            return None if newest is None else newest[1]
        known = (newest, self.bounds.newest, None if polled is None else polled.newest)
        told = [each for each in known if each is not None]
        return max(told)[1] if told else None


def _best(found: Iterable[Reached]) -> Reached | None:
    """Return what dates an offset best: by the closest samples; of bounds, the earliest."""
    best: Reached | None = None
    for each in found:
        if best is None or _rank(each) < _rank(best):
            best = each
    return best


def _rank(found: Reached) -> tuple[bool, int]:
    return found.earlier, found.at_ms if found.earlier else found.within_ms


@dataclass(slots=True)
class Measured:
    """The queues of one group of which anybody told how far it is.

    ``polled``: the ends that somebody asked the data cluster for, of the queues of all groups.
    """

    polled: Mapping[MessageQueue, EndHistory]
    queues: dict[MessageQueue, Measure] = field(default_factory=dict)
    _topics: dict[str, Behind] | None = None

    def take(self, report: Report, append_ms: int) -> None:
        """Take in where somebody was in a queue."""
        found = self._of(report.queue)
        found.take(report, append_ms)
        found.date(self.polled.get(report.queue))

    def take_bounds(self, report: Report, append_ms: int) -> None:
        """Take in what a bridge was asked for."""
        found = self._of(report.queue)
        found.take_bounds(report, append_ms)
        found.date(self.polled.get(report.queue))

    def take_progress(self, report: Report, append_ms: int) -> None:
        """Take in how far a member is with a queue that it works on."""
        found = self._of(report.queue)
        found.take_progress(report, append_ms)
        found.date(self.polled.get(report.queue))

    def _of(self, queue: MessageQueue) -> Measure:
        """Return what is known of a queue, to be changed."""
        self._topics = None
        found = self.queues.get(queue)
        if found is None:
            found = self.queues[queue] = Measure()
        return found

    def date(self, polled: Container[MessageQueue]) -> None:
        """Take in that other ends are known of these queues."""
        for queue, measure in self.queues.items():
            if queue in polled:
                measure.date(self.polled.get(queue))
                self._topics = None

    def topics(self) -> Mapping[str, Behind]:
        """Return how far behind each topic is: all messages, and since when the furthest queue."""
        if self._topics is None:
            # Every queue of every group whenever its clients work: plain lists, no values.
            found: dict[str, list[Any]] = {}
            for queue, measure in self.queues.items():
                if measure.behind is None:
                    continue
                messages, since_ms, earlier = measure.behind
                total = found.get(queue.topic)
                if total is None:
                    found[queue.topic] = [messages, since_ms, earlier]
                    continue
                total[0] += messages
                if since_ms is not None and (total[1] is None or since_ms < total[1]):
                    total[1:] = since_ms, earlier
            self._topics = {topic: Behind(*total) for topic, total in found.items()}
        return self._topics

    def forget(self, topics: Iterable[str], oldest_ms: int) -> None:
        """Forget the queues of topics that are none of these, and were told of last before this."""
        kept = frozenset(topics)
        gone = [
            queue
            for queue, measure in self.queues.items()
            if queue.topic not in kept and measure.told_ms < oldest_ms
        ]
        for queue in gone:
            del self.queues[queue]
            self._topics = None
