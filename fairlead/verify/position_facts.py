"""How far the queues of a group were processed, for which identity of their topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fairlead.core.model import NOTHING, Epoch, MessageQueue, Position
from fairlead.core.records import OffsetsKnown, QueueProgress, Reset
from fairlead.core.standby_records import Former
from fairlead.verify.bounds_facts import BoundsFacts
from fairlead.verify.grant_facts import GrantFacts, PositionReport
from fairlead.wire.raw import RawRecord

__all__ = ["PositionFacts"]

_Place = TypeVar("_Place", MessageQueue, tuple[MessageQueue, str])


@dataclass(slots=True)
class PositionFacts:
    """The positions of a group's queues, from its records alone.

    Attributes:
        identities: of the shard's topics, by their newest routes.
        reached: per queue, the newest accepted position.
        ever: the same, also for queues that nobody read for a while.
        late: per queue, the newest position of a grant that had ended; a barrier accepts it.
        stale: per queue, the newest position from a client that had no such grant.
        void: per recreated topic, the newest epoch of its former identity.
        elsewhere: per queue and identity, the newest position for an identity not in force.
        wanted: the same, for the newest reset.
        bounds: per queue, where it begins and ends.
        resets: per queue, the newest reset of an operator.
        formers: per queue, where frozen members had come.
    """

    identities: Mapping[str, str] = field(default_factory=dict)
    reached: dict[MessageQueue, PositionReport] = field(default_factory=dict)
    ever: dict[MessageQueue, PositionReport] = field(default_factory=dict)
    late: dict[MessageQueue, PositionReport] = field(default_factory=dict)
    stale: dict[MessageQueue, PositionReport] = field(default_factory=dict)
    void: dict[str, Epoch] = field(default_factory=dict)
    elsewhere: dict[tuple[MessageQueue, str], PositionReport] = field(default_factory=dict)
    wanted: dict[tuple[MessageQueue, str], PositionReport] = field(default_factory=dict)
    bounds: dict[MessageQueue, BoundsFacts] = field(default_factory=dict)
    resets: dict[MessageQueue, PositionReport] = field(default_factory=dict)
    formers: dict[MessageQueue, set[int]] = field(default_factory=dict)

    def former(self, record: Former) -> None:
        """Record how far a frozen member has come in what it holds."""
        for entry in record.queues:
            if entry.position is not None:
                self.formers.setdefault(entry.queue, set()).add(entry.position.offset)

    def let_go(self) -> None:
        """Forget how far queues were processed, and how far they reach.

        Who follows RocketMQ moves positions by its means, and the engine forgets the ends too.
        """
        for held in (self.reached, self.ever, self.late, self.stale, self.formers):
            held.clear()
        self.forget_ends()

    def forget_ends(self) -> None:
        """Forget how far queues reach, as the engine does when it takes a group over."""
        for bounds in self.bounds.values():
            bounds.end = None

    def reach(
        self,
        queue: MessageQueue,
        epoch: Epoch,
        report: PositionReport,
        grant: GrantFacts | None,
        *,
        late: bool = True,
    ) -> None:
        """Record a position of a grant; None: the client that reports it has no such grant."""
        if report.identity is not None and self._is_elsewhere(queue, report.identity):
            if grant is not None:
                self._keep((queue, report.identity), report, self.elsewhere)
            return
        if not self._is_present(queue, epoch, report):
            return
        if grant is None:
            self._keep(queue, report, self.stale)
        elif late and grant.resolved is not None:
            self._keep(queue, report, self.late)
        else:
            self._keep(queue, report, self.reached, self.ever)

    def grow(self, entry: QueueProgress, report: PositionReport) -> None:
        """Record the end of the queue, if the progress has it."""
        if entry.end is not None and self._is_present(entry.queue, entry.epoch, report):
            self.bounds.setdefault(entry.queue, BoundsFacts()).grow(entry.end, report.row)

    def doubt(self, entry: QueueProgress, report: PositionReport) -> None:
        """Record a position that nobody has to believe: a start may be there, or below it."""
        if self._is_present(entry.queue, entry.epoch, report):
            self._keep(entry.queue, report, self.ever)

    def is_within(self, queue: MessageQueue, position: Position) -> bool:
        """Tell whether a position lies within a reported end; no end is known: it does not."""
        bounds = self.bounds.get(queue)
        return bounds is not None and bounds.end is not None and position.offset <= bounds.end

    def is_beyond(self, queue: MessageQueue, position: Position) -> bool:
        """Tell whether a position lies beyond every reported end.

        After a take-over nobody has reported an end yet: the engine knows where frozen members had
        come, and asks a bridge about whatever lies beyond.
        """
        bounds = self.bounds.get(queue)
        if bounds is not None and bounds.end is not None:
            return position.offset > bounds.end
        return queue in self.formers and position.offset > max(self.formers[queue])

    def reset(self, record: Reset, row: RawRecord, clock_ms: int) -> None:
        """Record an operator's reset: it wins over every earlier position."""
        position = Position(row.offset + 1, record.offset)
        report = PositionReport(position, row, clock_ms, record.identity)
        if record.identity is not None and self._is_elsewhere(record.queue, record.identity):
            self._keep((record.queue, record.identity), report, self.elsewhere, self.wanted)
        else:
            self._keep(record.queue, report, self.reached, self.ever, self.resets)

    def offsets(self, record: OffsetsKnown, row: RawRecord) -> None:
        """Record the bounds of queues that a bridge reports."""
        for entry in record.queues:
            self.bounds.setdefault(entry.queue, BoundsFacts()).learn(entry, row)

    def live(self, topic: str) -> None:
        """Accept what was reported for the identity that the topic's route now has."""
        identity = self.identities[topic]
        for by_identity, places in (
            (self.elsewhere, (self.reached, self.ever)),
            (self.wanted, (self.resets,)),
        ):
            for place in [(queue, name) for queue, name in by_identity if queue.topic == topic]:
                report = by_identity.pop(place) if place[1] == identity else None
                if report is not None:
                    self._keep(place[0], report, *places)

    def start_anew(self, topic: str, granted: Epoch) -> None:
        """Forget the positions of a recreated topic.

        ``granted`` is the newest epoch of any grant of its former identity.
        """
        self.void[topic] = max(granted, self.void.get(topic, NOTHING))
        places: tuple[dict[MessageQueue, Any], ...] = (
            self.reached, self.ever, self.bounds, self.resets,
        )  # fmt: skip
        for held in places:
            for queue in [queue for queue in held if queue.topic == topic]:
                del held[queue]

    def _is_elsewhere(self, queue: MessageQueue, identity: str) -> bool:
        """Tell whether an identity is not the one in force."""
        return self.identities.get(queue.topic, identity) != identity

    def _is_present(self, queue: MessageQueue, epoch: Epoch, report: PositionReport) -> bool:
        """Tell whether a report is of the identity in force; without one, its epoch decides."""
        if report.identity is None:
            return epoch > self.void.get(queue.topic, NOTHING)
        return not self._is_elsewhere(queue, report.identity)

    @staticmethod
    def _keep(place: _Place, report: PositionReport, *places: dict[_Place, PositionReport]) -> None:
        for held in places:
            known = held.get(place)
            if known is None or report.position > known.position:
                held[place] = report
