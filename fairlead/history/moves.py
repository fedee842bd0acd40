"""The moves of a group's queues: from whom to whom, by which decision, and what came of each."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.history.cause_words import chief_cause, chief_trigger, headline
from fairlead.history.grant_history import Tenure, Tenures
from fairlead.history.least_moves import least_moves
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["DecidedMoves", "Move", "MoveKind", "decided_moves", "moves_by_trigger", "only"]

MoveKind = Literal["moved", "renewed", "given_up"]
"""``moved``: another client has the queue. ``renewed``: the same client has it anew, under another
epoch. ``given_up``: nobody has it from this decision on."""


@dataclass(frozen=True, slots=True)
class Move:
    """One queue that one decision moved.

    Attributes:
        queue: which.
        kind: what became of it.
        audit: the decision.
        before: the grant that it had before; None: none is known.
        after: the grant that the decision gave; None: it gave none.
        prelude: the decisions that it only followed up.
    """

    queue: MessageQueue
    kind: MoveKind
    audit: DecisionRecord
    before: Tenure | None
    after: Tenure | None
    prelude: tuple[DecisionRecord, ...] = ()

    @property
    def handover_ms(self) -> int | None:
        """From this decision to the one that granted the queue; None: none did."""
        if self.after is None or self.after.granted is None:
            return None
        return self.after.granted.written_ms - self.audit.written_ms

    @property
    def client_ids(self) -> frozenset[str]:
        """The clients that had the queue, or have it now."""
        tenures = (each for each in (self.before, self.after) if each is not None)
        return frozenset(each.client_id for each in tenures)

    def document(self) -> dict[str, Any]:
        """Return the move as JSON values."""
        audit, before, after = self.audit, self.before, self.after
        causes = [cause for each in (*self.prelude, audit) for cause in each.causes]
        cause = chief_cause(causes, self.queue, self.client_ids)
        position = None if after is None else after.position
        return {
            "group": audit.group,
            "epoch": [*audit.epoch],
            "at": [audit.row.topic, audit.row.partition, audit.row.offset],
            "append_ms": audit.written_ms,
            "queue": [*self.queue],
            "kind": self.kind,
            "from": None if before is None else before.client_id,
            "to": None if after is None else after.client_id,
            "trigger": chief_trigger(audit.triggers),
            "triggers": [*audit.triggers],
            "says": headline(audit, self.prelude),
            "chief_cause": None if cause is None else dict(cause),
            "began": None if after is None else _began(after),
            "handover_ms": self.handover_ms,
            "position": None if position is None else [*position],
            "why": None if after is None else after.why,
            "unsafe": after is not None and after.unsafe,
            "strategy": audit.strategy,
        }


@dataclass(frozen=True, slots=True)
class DecidedMoves:
    """The moves of one decision. ``least``: so few would have done for an even share by number."""

    audit: DecisionRecord
    moves: tuple[Move, ...]
    least: int

    @property
    def queues_moved(self) -> int:
        """How many queues have another owner by it."""
        return sum(move.kind == "moved" for move in self.moves)


def decided_moves(
    tenures: Tenures, standing: Mapping[MessageQueue, str], since_ms: int
) -> list[DecidedMoves]:
    """Return the moves of each decision from a time on, the newest last.

    Args:
        tenures: what the decisions from then on, or from before, add up to.
        standing: who has the queues that none of these decisions moved.
        since_ms: the time.
    """
    owners: dict[MessageQueue, str | None] = dict(standing)
    for queue, known in tenures.of.items():
        owners[queue] = known[0].client_id if known[0].given is None else None
    found = []
    for moves in _by_decision(_moves(tenures)):
        audit = moves[0].audit
        after = {**owners, **{each.queue: _owner_after(each) for each in moves}}
        changed = DecidedMoves(audit, tuple(moves), 0)
        least = min(changed.queues_moved, _least(owners, after))
        owners = after
        if audit.written_ms >= since_ms:
            found.append(DecidedMoves(audit, tuple(moves), least))
    return found


def only(
    decided: Iterable[DecidedMoves], queues: Collection[MessageQueue], client_ids: Collection[str]
) -> list[DecidedMoves]:
    """Return the moves of some queues and clients; none named: of all."""
    found = []
    for each in decided:
        moves = tuple(
            move
            for move in each.moves
            if (not queues or move.queue in queues)
            and (not client_ids or not move.client_ids.isdisjoint(client_ids))
        )
        if moves:
            found.append(replace(each, moves=moves))
    return found


def moves_by_trigger(decided: Iterable[DecidedMoves]) -> dict[str, int]:
    """Return how many queues changed their owner by the chief trigger of each decision."""
    counts: Counter[str] = Counter()
    for each in decided:
        counts[chief_trigger(each.audit.triggers) or "none"] += each.queues_moved
    return {trigger: number for trigger, number in counts.most_common() if number}


def _began(tenure: Tenure) -> str:
    """Say how the client of a grant was let in: ``granted``, ``released``, ``no``."""
    if tenure.granted is not None:
        return "granted"
    return "released" if tenure.opened is not None else "no"


def _moves(tenures: Tenures) -> Iterator[Move]:
    for known in tenures.of.values():
        for place, tenure in enumerate(known):
            before = known[place - 1] if place else None
            if tenure.given is not None:
                same = before is not None and before.client_id == tenure.client_id
                kind: MoveKind = "renewed" if same else "moved"
                prelude = tenures.prelude_of(tenure.given)
                yield Move(tenure.queue, kind, tenure.given, before, tenure, prelude)
            later = known[place + 1] if place + 1 < len(known) else None
            taken_by = tenure.taken_by
            if taken_by is not None and (later is None or later.given is not taken_by):
                if later is not None and (later.given is None or _precedes(later.given, taken_by)):
                    # Its successor had been found before it was found to have ended.
                    continue
                prelude = tenures.prelude_of(taken_by)
                yield Move(tenure.queue, "given_up", taken_by, tenure, None, prelude)


def _precedes(one: DecisionRecord, other: DecisionRecord) -> bool:
    return one.row.offset < other.row.offset


def _by_decision(moves: Iterable[Move]) -> list[list[Move]]:
    """Return moves decision by decision, in the order of the log."""
    found: dict[int, list[Move]] = {}
    for move in moves:
        found.setdefault(move.audit.row.offset, []).append(move)
    return [
        sorted(found[offset], key=lambda move: (queue_order(move.queue), move.kind))
        for offset in sorted(found)
    ]


def _owner_after(move: Move) -> str | None:
    return None if move.after is None else move.after.client_id


def _least(
    before: Mapping[MessageQueue, str | None], after: Mapping[MessageQueue, str | None]
) -> int:
    """Return the fewest moves to an even share among those who have a queue afterwards."""
    queues = [queue for queue, owner in after.items() if owner is not None]
    sharing = {owner for owner in after.values() if owner is not None}
    held = Counter(owner for queue in queues if (owner := before.get(queue)) in sharing)
    return least_moves(
        {str(owner): count for owner, count in held.items()}, len(sharing), len(queues)
    )
