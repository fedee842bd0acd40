"""What the decisions of a group in the log say of its present: when, why, and what is not safe."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fairlead.core.model import Epoch, MessageQueue
from fairlead.local.decisions import Decision, DecisionReader
from fairlead.wire.raw import RawRecord

__all__ = ["Past", "past_of"]

Granted = tuple[MessageQueue, str, Epoch]
"""A grant: the queue, whose, and its epoch."""


@dataclass(slots=True)
class Past:
    """What was read of the decisions.

    Attributes:
        newest: the last one; None: there was none in what was read.
        decided: when each epoch was first decided.
        granted: when each grant was made.
        dropped: when each was told to be given up.
        unsafe: grants that did not wait for somebody who might be working.
        phase_since_ms: when the group came into its present phase; None: before what was read.
        muted: when a client was first found to be mute, of those that are.
    """

    newest: Decision | None = None
    decided: dict[Epoch, int] = field(default_factory=dict)
    granted: dict[Granted, int] = field(default_factory=dict)
    dropped: dict[Granted, int] = field(default_factory=dict)
    unsafe: set[tuple[MessageQueue, Epoch]] = field(default_factory=set)
    phase_since_ms: int | None = None
    muted: dict[str, int] = field(default_factory=dict)

    def take(self, decision: Decision) -> None:
        """Add the next decision."""
        if self.newest is not None and self.newest.phase != decision.phase:
            self.phase_since_ms = decision.at_ms
        self.newest = decision
        self.decided.setdefault(Epoch(*decision.epoch), decision.at_ms)
        for move in decision.moves:
            queue, epoch = MessageQueue(*move.queue), Epoch(*move.epoch)
            grant = (queue, move.client_id, epoch)
            if move.stage == "dropped":
                self.dropped.setdefault(grant, decision.at_ms)
            elif move.stage in ("gated", "granted"):
                self.granted.setdefault(grant, decision.at_ms)
                if move.unsafe:
                    self.unsafe.add((queue, epoch))
        for reason in decision.why:
            if reason.get("kind") == "mute_member" and "client_id" in reason:
                self.muted.setdefault(str(reason["client_id"]), decision.at_ms)
        if "mute_member" not in decision.alarms:
            self.muted.clear()


def past_of(group: str, rows: Iterable[RawRecord]) -> Past:
    """Return what the decisions of a group say; records that are none are passed over."""
    found, reader = Past(), DecisionReader(group)
    key = group.encode()
    for row in rows:
        if row.key != key or row.value is None:
            continue
        try:
            decision = reader.read(row.value)
        except ValueError:
            # Nobody but the engine may write here; a reader that fails would hide all the rest.
            continue
        if decision is not None:
            found.take(decision)
    return found
