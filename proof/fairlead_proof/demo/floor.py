"""Who works on what right now, by the consumers' own words: the live side of their journals.

For the screen and for knowing when a step is over. The verdict does not come from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.history import Consumed, Held, JournalRecord, Start, Stop

SeatState = Literal[
    "starting", "ready", "joining", "in", "leaving", "left", "replaced", "killed", "failed"
]


@dataclass(slots=True)
class Seat:
    """One consumer process.

    Attributes:
        state: how far it is in its life.
        consumed: messages it processed.
        held: the message that it has to hold in hand.
    """

    state: SeatState = "starting"
    consumed: int = 0
    held: Held | None = None


@dataclass(frozen=True, slots=True)
class Working:
    """A client works on a queue, under this epoch, since that moment."""

    client_id: str
    epoch: Epoch
    since_ns: int


@dataclass(slots=True)
class Floor:
    """All consumers of a run.

    Attributes:
        seats: per client id.
        working: per queue, who works on it.
        frontier: per queue, the next offset that nobody has processed yet.
    """

    seats: dict[str, Seat] = field(default_factory=dict)
    working: dict[MessageQueue, Working] = field(default_factory=dict)
    frontier: dict[MessageQueue, int] = field(default_factory=dict)

    @property
    def processed(self) -> int:
        """How many messages were processed, each counted once."""
        return sum(self.frontier.values())

    def counts(self, told: int) -> tuple[int, int]:
        """Return how many messages were produced, and how many processed.

        What was processed was produced, though the producer may not have told of it yet.

        Args:
            told: the count that the producer told last.
        """
        return max(told, self.processed), self.processed

    def apply(self, client_id: str, record: JournalRecord) -> None:
        """Add one record of a journal."""
        seat = self.seats[client_id]
        match record:
            case Start():
                self.working[record.queue] = Working(client_id, record.epoch, record.t_ns)
                self.frontier.setdefault(record.queue, record.offset)
            case Stop():
                mine = self.working.get(record.queue)
                if mine is not None and mine.client_id == client_id:
                    del self.working[record.queue]
            case Consumed():
                seat.consumed += 1
                seat.held = None
                reached = max(self.frontier.get(record.queue, 0), record.offset + 1)
                self.frontier[record.queue] = reached
            case Held():
                seat.held = record

    def leave(self, client_id: str, state: SeatState) -> None:
        """The process is gone, and its work with it."""
        self.seats[client_id].state = state
        for queue in self.queues_of(client_id):
            del self.working[queue]

    def queues_of(self, client_id: str) -> list[MessageQueue]:
        """What a client works on, in order."""
        return sorted(q for q, working in self.working.items() if working.client_id == client_id)

    def agrees_with(self, granted: Mapping[MessageQueue, tuple[str, Epoch]]) -> bool:
        """Tell whether every queue is worked on by whom it was granted to, under that epoch."""
        found = {queue: (w.client_id, w.epoch) for queue, w in self.working.items()}
        return found == dict(granted)

    def has_reached(self, ends: Mapping[MessageQueue, int]) -> bool:
        """Tell whether everything before these offsets is processed."""
        return all(self.frontier.get(queue, 0) >= end for queue, end in ends.items())
