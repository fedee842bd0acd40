"""Where work on a queue begins, against what was processed: no hole, no needless repetition."""

from dataclasses import dataclass, field

from fairlead_client.model import Queue

from fairlead_proof.sim.application import Work
from fairlead_proof.sim.violation import BreachError

__all__ = ["Passages"]

Pair = tuple[int, int]


@dataclass(slots=True)
class Passages:
    """How far each queue is processed in its present life: (reset, offset).

    ``resets``: queue -> number of an operator's reset -> the offset that it asks for; ``asked``:
    queue -> the newest of them, as long as it must be followed. ``repeated``: how many messages
    were read again, each time for a reason.
    """

    done: dict[Queue, Pair] = field(default_factory=dict)
    resets: dict[Queue, dict[int, int]] = field(default_factory=dict)
    asked: dict[Queue, int] = field(default_factory=dict)
    repeated: int = 0

    def reset(self, queue: Queue, number: int, offset: int) -> None:
        """An operator wants a queue to be read from an offset on."""
        self.resets.setdefault(queue, {})[number] = offset
        self.asked[queue] = number

    def first(self, name: str, work: Work, allowed: list[Pair]) -> None:
        """Work on a queue begins that nobody has read: within one of these ranges."""
        offset = work.begin.offset
        if work.begin.reset:
            self._follow(name, work)
        elif any(least <= offset <= most for least, most in allowed):
            self.done[work.queue] = (0, offset)
        else:
            raise BreachError(
                "START", f"{name} starts {work.queue} at {offset}, which is in none of {allowed}"
            )

    def next(self, name: str, work: Work, floor: Pair) -> None:
        """Work begins on a queue that was read; it may go back to ``floor`` and no further."""
        done, begin = self.done[work.queue], tuple(work.begin)
        if begin[0] > done[0]:
            self._follow(name, work)
            return
        if begin[0] < done[0] or begin[0] < floor[0]:
            raise BreachError(
                "RESET", f"{name} starts {work.queue} at {begin}, after {max(done, floor)}"
            )
        if begin > done:
            raise BreachError("HOLE", f"{name} starts {work.queue} at {begin}, done is {done}")
        if begin < floor:
            raise BreachError(
                "DUP", f"{name} starts {work.queue} at {begin}, though {floor} was known"
            )
        self.repeated += done[1] - begin[1]

    def anywhere(self, work: Work) -> None:
        """Work begins where nobody can say whether it should."""
        self.done[work.queue] = (work.begin.reset, work.begin.offset)

    def _follow(self, name: str, work: Work) -> None:
        """Work begins where an operator wants it."""
        number, offset = work.begin
        wanted = self.resets.get(work.queue, {}).get(number)
        if wanted != offset:
            raise BreachError(
                "RESET", f"{name} starts {work.queue} at {(number, offset)}, asked was {wanted}"
            )
        self.done[work.queue] = (number, offset)

    def processed(self, queue: Queue, reset: int, offset: int) -> None:
        """Everything of a queue below this offset is processed, after this reset."""
        done = self.done.get(queue)
        if done is not None and done[0] == reset:
            self.done[queue] = max(done, (reset, offset))

    def unfollowed(self) -> list[Queue]:
        """Return the queues whose newest reset nobody has followed."""
        return [
            queue
            for queue, number in sorted(self.asked.items())
            if self.done.get(queue, (0, 0))[0] < number
        ]

    def forget(self, queue: Queue) -> None:
        """The queue has begun another life."""
        self.done.pop(queue, None)
        self.asked.pop(queue, None)
