"""Draws a run as text: one line per side of a queue, one letter per moment."""

from collections import Counter
from collections.abc import Iterator

from fairlead.core.model import MessageQueue
from fairlead_proof.pitfalls.ledger import PAUSE_MS, Ledger
from fairlead_proof.pitfalls.pitfall import OURS, ROCKETMQ, PitfallRun

__all__ = ["LEGEND", "WIDTH", "picture", "shown_queues"]

WIDTH = 60
"""How many moments a line has."""

QUEUES_MAX = 8
"""The picture shows this many queues if every queue always had one owner."""

NOBODY = "·"
TWICE = "#"
_LOOKS = 10
"""How many samples each moment takes."""

LEGEND = f"each process by the last sign of its name; {TWICE} two at once, {NOBODY} nobody"


def picture(run: PitfallRun) -> Iterator[str]:
    """Yield the lines: the time on top, then the queues of `shown_queues`."""
    pitfall = run.pitfall
    span_ms = pitfall.to_ms - pitfall.from_ms
    first, last = f"{pitfall.from_ms / 1_000:g} s", f"{pitfall.to_ms / 1_000:g} s"
    yield f"{'':20}{first}{last:>{WIDTH - len(first)}}"
    for queue in shown_queues(run):
        name = pitfall.scene.name_of(queue)
        for side in (ROCKETMQ, OURS):
            ledger = run.sides[side].ledger
            moments = "".join(
                _moment(
                    ledger,
                    queue,
                    pitfall.from_ms + span_ms * index // WIDTH,
                    pitfall.from_ms + span_ms * (index + 1) // WIDTH,
                )
                for index in range(WIDTH)
            )
            yield f"{name if side == ROCKETMQ else '':10}{side:10}{moments}"


def shown_queues(run: PitfallRun) -> list[MessageQueue]:
    """Return the queues that had two owners or none; else those that moved most."""
    odd = {
        queue for side in run.sides.values() for queue in (*side.tally.twice, *side.tally.nobody)
    }
    if not odd:
        moves = Counter(
            tenure.queue
            for side in run.sides.values()
            for tenure in side.ledger.tenures
            if tenure.begin_ms > run.pitfall.from_ms
        )
        odd = {queue for queue, _ in moves.most_common(QUEUES_MAX)}
    return [queue for queue in run.pitfall.queues if queue in odd]


def _moment(ledger: Ledger, queue: MessageQueue, from_ms: int, to_ms: int) -> str:
    """Return TWICE if there ever were two owners, NOBODY after a long pause, else the last owner.

    A pause that is too short to count shows its next owner.
    """
    owners = [
        ledger.owners(queue, from_ms + (to_ms - from_ms) * index // _LOOKS)
        for index in range(_LOOKS)
    ]
    if any(len(each) > 1 for each in owners):
        return TWICE
    held = [each[0] for each in owners if each]
    if not held or (len(held) <= _LOOKS // 2 and to_ms - from_ms > PAUSE_MS):
        return NOBODY
    return held[-1][-1]
