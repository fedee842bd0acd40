"""What the calls of listeners show: repetitions, two at work on a queue, gaps, and holes.

It judges RocketMQ's own rebalance and Fairlead's by the same rules, from the calls alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from fairlead.core.model import MessageQueue
from fairlead_proof.demo_rocketmq.handler_calls import Call, Standstill

__all__ = ["Handled", "Move", "judge_calls"]


@dataclass(frozen=True, slots=True)
class Move:
    """A queue that goes on at another consumer.

    Attributes:
        queue: which.
        left: who worked on it before.
        right: who goes on.
        gap_ns: from the end of the last call before to the beginning of the first one after it;
            negative: the newcomer began while a call was under way.
        at_ns: the beginning of the first call at the new owner.
        clean: nobody was killed or frozen with the queue's message in hand at this move.
    """

    queue: MessageQueue
    left: str
    right: str
    gap_ns: int
    at_ns: int
    clean: bool


@dataclass(frozen=True, slots=True)
class Handled:
    """What a run's listeners did.

    Attributes:
        calls: how many there were.
        moves: queues that went on at another consumer.
        begun_again: messages that a listener got once more, though whoever had them first lives,
            was not frozen meanwhile, and had not failed them.
        begun_again_after_cut: messages that came again after the one who had them first was killed
            or frozen.
        beside: calls that began while another consumer was at work on the same queue.
        taken_over_ms: after how long the last queue of a frozen consumer went on at another one;
            None: one did not while it stood still, or nobody was frozen.
        missed: offsets that no listener has processed, by queue; [from, to).
    """

    calls: int
    moves: tuple[Move, ...]
    begun_again: tuple[Call, ...]
    begun_again_after_cut: int
    beside: tuple[Call, ...]
    taken_over_ms: float | None = None
    missed: Mapping[MessageQueue, tuple[int, ...]] = field(default_factory=dict)

    @property
    def holes(self) -> int:
        """How many messages no listener has processed."""
        return sum(len(each) for each in self.missed.values())

    def gap_ms(self) -> float | None:
        """The median pause of a queue at a clean move, in milliseconds; None: none moved."""
        gaps = [move.gap_ns for move in self.moves if move.clean]
        return median(gaps) / 1e6 if gaps else None

    def longest_gap_ms(self) -> float | None:
        """The longest pause of a queue at any move, in milliseconds; None: none moved."""
        return max((move.gap_ns / 1e6 for move in self.moves), default=None)


def judge_calls(
    calls: Sequence[Call],
    ends: Mapping[MessageQueue, int],
    standstills: Mapping[str, Sequence[Standstill]],
) -> Handled:
    """Return what the calls show.

    Args:
        calls: in the order of their beginnings.
        ends: by queue, the first offset that was never written; each below it must be processed.
        standstills: by consumer, when it was killed or stood still. What it had finished may come
            again afterwards, since nobody may have heard of it.
    """
    by_queue: dict[MessageQueue, list[Call]] = {}
    for call in calls:
        by_queue.setdefault(call.queue, []).append(call)
    moves: list[Move] = []
    again: list[Call] = []
    beside: list[Call] = []
    after_cut = 0
    for queue in sorted(by_queue):
        mine = by_queue[queue]
        moves += _moves(queue, mine)
        beside += _beside(mine)
        clean, cut = _begun_again(mine, standstills)
        again += clean
        after_cut += cut
    missed = {
        queue: tuple(gone)
        for queue, end in sorted(ends.items())
        if (gone := _missed(by_queue.get(queue, ()), end))
    }
    return Handled(
        calls=len(calls),
        moves=tuple(moves),
        begun_again=tuple(again),
        begun_again_after_cut=after_cut,
        beside=tuple(beside),
        taken_over_ms=_taken_over_ms(by_queue, standstills),
        missed=missed,
    )


def _moves(queue: MessageQueue, calls: Sequence[Call]) -> list[Move]:
    moves, last_end, cut = [], 0, False
    for before, after in pairwise(calls):
        end = before.begin_ns if before.end_ns is None else before.end_ns
        last_end, cut = max(last_end, end), cut or before.cut
        if before.who != after.who:
            gap = after.begin_ns - last_end
            moves.append(Move(queue, before.who, after.who, gap, after.begin_ns, not cut))
            last_end, cut = 0, False
    return moves


def _beside(calls: Sequence[Call]) -> list[Call]:
    """The calls that began while a call of somebody else was under way."""
    found: list[Call] = []
    under_way: list[Call] = []
    for call in calls:
        under_way = [e for e in under_way if e.end_ns is None or e.end_ns > call.begin_ns]
        if any(each.who != call.who for each in under_way):
            found.append(call)
        under_way.append(call)
    return found


def _begun_again(
    calls: Sequence[Call], standstills: Mapping[str, Sequence[Standstill]]
) -> tuple[list[Call], int]:
    """The repetitions that nothing excuses, and the number of those after a death or a freeze."""
    clean: list[Call] = []
    excused = 0
    newest: dict[int, Call] = {}
    for call in calls:
        before = newest.get(call.offset)
        newest[call.offset] = call
        if before is None:
            continue
        stood_still = any(
            before.begin_ns <= each.begin_ns < call.begin_ns
            for each in standstills.get(before.who, ())
        )
        failed = not before.consumed and before.end_ns is not None and not before.cut
        if stood_still:
            excused += 1
        elif not failed:
            clean.append(call)
    return clean, excused


def _taken_over_ms(
    by_queue: Mapping[MessageQueue, Sequence[Call]],
    standstills: Mapping[str, Sequence[Standstill]],
) -> float | None:
    """Return after how long the last queue of a frozen consumer went on; None: one did not."""
    took_ms: list[float] = []
    for who, each in ((who, each) for who, mine in standstills.items() for each in mine):
        if each.end_ns is None:
            continue
        for calls in by_queue.values():
            before = [call for call in calls if call.begin_ns <= each.begin_ns]
            if not before or before[-1].who != who:
                continue
            after = calls[len(before) :]
            begun = [call.begin_ns for call in after if call.who != who]
            if not begun or begun[0] > each.end_ns:
                return None
            took_ms.append((begun[0] - each.begin_ns) / 1e6)
    return max(took_ms, default=None)


def _missed(calls: Sequence[Call], end: int) -> list[int]:
    done = {call.offset for call in calls if call.consumed}
    return [offset for offset in range(end) if offset not in done]
