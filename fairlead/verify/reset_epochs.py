"""What an operator's reset, or a topic made anew, makes of the work on a queue: a reading begins.

A reset moves the start of a queue, back or forward. What is read again by it, or left out, was
meant so. A topic that was deleted and made anew has other messages under the same offsets.
Repetitions, holes and misses are judged within one *era*: in one life of the topic, from one reset
that was followed to the next. The first one of a life begins where the group does: what a queue
held before its start at a commit, at its end or at a time is not the group's to read. Whether that
start was right is judged by the topics.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable
from math import inf
from typing import Final, NamedTuple

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.history import History
from fairlead.verify.tenures import Tenure, Tenures

__all__ = ["Era", "Eras"]

_NEVER_TOLD: Final = ""
"""The reason of a start of which no decision tells: its driver died before it wrote one."""
_LEAVES_OUT: Final = ("committed", "last_offset", "timestamp", _NEVER_TOLD)
"""Reasons of a queue's first start that leave out what stands before it, or may do so."""


class Era(NamedTuple):
    """Which reading of a queue: the life of its topic, counted from 0, and the reset followed.

    Attributes:
        life: how many others were granted before.
        reset: the operator's reset within the life; 0: none.
    """

    life: int
    reset: int


_FIRST: Final = Era(0, 0)


class _Grant(NamedTuple):
    """The reset that a grant follows, where it begins, and why there."""

    reset: int
    offset: int
    why: str


class _Spans:
    """Offsets that were passed over: a filter may leave a span for each of many messages."""

    def __init__(self, spans: Iterable[range]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        for span in sorted(spans, key=lambda each: each.start):
            if self._ends and span.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], span.stop)
            else:
                self._begins.append(span.start)
                self._ends.append(span.stop)

    def hold(self, offset: int) -> bool:
        """Tell whether an offset lies in one of them."""
        at = bisect_right(self._begins, offset) - 1
        return at >= 0 and offset < self._ends[at]


class Eras:
    """Which era each tenure is of, by the grants that decisions and assignments tell of."""

    def __init__(self, history: History, tenures: Tenures) -> None:
        """Read the grants.

        Args:
            history: its decisions, and of which lives the grants are.
            tenures: who worked on what. One that goes on from an older reset than somebody before
                it is counted to the newer one's era: there it is a repetition or a hole.
        """
        self._begins: dict[tuple[MessageQueue, Era], int] = {}
        self._left_out: dict[tuple[MessageQueue, int], int] = {}
        self._granted: dict[MessageQueue, Era] = {}
        eras: dict[tuple[MessageQueue, Epoch], Era] = {}
        life_of = _lives(history)
        for (queue, epoch), told in sorted(_grants(history).items()):
            # A grant that does not tell its life is of the life of the one before.
            known = self._granted.get(queue, _FIRST)
            era = eras[queue, epoch] = Era(life_of.get((queue, epoch), known.life), told.reset)
            self._begins.setdefault((queue, era), told.offset)
            left_out = told.offset if told.why in _LEAVES_OUT else 0
            self._left_out.setdefault((queue, era.life), left_out)
            self._granted[queue] = max(era, known)
        self._tenures = tenures
        self._eras: dict[tuple[MessageQueue, Epoch], Era] = {}
        for queue, found in tenures.by_queue.items():
            newest = _FIRST
            for tenure in found:
                newest = max(newest, eras.get((queue, tenure.epoch), _FIRST))
                self._eras[queue, tenure.epoch] = newest

    def of(self, tenure: Tenure) -> Era:
        """Return the era of a tenure."""
        return self._eras[tenure.queue, tenure.epoch]

    def is_of_an_older_life(self, tenure: Tenure) -> bool:
        """Tell whether its topic was made anew since: the source holds other messages."""
        return self.of(tenure).life < self._granted.get(tenure.queue, _FIRST).life

    def begin(self, tenure: Tenure) -> int | None:
        """Return where the operator let the tenure's era begin; None: no reset went before it."""
        era = self.of(tenure)
        return self._begins[tenure.queue, era] if era.reset else None

    def unread(self, queue: MessageQueue, offsets: Collection[int]) -> list[int]:
        """Return which messages of a queue nobody processed in an era in which somebody should.

        An era reaches from where it begins to where the next one was begun in it, the last one to
        the end, also if it was granted and nobody began it. Of older lives of the topic no message
        is left to be missed.
        """
        eras: dict[Era, list[Tenure]] = {self._granted.get(queue, _FIRST): []}
        for tenure in self._tenures.by_queue.get(queue, ()):
            if not self.is_of_an_older_life(tenure):
                eras.setdefault(self.of(tenure), []).append(tenure)
        missing: set[int] = set()
        for era, found in eras.items():
            read = {message.offset for tenure in found for message in tenure.consumed}
            begin = self._begin_of(queue, era)
            end = inf if era == max(eras) else max(tenure.frontier for tenure in found)
            passed = _Spans(each for tenure in found for each in tenure.passed)
            missing |= {
                each
                for each in offsets
                if begin <= each < end and each not in read and not passed.hold(each)
            }
        return sorted(missing)

    def _begin_of(self, queue: MessageQueue, era: Era) -> int:
        """Return below which offset of a queue an era owes nothing."""
        if era.reset:
            return self._begins.get((queue, era), 0)
        return self._left_out.get((queue, era.life), 0)


def _grants(history: History) -> dict[tuple[MessageQueue, Epoch], _Grant]:
    """Return each grant as it was told first, by decisions or to its client alone."""
    found: dict[tuple[MessageQueue, Epoch], _Grant] = {}
    for decision in history.decisions:
        for move in decision.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                told = _Grant(*move.position, str(move.why))
                found.setdefault((move.queue, move.epoch), told)
    for place, start in history.starts.items():
        # Where its driver died before it wrote its decision, somebody may work under it.
        found.setdefault(place, _Grant(*start, _NEVER_TOLD))
    return found


def _lives(history: History) -> dict[tuple[MessageQueue, Epoch], int]:
    """Return, of each grant whose topic's identity was told, how many lives were granted before.

    No topic has an identity again: where one comes back, all of the queue is judged as one life.
    """
    orders: dict[MessageQueue, list[str]] = {}
    lives, odd = {}, set()
    for (queue, epoch), identity in sorted(history.lives.items()):
        order = orders.setdefault(queue, [])
        if identity not in order:
            order.append(identity)
        elif identity != order[-1]:
            odd.add(queue)
        lives[queue, epoch] = order.index(identity)
    return {grant: life for grant, life in lives.items() if grant[0] not in odd}
