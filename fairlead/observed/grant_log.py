"""What the decisions of a group in the log say of its present: when, why, and what is not safe."""

import contextlib
from dataclasses import dataclass, field

from fairlead.core.model import Epoch, MessageQueue
from fairlead.observed.observed_group import ObservedGroup
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["Past", "past_of"]

Granted = tuple[MessageQueue, str, Epoch]
"""A grant: the queue, whose, and its epoch."""


@dataclass(slots=True)
class Past:
    """What was read of the decisions.

    Attributes:
        newest: the last one; None: there was none in what was read.
        decided: when each epoch was first decided.
        granted: when each grant was made; of one that waited, when it was let in.
        dropped: when each was told to be given up.
        unsafe: grants that did not wait for somebody who might be working.
        phase_since_ms: when the group came into its present phase; None: before what was read.
        muted: when a client was first found to be mute, of those that are.
    """

    newest: DecisionRecord | None = None
    decided: dict[Epoch, int] = field(default_factory=dict)
    granted: dict[Granted, int] = field(default_factory=dict)
    dropped: dict[Granted, int] = field(default_factory=dict)
    unsafe: set[tuple[MessageQueue, Epoch]] = field(default_factory=set)
    phase_since_ms: int | None = None
    muted: dict[str, int] = field(default_factory=dict)
    _gated: set[Granted] = field(default_factory=set)

    def take(self, decision: DecisionRecord) -> None:
        """Add the next decision."""
        if self.newest is not None and self.newest.phase != decision.phase:
            self.phase_since_ms = decision.written_ms
        self.newest = decision
        self.decided.setdefault(decision.epoch, decision.written_ms)
        for move in decision.moves:
            queue, epoch = move.queue, move.epoch
            grant = (queue, move.client_id, epoch)
            if move.stage == "dropped":
                self.dropped.setdefault(grant, decision.written_ms)
            elif move.stage in ("gated", "granted"):
                if move.stage == "granted" and grant in self._gated:
                    self._gated.discard(grant)
                    del self.granted[grant]
                elif move.stage == "gated" and grant not in self.granted:
                    self._gated.add(grant)
                self.granted.setdefault(grant, decision.written_ms)
                if move.unsafe:
                    self.unsafe.add((queue, epoch))
        for reason in decision.causes:
            if reason.get("kind") == "mute_member" and "client_id" in reason:
                self.muted.setdefault(str(reason["client_id"]), decision.written_ms)
        if "mute_member" not in decision.alarms:
            self.muted.clear()


def past_of(group: ObservedGroup) -> Past:
    """Return what the decisions of a group say, as far as they are remembered."""
    found = Past()
    for decision in group.decided.history:
        if not decision.superseded:
            # The quick reader passes what no engine writes.
            with contextlib.suppress(ValueError):
                found.take(decision.record())
    return found
