"""The moves of a group's queues: from whom to whom, by which decision, and what came of each."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.history.cause_words import chief_cause, chief_trigger, headline
from fairlead.history.grant_history import GrantHistory, GrantSpan
from fairlead.observed.fewest_moves import fewest_moves
from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "DecidedMoves",
    "Move",
    "MoveKind",
    "chosen_moves",
    "decided_moves",
    "moves_by_trigger",
    "moves_of",
]

MoveKind = Literal["moved", "renewed", "given_up"]
"""``moved``: another client has the queue. ``renewed``: the same client has it under another epoch.
``given_up``: nobody has it from this decision on."""


@dataclass(frozen=True, slots=True)
class Move:
    """One queue that one decision moved.

    Attributes:
        queue: the queue.
        kind: what became of it.
        audit: the decision.
        before: its former grant; None: unknown.
        after: the grant that the decision gave; None: it gave none.
        prelude: the decisions that this one followed up.
    """

    queue: MessageQueue
    kind: MoveKind
    audit: DecisionRecord
    before: GrantSpan | None
    after: GrantSpan | None
    prelude: tuple[DecisionRecord, ...] = ()

    @property
    def handover_ms(self) -> int | None:
        """From this decision to the one that granted the queue; None: none did."""
        if self.after is None or self.after.granted is None:
            return None
        return self.after.granted.written_ms - self.audit.written_ms

    @property
    def client_ids(self) -> frozenset[str]:
        """The clients that had the queue or have it now."""
        grants = (each for each in (self.before, self.after) if each is not None)
        return frozenset(each.client_id for each in grants)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
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
            "start_position": None if position is None else [*position],
            "start_why": None if after is None else after.why,
            "unsafe": after is not None and after.unsafe,
            "strategy": audit.strategy,
        }


@dataclass(frozen=True, slots=True)
class DecidedMoves:
    """The moves of one decision. ``least``: the fewest that an even share by number needed."""

    audit: DecisionRecord
    moves: tuple[Move, ...]
    least: int

    @property
    def queues_moved(self) -> int:
        """How many queues got another owner."""
        return sum(move.kind == "moved" for move in self.moves)


def decided_moves(
    grants: GrantHistory, standing: Mapping[MessageQueue, str], since_ms: int
) -> list[DecidedMoves]:
    """Return the moves of each decision from a time on, the newest last.

    Args:
        grants: the grants by these decisions and earlier ones.
        standing: the owners of queues that none of these decisions moved.
        since_ms: the time.
    """
    owners: dict[MessageQueue, str | None] = dict(standing)
    for queue, known in grants.of.items():
        owners[queue] = known[0].client_id if known[0].given is None else None
    decided = []
    for moves in _by_decision(_moves(grants)):
        audit = moves[0].audit
        after = {**owners, **{each.queue: _owner_after(each) for each in moves}}
        changed = DecidedMoves(audit, tuple(moves), 0)
        least = min(changed.queues_moved, _least(owners, after))
        owners = after
        if audit.written_ms >= since_ms:
            decided.append(DecidedMoves(audit, tuple(moves), least))
    return decided


def moves_of(grants: GrantHistory, offset: int) -> list[Move]:
    """Return the moves of the decision at an offset of the log, in the queues' order."""
    found = (each for each in _moves(grants) if each.audit.row.offset == offset)
    return sorted(found, key=lambda move: (queue_order(move.queue), move.kind))


def chosen_moves(
    decided: Iterable[DecidedMoves], queues: Collection[MessageQueue], client_ids: Collection[str]
) -> list[DecidedMoves]:
    """Return the moves of some queues and clients; if none are named, of all."""
    chosen = []
    for each in decided:
        moves = tuple(
            move
            for move in each.moves
            if (not queues or move.queue in queues)
            and (not client_ids or not move.client_ids.isdisjoint(client_ids))
        )
        if moves:
            chosen.append(replace(each, moves=moves))
    return chosen


def moves_by_trigger(decided: Iterable[DecidedMoves]) -> dict[str, int]:
    """Return how many queues changed their owner, by the chief trigger of the decision."""
    counts: Counter[str] = Counter()
    for each in decided:
        counts[chief_trigger(each.audit.triggers) or "none"] += each.queues_moved
    return {trigger: number for trigger, number in counts.most_common() if number}


def _began(grant: GrantSpan) -> str:
    """Say what let the client of a grant begin: ``granted``, ``released``, ``no``."""
    if grant.granted is not None:
        return "granted"
    return "released" if grant.began_by_release else "no"


def _moves(grants: GrantHistory) -> Iterator[Move]:
    for known in grants.of.values():
        for place, grant in enumerate(known):
            before = known[place - 1] if place else None
            if grant.given is not None:
                same = before is not None and before.client_id == grant.client_id
                kind: MoveKind = "renewed" if same else "moved"
                prelude = grants.prelude_of(grant.given)
                yield Move(grant.queue, kind, grant.given, before, grant, prelude)
            later = known[place + 1] if place + 1 < len(known) else None
            taken_by = grant.taken_by
            if taken_by is not None and (later is None or later.given is not taken_by):
                if later is not None and (later.given is None or _precedes(later.given, taken_by)):
                    # Its successor was granted the queue before the end of this grant was found.
                    continue
                prelude = grants.prelude_of(taken_by)
                yield Move(grant.queue, "given_up", taken_by, grant, None, prelude)


def _precedes(one: DecisionRecord, other: DecisionRecord) -> bool:
    return one.row.offset < other.row.offset


def _by_decision(moves: Iterable[Move]) -> list[list[Move]]:
    """Return moves by decision, in the order of the log."""
    moves_at: dict[int, list[Move]] = {}
    for move in moves:
        moves_at.setdefault(move.audit.row.offset, []).append(move)
    return [
        sorted(moves_at[offset], key=lambda move: (queue_order(move.queue), move.kind))
        for offset in sorted(moves_at)
    ]


def _owner_after(move: Move) -> str | None:
    return None if move.after is None else move.after.client_id


def _least(
    before: Mapping[MessageQueue, str | None], after: Mapping[MessageQueue, str | None]
) -> int:
    """Return the fewest moves to an even share among those who own a queue afterwards."""
    return fewest_moves(before, {queue: owner for queue, owner in after.items() if owner})
