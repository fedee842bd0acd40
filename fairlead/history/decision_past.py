"""What the ribbon of a group knows of one of its decisions, taken while nobody changes it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fairlead.core.model import MessageQueue
from fairlead.history.decision_proof import QueueSpread
from fairlead.history.grant_history import GrantHistory
from fairlead.history.moves import Move, moves_of
from fairlead.history.ribbon_fold import RibbonFold
from fairlead.observed.fewest_moves import fewest_moves
from fairlead.observed.group_decisions import LoggedDecision
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["DecisionPast", "decision_past", "owners_before"]

Owners = Mapping[MessageQueue, str | None]
_Times = dict[MessageQueue, int]


@dataclass(frozen=True, slots=True)
class DecisionPast:
    """A decision among the others of its group.

    Attributes:
        audit: the decision.
        prelude: the decisions that it followed up.
        moves: the queues that it moved.
        began_ms: moved queue -> since when its next client could work.
        released_ms: moved queue -> when its former client released it.
        heard_ms: moved queue -> the last heartbeat of its former client, which was taken for dead.
        queues_moved: how many queues it gave to a client that did not have them.
        fewest: the fewest moves that an even share by number needed.
        spread_before: how many queues the members that took part owned before it.
        spread_after: how many they own by it.
        previous: the offset of the group's decision before it; None: it is not remembered.
        next: the offset of the one after it; None: there is none.
    """

    audit: DecisionRecord
    prelude: tuple[DecisionRecord, ...]
    moves: tuple[Move, ...]
    began_ms: Mapping[MessageQueue, int]
    released_ms: Mapping[MessageQueue, int]
    heard_ms: Mapping[MessageQueue, int]
    queues_moved: int
    fewest: int
    spread_before: QueueSpread
    spread_after: QueueSpread
    previous: int | None
    next: int | None


def decision_past(
    fold: RibbonFold, decisions: Iterable[LoggedDecision], offset: int
) -> DecisionPast | None:
    """Return what is known of the decision at an offset of the log; None: it is not remembered.

    Args:
        fold: the ribbon of its group.
        decisions: the remembered decisions, oldest first.
        offset: its offset.
    """
    known = [each for each in decisions if not each.superseded]
    number = next((n for n, each in enumerate(known) if each.place.offset == offset), None)
    if number is None:
        return None
    decision = known[number]
    audit = decision.record()
    prior = known[number - 1] if number else None
    later = known[number + 1] if number + 1 < len(known) else None
    moves = tuple(_copied(move) for move in moves_of(fold.grants, offset))
    before = owners_before(fold.grants, offset, fold.owners)
    after = owners_before(fold.grants, offset + 1, fold.owners)
    owned = {queue: owner for queue, owner in after.items() if owner is not None}
    began_ms, released_ms, heard_ms = _times(fold, moves)
    return DecisionPast(
        audit=audit,
        prelude=fold.grants.prelude_of(audit),
        moves=moves,
        began_ms=began_ms,
        released_ms=released_ms,
        heard_ms=heard_ms,
        queues_moved=decision.queues_moved,
        fewest=min(decision.queues_moved, fewest_moves(before, owned)),
        spread_before=QueueSpread.of(before.values(), audit.members),
        spread_after=QueueSpread.of(owned.values(), audit.members),
        previous=None if prior is None else prior.place.offset,
        next=None if later is None else later.place.offset,
    )


def owners_before(
    grants: GrantHistory, offset: int, standing: Mapping[MessageQueue, str]
) -> Owners:
    """Return the owner of each queue by the decisions before an offset of the log.

    Args:
        grants: the grants by all decisions.
        offset: the offset.
        standing: the owners of queues that none of these decisions moved.
    """
    owners: dict[MessageQueue, str | None] = dict(standing)
    for queue, known in grants.of.items():
        owners[queue] = None
        for grant in reversed(known):
            if grant.given is not None and grant.given.row.offset >= offset:
                continue
            taken = grant.taken_by
            if taken is None or taken.row.offset >= offset:
                owners[queue] = grant.client_id
            break
    return owners


def _times(fold: RibbonFold, moves: Iterable[Move]) -> tuple[_Times, _Times, _Times]:
    """Return when the next client of each moved queue began, and the last signs of the former one.

    Its last signs are its release, and the last heartbeat of one that was taken for dead.
    """
    began: _Times = {}
    released: _Times = {}
    heard: _Times = {}
    for move in moves:
        spans = {each.epoch: each for each in fold.row(move.queue).spans}
        after = None if move.after is None else spans.get(move.after.epoch)
        before = None if move.before is None else spans.get(move.before.epoch)
        if after is not None and after.began and after.begins_ms is not None:
            began[move.queue] = after.begins_ms
        if before is not None and before.released_ms is not None:
            released[move.queue] = before.released_ms
        elif before is not None and before.silent_since_ms is not None:
            heard[move.queue] = before.silent_since_ms
    return began, released, heard


def _copied(move: Move) -> Move:
    """Return a move that later decisions do not change."""
    before = None if move.before is None else replace(move.before)
    after = None if move.after is None else replace(move.after)
    return replace(move, before=before, after=after)
