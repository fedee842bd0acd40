"""What an operator's reset, or a topic made anew, makes of the work on a queue: a reading begins.

A reset moves the start of a queue, back or forward. What is read again by it, or left out, was
meant so. A topic that was deleted and made anew has other messages under the same offsets.
Repetitions, holes and misses are judged within one *era*: in one life of the topic, from one reset
that was followed to the next. The first one of a life begins where the group does: what a queue
held before its start at a commit, at its end or at a time is not the group's to read. Whether that
start was right is judged by the topics.
"""

from collections.abc import Collection
from math import inf
from typing import Final, NamedTuple

from fairlead.verify.history import Epoch, History, Queue
from fairlead.verify.tenures import Tenure, Tenures

__all__ = ["Era", "Eras"]

_LEAVES_OUT: Final = ("committed", "last_offset", "timestamp")
"""Reasons of a queue's first start that leave out what stands before it."""


class Era(NamedTuple):
    """Which reading of a queue: the life of its topic, counted from 0, and the reset followed.

    Attributes:
        life: how many others were granted before.
        reset: the operator's reset within the life; 0: none.
    """

    life: int
    reset: int


_FIRST: Final = Era(0, 0)


class Eras:
    """Which era each tenure is of, by the grants that decisions and assignments tell of."""

    def __init__(self, history: History, tenures: Tenures) -> None:
        """Read the grants.

        Args:
            history: its decisions, and of which lives the grants are.
            tenures: who worked on what. One that goes on from an older reset than somebody before
                it is counted to the newer one's era: there it is a repetition or a hole.
        """
        self._begins: dict[tuple[Queue, Era], int] = {}
        self._left_out: dict[tuple[Queue, int], int] = {}
        granted: dict[tuple[Queue, Epoch], Era] = {}
        life_of = _lives(history)
        newest_life: dict[Queue, int] = {}
        for decision in history.decisions:
            for move in decision.moves:
                if move.stage in ("gated", "granted") and move.offset is not None:
                    # A grant that does not tell its life is of the life of the one before.
                    known = newest_life.get(move.queue, 0)
                    life = newest_life[move.queue] = life_of.get((move.queue, move.epoch), known)
                    era = Era(life, move.reset)
                    granted[move.queue, move.epoch] = era
                    self._begins.setdefault((move.queue, era), move.offset)
                    left_out = move.offset if move.why in _LEAVES_OUT else 0
                    self._left_out.setdefault((move.queue, era.life), left_out)
        for (queue, epoch), (reset, offset) in sorted(history.starts.items()):
            if (queue, epoch) not in granted:
                # Its driver died before it wrote its decision, and somebody may work under it.
                older = [era for (of, at), era in granted.items() if of == queue and at < epoch]
                known = max(older, default=_FIRST).life
                era = granted[queue, epoch] = Era(life_of.get((queue, epoch), known), reset)
                self._begins.setdefault((queue, era), offset)
        self._granted: dict[Queue, Era] = {}
        for (queue, _), era in granted.items():
            self._granted[queue] = max(era, self._granted.get(queue, _FIRST))
        self._tenures = tenures
        self._eras: dict[tuple[Queue, Epoch], Era] = {}
        self._newest: dict[Queue, Era] = {}
        for queue, found in tenures.by_queue.items():
            newest = _FIRST
            for tenure in found:
                newest = max(newest, granted.get((queue, tenure.epoch), _FIRST))
                self._eras[queue, tenure.epoch] = newest
            self._newest[queue] = newest

    def of(self, tenure: Tenure) -> Era:
        """Return the era of a tenure."""
        return self._eras[tenure.queue, tenure.epoch]

    def is_of_an_older_life(self, tenure: Tenure) -> bool:
        """Tell whether its topic was made anew since: the source holds other messages."""
        return self.of(tenure).life < self._newest[tenure.queue].life

    def begin(self, tenure: Tenure) -> int | None:
        """Return where the operator let the tenure's era begin; None: no reset went before it."""
        era = self.of(tenure)
        return self._begins[tenure.queue, era] if era.reset else None

    def unread(self, queue: Queue, offsets: Collection[int]) -> list[int]:
        """Return which messages of a queue nobody processed in an era in which somebody should.

        An era reaches from where it begins to where the next one was begun in it, the last one to
        the end. Of older lives of the topic no message is left to be missed.
        """
        eras: dict[Era, list[Tenure]] = {}
        for tenure in self._tenures.by_queue.get(queue, ()):
            if not self.is_of_an_older_life(tenure):
                eras.setdefault(self.of(tenure), []).append(tenure)
        if not eras:
            begin = self._begin_of(queue, self._granted.get(queue, _FIRST))
            return sorted(each for each in offsets if each >= begin)
        missing: set[int] = set()
        for era, found in eras.items():
            read = {message.offset for tenure in found for message in tenure.consumed}
            begin = self._begin_of(queue, era)
            end = inf if era == max(eras) else max(tenure.frontier for tenure in found)
            passed = [each for tenure in found for each in tenure.passed]
            missing |= {
                each
                for each in offsets
                if begin <= each < end
                and each not in read
                and not any(each in span for span in passed)
            }
        return sorted(missing)

    def _begin_of(self, queue: Queue, era: Era) -> int:
        """Return below which offset of a queue an era owes nothing."""
        if era.reset:
            return self._begins.get((queue, era), 0)
        return self._left_out.get((queue, era.life), 0)


def _lives(history: History) -> dict[tuple[Queue, Epoch], int]:
    """Return, of each grant whose topic's identity was told, how many lives were granted before.

    No topic has an identity again: where one comes back, all of the queue is judged as one life.
    """
    orders: dict[Queue, list[str]] = {}
    lives, odd = {}, set()
    for (queue, epoch), identity in sorted(history.lives.items()):
        order = orders.setdefault(queue, [])
        if identity not in order:
            order.append(identity)
        elif identity != order[-1]:
            odd.add(queue)
        lives[queue, epoch] = order.index(identity)
    return {grant: life for grant, life in lives.items() if grant[0] not in odd}
