"""How far the queues of a group were processed, and of which life of their topics that is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fairlead.core.model import NOTHING, Epoch, MessageQueue, Position
from fairlead.core.records import OffsetsKnown, QueueProgress, Reset
from fairlead.verify.bounds_facts import BoundsFacts
from fairlead.verify.grant_facts import GrantFacts, Report
from fairlead.wire.raw import RawRecord

__all__ = ["PositionFacts"]

_Place = TypeVar("_Place", MessageQueue, tuple[MessageQueue, str])


@dataclass(slots=True)
class PositionFacts:
    """The positions of a group's queues, from its records alone.

    Attributes:
        identities: per topic, the life that its route tells; those of the shard.
        reached: per queue, the newest position that was accepted.
        ever: the same, also of queues that nobody read for a while.
        late: per queue, the newest position of a grant that had ended; a barrier takes it in.
        stale: per queue, the newest position of a report by whom no such grant was issued to.
        void: per topic that was made anew, the newest epoch of its former life.
        elsewhere: per queue and identity, the newest position of another life than that one, and
        wanted: likewise, the newest reset.
        bounds: per queue, where it begins and ends.
        resets: per queue, the newest reset that an operator asked for.
    """

    identities: Mapping[str, str] = field(default_factory=dict)
    reached: dict[MessageQueue, Report] = field(default_factory=dict)
    ever: dict[MessageQueue, Report] = field(default_factory=dict)
    late: dict[MessageQueue, Report] = field(default_factory=dict)
    stale: dict[MessageQueue, Report] = field(default_factory=dict)
    void: dict[str, Epoch] = field(default_factory=dict)
    elsewhere: dict[tuple[MessageQueue, str], Report] = field(default_factory=dict)
    wanted: dict[tuple[MessageQueue, str], Report] = field(default_factory=dict)
    bounds: dict[MessageQueue, BoundsFacts] = field(default_factory=dict)
    resets: dict[MessageQueue, Report] = field(default_factory=dict)

    def reach(
        self,
        queue: MessageQueue,
        epoch: Epoch,
        report: Report,
        grant: GrantFacts | None,
        *,
        late: bool = True,
    ) -> None:
        """Take a position of a grant; None: no such grant was issued to who reports it."""
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

    def grow(self, entry: QueueProgress, report: Report) -> None:
        """Progress may tell where its queue ends."""
        if entry.end is not None and self._is_present(entry.queue, entry.epoch, report):
            self.bounds.setdefault(entry.queue, BoundsFacts()).grow(entry.end, report.row)

    def is_beyond(self, queue: MessageQueue, position: Position) -> bool:
        """Tell whether a position lies beyond every end that was told."""
        bounds = self.bounds.get(queue)
        return bounds is not None and bounds.end is not None and position.offset > bounds.end

    def reset(self, record: Reset, row: RawRecord, clock_ms: int) -> None:
        """An operator's reset wins over every position of before."""
        position = Position(row.offset + 1, record.offset)
        report = Report(position, row, clock_ms, record.identity)
        if record.identity is not None and self._is_elsewhere(record.queue, record.identity):
            self._keep((record.queue, record.identity), report, self.elsewhere, self.wanted)
        else:
            self._keep(record.queue, report, self.reached, self.ever, self.resets)

    def offsets(self, record: OffsetsKnown, row: RawRecord) -> None:
        """A bridge told the bounds of queues."""
        for entry in record.queues:
            self.bounds.setdefault(entry.queue, BoundsFacts()).tell(entry, row)

    def live(self, topic: str) -> None:
        """A route tells which life of its topic there is: what was told of that one counts."""
        identity = self.identities[topic]
        for told, places in (
            (self.elsewhere, (self.reached, self.ever)),
            (self.wanted, (self.resets,)),
        ):
            for place in [(queue, name) for queue, name in told if queue.topic == topic]:
                report = told.pop(place) if place[1] == identity else None
                if report is not None:
                    self._keep(place[0], report, *places)

    def start_anew(self, topic: str, granted: Epoch) -> None:
        """A topic was made again: no position of its former life counts.

        ``granted``: the newest epoch under which anything of it was granted.
        """
        self.void[topic] = max(granted, self.void.get(topic, NOTHING))
        places: tuple[dict[MessageQueue, Any], ...] = (
            self.reached, self.ever, self.bounds, self.resets,
        )  # fmt: skip
        for held in places:
            for queue in [queue for queue in held if queue.topic == topic]:
                del held[queue]

    def _is_elsewhere(self, queue: MessageQueue, identity: str) -> bool:
        """Tell whether something says that it is of another life than the one that is known."""
        return self.identities.get(queue.topic, identity) != identity

    def _is_present(self, queue: MessageQueue, epoch: Epoch, report: Report) -> bool:
        """Tell whether a report is of the present life; one that names none, by its epoch."""
        if report.identity is None:
            return epoch > self.void.get(queue.topic, NOTHING)
        return not self._is_elsewhere(queue, report.identity)

    @staticmethod
    def _keep(place: _Place, report: Report, *places: dict[_Place, Report]) -> None:
        for held in places:
            known = held.get(place)
            if known is None or report.position > known.position:
                held[place] = report
