"""Splits the work on a queue into eras: an operator's reset or a recreated topic begins one.

A reset moves the start of a queue back or forward: the repeated or skipped messages are intended.
A recreated topic has other messages under the same offsets. So the judge looks for repetitions,
holes and missed messages within one *era*: one identity of the topic, from one followed reset to
the next. The first era of an identity begins where the group starts: messages before a start at a
commit, at the end or at a time are not the group's to read. The judge of positions decides whether
that start was right.
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
"""The reason of a start without a decision: its driver died before it wrote one."""
_LEAVES_OUT: Final = ("committed", "last_offset", "timestamp", _NEVER_TOLD)
"""Reasons of a queue's first start that skip the messages before it, or may."""


class Era(NamedTuple):
    """One reading of a queue.

    Attributes:
        recreation: how many identities of the topic were granted before this one.
        reset: the operator's reset that the reading follows; 0: none.
    """

    recreation: int
    reset: int


_FIRST: Final = Era(0, 0)


class _Grant(NamedTuple):
    """The reset that a grant follows, its first offset, and the reason of that start."""

    reset: int
    offset: int
    why: str


class _Spans:
    """Skipped offsets, merged: a filter may leave a span for each of many messages."""

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
    """The era of each tenure, by the grants in decisions and assignments."""

    def __init__(self, history: History, tenures: Tenures) -> None:
        """Read the grants.

        Args:
            history: its decisions, and the identities of the grants.
            tenures: who worked on what. A tenure that follows an older reset than the one before it
                counts to the newer era: there it is a repetition or a hole.
        """
        self._begins: dict[tuple[MessageQueue, Era], int] = {}
        self._left_out: dict[tuple[MessageQueue, int], int] = {}
        self._granted: dict[MessageQueue, Era] = {}
        eras: dict[tuple[MessageQueue, Epoch], Era] = {}
        recreation_of = _recreations(history)
        for (queue, epoch), grant in sorted(_grants(history).items()):
            # A grant without an identity has that of the grant before it.
            known = self._granted.get(queue, _FIRST)
            recreation = recreation_of.get((queue, epoch), known.recreation)
            era = eras[queue, epoch] = Era(recreation, grant.reset)
            self._begins.setdefault((queue, era), grant.offset)
            left_out = grant.offset if grant.why in _LEAVES_OUT else 0
            self._left_out.setdefault((queue, era.recreation), left_out)
            self._granted[queue] = max(era, known)
        self._tenures = tenures
        self._eras: dict[tuple[MessageQueue, Epoch], Era] = {}
        for queue, queue_tenures in tenures.by_queue.items():
            newest = _FIRST
            for tenure in queue_tenures:
                newest = max(newest, eras.get((queue, tenure.epoch), _FIRST))
                self._eras[queue, tenure.epoch] = newest

    def of(self, tenure: Tenure) -> Era:
        """Return the era of a tenure."""
        return self._eras[tenure.queue, tenure.epoch]

    def is_before_recreation(self, tenure: Tenure) -> bool:
        """Tell whether its topic was recreated since: the source holds other messages."""
        return self.of(tenure).recreation < self._granted.get(tenure.queue, _FIRST).recreation

    def begin(self, tenure: Tenure) -> int | None:
        """Return where the operator's reset let the tenure's era begin; None: there was none."""
        era = self.of(tenure)
        return self._begins[tenure.queue, era] if era.reset else None

    def unread(self, queue: MessageQueue, offsets: Collection[int]) -> list[int]:
        """Return the messages of a queue that nobody processed in an era that includes them.

        An era reaches from its beginning to the furthest work in it; the last era reaches to the
        end, even if nobody began it. The source holds no message of a former identity.
        """
        eras: dict[Era, list[Tenure]] = {self._granted.get(queue, _FIRST): []}
        for tenure in self._tenures.by_queue.get(queue, ()):
            if not self.is_before_recreation(tenure):
                eras.setdefault(self.of(tenure), []).append(tenure)
        missing: set[int] = set()
        for era, era_tenures in eras.items():
            read = {message.offset for tenure in era_tenures for message in tenure.consumed}
            begin = self._begin_of(queue, era)
            end = inf if era == max(eras) else max(tenure.frontier for tenure in era_tenures)
            passed = _Spans(each for tenure in era_tenures for each in tenure.passed)
            missing |= {
                each
                for each in offsets
                if begin <= each < end and each not in read and not passed.hold(each)
            }
        return sorted(missing)

    def _begin_of(self, queue: MessageQueue, era: Era) -> int:
        """Return the first offset of a queue that an era must process."""
        if era.reset:
            return self._begins.get((queue, era), 0)
        return self._left_out.get((queue, era.recreation), 0)


def _grants(history: History) -> dict[tuple[MessageQueue, Epoch], _Grant]:
    """Return each grant as a decision, or else its assignment record, first has it."""
    grants: dict[tuple[MessageQueue, Epoch], _Grant] = {}
    for decision in history.decisions:
        for move in decision.moves:
            if move.stage in ("gated", "granted") and move.position is not None:
                grant = _Grant(*move.position, str(move.why))
                grants.setdefault((move.queue, move.epoch), grant)
    for place, start in history.starts.items():
        # A client may work under a grant whose driver died before it wrote the decision.
        grants.setdefault(place, _Grant(*start, _NEVER_TOLD))
    return grants


def _recreations(history: History) -> dict[tuple[MessageQueue, Epoch], int]:
    """Return, for each grant with an identity, how many identities were granted before it.

    No identity returns: if one does, the whole queue counts as one identity.
    """
    orders: dict[MessageQueue, list[str]] = {}
    identity_numbers, odd = {}, set()
    for (queue, epoch), identity in sorted(history.identities.items()):
        order = orders.setdefault(queue, [])
        if identity not in order:
            order.append(identity)
        elif identity != order[-1]:
            odd.add(queue)
        identity_numbers[queue, epoch] = order.index(identity)
    return {grant: number for grant, number in identity_numbers.items() if grant[0] not in odd}
