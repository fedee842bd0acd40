"""What an operator's reset makes of the work on a queue: a new reading of it begins.

A reset moves the start of a queue, back or forward. What is read again by it, or left out, was
meant so: repetitions, holes and misses are judged within one *era*, from one reset that was
followed to the next. The first one begins where the group does: what a queue held before its start
at a commit, at its end or at a time is not the group's to read. Whether that start was right is
judged by the topics.
"""

from collections.abc import Collection, Iterable
from math import inf
from typing import Final

from fairlead.verify.history import Decision, Epoch, Move, Queue
from fairlead.verify.tenures import Tenure, Tenures

__all__ = ["Eras"]

_LEAVES_OUT: Final = ("committed", "last_offset", "timestamp")
"""Reasons of a queue's first start that leave out what stands before it."""


class Eras:
    """Which reset each tenure follows, by the grants that decisions tell of."""

    def __init__(self, decisions: Iterable[Decision], tenures: Tenures) -> None:
        """Read the grants.

        Args:
            decisions: of the group.
            tenures: who worked on what. One that goes on from an older reset than somebody before
                it is counted to the newer one's era: there it is a repetition or a hole.
        """
        self._begins: dict[tuple[Queue, int], int] = {}
        first: dict[Queue, Move] = {}
        granted: dict[tuple[Queue, Epoch], int] = {}
        for decision in decisions:
            for move in decision.moves:
                if move.stage in ("gated", "granted") and move.offset is not None:
                    first.setdefault(move.queue, move)
                    granted[move.queue, move.epoch] = move.reset
                    self._begins.setdefault((move.queue, move.reset), move.offset)
        self._left_out = {
            queue: move.offset or 0 for queue, move in first.items() if move.why in _LEAVES_OUT
        }
        self._tenures = tenures
        self._resets: dict[tuple[Queue, Epoch], int] = {}
        for queue, found in tenures.by_queue.items():
            newest = 0
            for tenure in found:
                newest = max(newest, granted.get((queue, tenure.epoch), 0))
                self._resets[queue, tenure.epoch] = newest

    def reset_of(self, tenure: Tenure) -> int:
        """Return the reset that a tenure follows; 0: none."""
        return self._resets[tenure.queue, tenure.epoch]

    def begin(self, tenure: Tenure) -> int | None:
        """Return where the operator let the tenure's era begin; None: no reset went before it."""
        reset = self.reset_of(tenure)
        return self._begins[tenure.queue, reset] if reset else None

    def unread(self, queue: Queue, offsets: Collection[int]) -> list[int]:
        """Return which messages of a queue nobody processed in an era in which somebody should.

        An era reaches from where it begins to where the next one was begun in it, the last one to
        the end.
        """
        eras: dict[int, list[Tenure]] = {}
        for tenure in self._tenures.by_queue.get(queue, ()):
            eras.setdefault(self.reset_of(tenure), []).append(tenure)
        missing = set(offsets) if not eras else set()
        for reset, found in eras.items():
            read = {message.offset for tenure in found for message in tenure.consumed}
            begin = self._left_out.get(queue, 0) if not reset else self.begin(found[0]) or 0
            end = inf if reset == max(eras) else max(tenure.frontier for tenure in found)
            passed = [each for tenure in found for each in tenure.passed]
            missing |= {
                each
                for each in offsets
                if begin <= each < end
                and each not in read
                and not any(each in span for span in passed)
            }
        return sorted(missing)
