"""Checks the start of work on a queue against the processed messages: no hole, no repetition."""

from dataclasses import dataclass, field

from fairlead_client.model import Queue

from fairlead_proof.sim.application import Work
from fairlead_proof.sim.violation import BreachError

__all__ = ["StartChecks"]

Pair = tuple[int, int]


@dataclass(slots=True)
class StartChecks:
    """How far each queue is processed in its present identity.

    Attributes:
        done: queue -> (reset, offset).
        resets: queue -> number of an operator's reset -> its offset.
        asked: queue -> the newest reset, while somebody must follow it.
        repeated: how many messages were read again for a good reason.
    """

    done: dict[Queue, Pair] = field(default_factory=dict)
    resets: dict[Queue, dict[int, int]] = field(default_factory=dict)
    asked: dict[Queue, int] = field(default_factory=dict)
    repeated: int = 0

    def reset(self, queue: Queue, number: int, offset: int) -> None:
        """Note an operator's reset of a queue to an offset."""
        self.resets.setdefault(queue, {})[number] = offset
        self.asked[queue] = number

    def first(self, name: str, work: Work, allowed: list[Pair]) -> None:
        """Check the first start on a queue: it must lie in one of these ranges."""
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
        """Check a later start: it may go back to ``floor`` and no further."""
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
        """Accept a start that cannot be checked."""
        self.done[work.queue] = (work.begin.reset, work.begin.offset)

    def _follow(self, name: str, work: Work) -> None:
        """Check a start at an operator's reset."""
        number, offset = work.begin
        wanted = self.resets.get(work.queue, {}).get(number)
        if wanted != offset:
            raise BreachError(
                "RESET", f"{name} starts {work.queue} at {(number, offset)}, asked was {wanted}"
            )
        self.done[work.queue] = (number, offset)

    def processed(self, queue: Queue, reset: int, offset: int) -> None:
        """Note that everything below this offset is processed, after this reset."""
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
        """Forget a queue whose topic was recreated."""
        self.done.pop(queue, None)
        self.asked.pop(queue, None)
