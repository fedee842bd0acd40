"""Grants that a decision marks unsafe: nobody waited for whoever might still be working."""

from collections.abc import Iterable

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.tenures import Tenure
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["UnsafeGrants", "marked_unsafe"]


def marked_unsafe(decisions: Iterable[DecisionRecord]) -> frozenset[tuple[MessageQueue, Epoch]]:
    """Return the grants that were given although somebody else might be working."""
    return frozenset(
        (move.queue, move.epoch) for decision in decisions for move in decision.moves if move.unsafe
    )


class UnsafeGrants:
    """Decides which two owners may have met: those between whom a grant was marked unsafe."""

    def __init__(self, decisions: Iterable[DecisionRecord]) -> None:
        """Take the marks of all decisions of a group."""
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

        The younger grant, or one between the two, was given without waiting for the elder. Of what
        a superseded driver gave the one after it knows nothing: it waits for the elder itself.
        Where no decision tells that a grant was given, since its driver died before it wrote one,
        the mark is not known: it may have had one if another grant of the queue has.
        """
        elder, younger = sorted((one.epoch, other.epoch))
        known = self._known.get(one.queue, ())
        if any(elder < epoch <= younger for epoch in known):
            return True
        if (one.queue, younger) in self._marked and elder < younger:
            return True
        return bool(known) and (one.queue, younger) not in self._told
