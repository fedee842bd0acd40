"""Where work on a queue begins, against what was processed: no hole, no needless repetition."""

from dataclasses import dataclass, field

from fairlead_client.model import Queue

from fairlead.sim.application import Work
from fairlead.sim.breach import BreachError

__all__ = ["Passages"]


@dataclass(slots=True)
class Passages:
    """How far each queue is processed in its present life.

    ``repeated``: how many messages were read again, each time for a reason.
    """

    done: dict[Queue, int] = field(default_factory=dict)
    repeated: int = 0

    def first(self, name: str, work: Work, allowed: list[tuple[int, int]]) -> None:
        """Work on a queue begins that nobody has read: within one of these ranges."""
        offset = work.begin.offset
        if not any(least <= offset <= most for least, most in allowed):
            raise BreachError(
                "START", f"{name} starts {work.queue} at {offset}, which is in none of {allowed}"
            )
        self.done[work.queue] = offset

    def next(self, name: str, work: Work, floor: int) -> None:
        """Work begins on a queue that was read; it may go back to ``floor`` and no further."""
        done, offset = self.done[work.queue], work.begin.offset
        if offset > done:
            raise BreachError("HOLE", f"{name} starts {work.queue} at {offset}, done is {done}")
        if offset < floor:
            raise BreachError(
                "DUP", f"{name} starts {work.queue} at {offset}, though {floor} was known"
            )
        self.repeated += done - offset

    def processed(self, queue: Queue, offset: int) -> None:
        """Everything of a queue below this offset is processed."""
        if offset > self.done.get(queue, offset):
            self.done[queue] = offset

    def forget(self, queue: Queue) -> None:
        """The queue has begun another life."""
        self.done.pop(queue, None)
