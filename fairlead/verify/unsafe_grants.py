"""Grants that a decision marks unsafe: the engine did not wait for the former owner."""

from collections.abc import Iterable

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.tenures import Tenure
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["UnsafeGrants", "marked_unsafe"]


def marked_unsafe(decisions: Iterable[DecisionRecord]) -> frozenset[tuple[MessageQueue, Epoch]]:
    """Return the grants that the engine made although another client might be working."""
    return frozenset(
        (move.queue, move.epoch) for decision in decisions for move in decision.moves if move.unsafe
    )


class UnsafeGrants:
    """Decides which two owners may overlap: those with an unsafe grant between them."""

    def __init__(self, decisions: Iterable[DecisionRecord]) -> None:
        """Read the marks of all decisions of a group."""
        decisions = tuple(decisions)
        self._marked = marked_unsafe(decisions)
        self._known: dict[MessageQueue, list[Epoch]] = {}
        for queue, epoch in marked_unsafe(each for each in decisions if not each.superseded):
            self._known.setdefault(queue, []).append(epoch)
        self._told = {
            (move.queue, move.epoch)
            for each in decisions
            for move in each.moves
            if move.stage in ("gated", "granted")
        }

    def excuse(self, one: Tenure, other: Tenure) -> bool:
        """Tell whether two tenures of one queue may share a moment, or a message.

        They may if the younger grant, or one between the two, did not wait for the elder. A new
        driver does not know the unsafe grants of a superseded one and waits for the elder itself.
        A grant without a decision, because its driver died before, has an unknown mark: it may be
        unsafe if another grant of the queue is.
        """
        elder, younger = sorted((one.epoch, other.epoch))
        known = self._known.get(one.queue, ())
        if any(elder < epoch <= younger for epoch in known):
            return True
        if (one.queue, younger) in self._marked and elder < younger:
            return True
        return bool(known) and (one.queue, younger) not in self._told
