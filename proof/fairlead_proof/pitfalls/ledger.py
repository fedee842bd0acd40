"""Who worked on which queue from when to when, and the counts that follow from it.

Both sides of a run write the same ledger. It counts from the tenures alone, within the watched
time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.tenure import Tenure, end_of

__all__ = ["PAUSE_MS", "Ledger", "Tally"]

PAUSE_MS = 1_000
"""A queue without an owner for longer counts as nobody's; a shorter gap is a handover's pause."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of one side. Times are sums over all queues.

    Attributes:
        twice: queues that two processes worked on at one moment.
        twice_ms: for how long.
        nobody: queues without an owner for longer than PAUSE_MS.
        nobody_ms: for how long.
        read_twice: messages that a process began again.
        unread: messages that nobody had begun at the end.
        moves: how often a queue went from one process to another.
        longest_pause_ms: the longest time without an owner of any queue, PAUSE_MS or not.
        told: notifications, or assignments, that clients got.
    """

    twice: tuple[MessageQueue, ...]
    twice_ms: int
    nobody: tuple[MessageQueue, ...]
    nobody_ms: int
    read_twice: int
    unread: int
    moves: int
    longest_pause_ms: int
    told: int


@dataclass(slots=True)
class Ledger:
    """The tenures of one side, its lines, and the times at which something was sent to a client."""

    tenures: list[Tenure] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    sent_ms: list[int] = field(default_factory=list)

    def begin(
        self, queue: MessageQueue, process: str, offset: int, at_ms: int, reads_from_ms: int
    ) -> Tenure:
        """Begin the tenure of a process that takes a queue and reads from an offset."""
        tenure = Tenure(queue, process, at_ms, offset, reads_from_ms)
        self.tenures.append(tenure)
        return tenure

    def close(self, tenure: Tenure, at_ms: int) -> None:
        """End the tenure of a process that stops working on a queue."""
        tenure.stop_ms = at_ms if tenure.stop_ms is None else min(tenure.stop_ms, at_ms)
        tenure.end_ms = at_ms

    def add_line(self, at_ms: int, line: str) -> None:
        """Write a line of the story."""
        self.lines.append((at_ms, line))

    def owners(self, queue: MessageQueue, at_ms: int) -> list[str]:
        """Return the processes that work on a queue at this time, sorted."""
        return sorted(
            tenure.process
            for tenure in self.tenures
            if tenure.queue == queue
            and tenure.begin_ms <= at_ms
            and (tenure.end_ms is None or tenure.end_ms > at_ms)
        )

    def shares(self, queues: Iterable[MessageQueue], at_ms: int) -> Counter[str]:
        """Return how many queues each process works on at this time."""
        return Counter(process for queue in queues for process in self.owners(queue, at_ms))

    def tally(self, queues: Iterable[MessageQueue], from_ms: int, to_ms: int) -> Tally:
        """Return the counts of the time from ``from_ms`` to ``to_ms``."""
        twice: list[MessageQueue] = []
        nobody: list[MessageQueue] = []
        twice_ms = nobody_ms = longest_ms = read_twice = unread = moves = 0
        for queue in queues:
            course = list(self.course(queue, from_ms, to_ms))
            double_ms = sum(end - begin for begin, end, owners in course if len(owners) > 1)
            pauses = [end - begin for begin, end, owners in course if not owners]
            alone_ms = sum(pause for pause in pauses if pause > PAUSE_MS)
            twice_ms, nobody_ms = twice_ms + double_ms, nobody_ms + alone_ms
            twice += [queue] if double_ms else []
            nobody += [queue] if alone_ms else []
            longest_ms = max([longest_ms, *pauses])
            again_before, _ = self._read(queue, from_ms)
            again, read = self._read(queue, to_ms)
            read_twice += again - again_before
            unread += end_of(to_ms) - read
            moves += self._moves(queue, from_ms, to_ms)
        return Tally(
            tuple(twice),
            twice_ms,
            tuple(nobody),
            nobody_ms,
            read_twice,
            unread,
            moves,
            longest_ms,
            sum(from_ms <= at_ms <= to_ms for at_ms in self.sent_ms),
        )

    def _of(self, queue: MessageQueue) -> list[Tenure]:
        return [tenure for tenure in self.tenures if tenure.queue == queue]

    def course(
        self, queue: MessageQueue, from_ms: int, to_ms: int
    ) -> Iterator[tuple[int, int, list[str]]]:
        """Yield (begin, end, who works on the queue), each as long as nothing changes."""
        edges = {from_ms, to_ms}
        for tenure in self._of(queue):
            edges |= {tenure.begin_ms, _ended(tenure, to_ms)}
        inside = sorted(edge for edge in edges if from_ms <= edge <= to_ms)
        begin_ms, before = from_ms, self.owners(queue, from_ms)
        for edge in inside:
            owners = self.owners(queue, edge)
            if owners != before:
                yield begin_ms, edge, before
                begin_ms, before = edge, owners
        yield begin_ms, to_ms, before

    def _read(self, queue: MessageQueue, at_ms: int) -> tuple[int, int]:
        """Return how many messages were begun again, and how many begun at all, by this time."""
        spans = sorted(
            (tenure.offset, tenure.begun(min(at_ms, _ended(tenure, at_ms))))
            for tenure in self._of(queue)
            if tenure.begin_ms <= at_ms
        )
        total = sum(end - begin for begin, end in spans)
        distinct = reached = 0
        for begin, end in spans:
            distinct += max(0, end - max(begin, reached))
            reached = max(reached, end)
        return total - distinct, distinct

    def _moves(self, queue: MessageQueue, from_ms: int, to_ms: int) -> int:
        begun = [tenure for tenure in self._of(queue) if tenure.begin_ms <= to_ms]
        return sum(
            after.begin_ms > from_ms and after.process != before.process
            for before, after in pairwise(begun)
        )


def _ended(tenure: Tenure, else_ms: int) -> int:
    return else_ms if tenure.end_ms is None else tenure.end_ms
