"""What decisions did, compared with what was planned: queue by queue, decision by decision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.observed.phase_words import cause_words
from fairlead.planning.saved_plan import PlannedMove
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["QueueOutcome", "is_held_up", "outcomes_of", "unplanned_causes"]

MoveVerdict = Literal[
    "as_planned", "otherwise", "not_planned", "not_moved", "held_up", "not_written"
]
"""What came of a planned move.

``otherwise``: the queue comes from or goes to another client. ``held_up``: it waits, because the
group is paused, in a barrier or in quarantine. ``not_written``: a dry run.
"""

_HELD_UP: Final = frozenset(("paused", "barrier", "recovering", "quarantined"))
"""Phases in which a decision moves nothing."""


@dataclass(frozen=True, slots=True)
class QueueOutcome:
    """One queue: the planned move and the actual one; None: there is none."""

    queue: MessageQueue
    planned: PlannedMove | None
    moved: PlannedMove | None
    verdict: MoveVerdict

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "queue": list(self.queue),
            "planned": _way(self.planned),
            "moved": _way(self.moved),
            "verdict": self.verdict,
        }


def outcomes_of(
    planned: Sequence[PlannedMove], decisions: Sequence[DecisionRecord]
) -> list[QueueOutcome]:
    """Compare what decisions did with what was planned; in RocketMQ's order of queues.

    A dropped queue whose next owner is not granted yet is as planned so far.
    """
    wanted = {move.queue: move for move in planned}
    done = {move.queue: move for move in _moved(decisions)}
    waits = is_held_up(decisions)
    return [
        QueueOutcome(
            queue,
            wanted.get(queue),
            done.get(queue),
            _verdict(wanted.get(queue), done.get(queue), held_up=waits),
        )
        for queue in sorted({*wanted, *done}, key=queue_order)
    ]


def is_held_up(decisions: Sequence[DecisionRecord]) -> bool:
    """Tell whether the group moves nothing at present, as its newest decision says."""
    return bool(decisions) and decisions[-1].phase in _HELD_UP


def unplanned_causes(
    decisions: Iterable[DecisionRecord], epoch: Epoch | None, own: Iterable[tuple[str, int, int]]
) -> tuple[bool, list[str]]:
    """Tell whether a decision came between a plan and its records, and which other causes counted.

    Args:
        decisions: those that name the written records as causes.
        epoch: of the plan; None: the group had no decision, so nothing can be told.
        own: the places of the written records.

    Returns:
        Whether the first of them follows another decision than the plan did, and the causes, in
        words, that counted in these decisions and that nobody planned.
    """
    ordered = sorted(decisions, key=lambda each: each.epoch)
    written = {*own}
    beside = [
        cause_words(cause)
        for each in ordered
        for cause in each.causes
        if tuple(cause.get("at") or ()) not in written
    ]
    previous = ordered[0].previous_epoch if ordered else None
    between = epoch is not None and previous is not None and previous != epoch
    return between, list(dict.fromkeys(beside))


def _moved(decisions: Iterable[DecisionRecord]) -> Iterable[PlannedMove]:
    """Yield each queue that decisions took from somebody or gave to somebody."""
    moves: dict[MessageQueue, PlannedMove] = {}
    for decision in decisions:
        for move in decision.moves:
            queue = move.queue
            known = moves.get(queue, PlannedMove(queue, None, None))
            if move.stage == "dropped":
                # If several decisions drop a queue in turn, the first holder counts.
                holder = known.holder or move.client_id
                moves[queue] = known._replace(holder=holder, successor=None)
            elif move.stage in ("gated", "granted") and move.epoch == decision.epoch:
                moves[queue] = known._replace(successor=move.client_id)
    # A queue that went back to its holder has not moved.
    return [move for move in moves.values() if move.holder != move.successor]


def _verdict(
    planned: PlannedMove | None, moved: PlannedMove | None, *, held_up: bool
) -> MoveVerdict:
    if planned is None:
        return "not_planned"
    if moved is None:
        return "held_up" if held_up else "not_moved"
    same_holder = planned.holder == moved.holder
    if same_holder and moved.successor in (planned.successor, None):
        return "as_planned"
    return "otherwise"


def _way(move: PlannedMove | None) -> dict[str, Any] | None:
    return None if move is None else {"from": move.holder, "to": move.successor}
