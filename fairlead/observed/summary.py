"""One line about a group: what a list of all groups shows, in the words of ADR 0194."""

from dataclasses import dataclass
from typing import Any

from fairlead.control.native_handback import GroupRelease
from fairlead.core.model import Epoch
from fairlead.observed.engine_life import EngineLife
from fairlead.observed.problems import other_alarms

__all__ = ["GroupSummary", "LastRebalance"]


@dataclass(frozen=True, slots=True)
class LastRebalance:
    """The newest decision that gave a queue to another client.

    ``append_ms``: when it was appended. ``queues_moved``: so many queues.
    """

    append_ms: int
    triggers: tuple[str, ...]
    queues_moved: int

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "append_ms": self.append_ms,
            "triggers": [*self.triggers],
            "queues_moved": self.queues_moved,
        }


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """One group as it is now.

    Attributes:
        group: its name.
        phase: a word of docs/protocol.md §3.14, of the newest decision; ``unknown``: one is
            awaited, since members are heard that none has placed.
        phase_since_ms: when it came into its phase; None: before what was read, or none can tell.
        strategy: in force.
        mode: ``cooperative`` or ``eager``.
        model: ``clustering`` or ``broadcasting``.
        members: client ids that are live and do not leave.
        members_idle: of these, who could own a queue and owns none.
        queues: of the topics that its members subscribe to.
        unassigned: of these, which nobody holds and nobody is granted.
        draining: that are given up and of which nobody is granted the next turn.
        gated: whose successor waits for their release.
        unsafe: which somebody may still be working on beside their owner, as ``mode`` or
            ``on_mute`` allows.
        epoch: of the newest decision; of one that the log has lost, as members were told.
        converged: nothing is on its way, and each live member holds what it was told.
        skew: most queues of a member less fewest, of the members that could own one.
        alarms: of the newest decision.
        lag_messages: not processed yet, over all queues whose lag is known; None: of none.
        lag_ms: how long the oldest message has waited; None: of no queue is it known.
        lag_at_least: it may have waited longer.
        last_rebalance: None: none is remembered.
        as_of_ms: the newest append time that was read.
        problems: what is wrong with it, as a check finds it (``fairlead.observed.problems``).
        engine: whether one runs for it.
        release: who handed it back to native consumers, and when; None: nobody did.
    """

    group: str
    phase: str
    phase_since_ms: int | None
    strategy: str
    mode: str
    model: str
    members: int
    members_idle: int
    queues: int
    unassigned: int
    draining: int
    gated: int
    unsafe: int
    epoch: Epoch | None
    converged: bool
    skew: int
    alarms: tuple[str, ...]
    lag_messages: int | None
    lag_ms: int | None
    lag_at_least: bool
    last_rebalance: LastRebalance | None
    as_of_ms: int
    problems: tuple[str, ...]
    engine: EngineLife
    release: GroupRelease | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        last = self.last_rebalance
        return {
            "group": self.group,
            "phase": self.phase,
            "phase_since_ms": self.phase_since_ms,
            "strategy": self.strategy,
            "mode": self.mode,
            "message_model": self.model,
            "members": self.members,
            "members_idle": self.members_idle,
            "queues": self.queues,
            "queues_unassigned": self.unassigned,
            "queues_draining": self.draining,
            "queues_gated": self.gated,
            "queues_unsafe": self.unsafe,
            "epoch": None if self.epoch is None else [*self.epoch],
            "converged": self.converged,
            "skew": self.skew,
            "alarms": [*self.alarms],
            "lag_messages": self.lag_messages,
            "lag_ms": self.lag_ms,
            "lag_at_least": self.lag_at_least,
            "last_rebalance": None if last is None else last.document(),
            "as_of_ms": self.as_of_ms,
            "problems": [*self.problems],
            "other_alarms": [*other_alarms(self.alarms)],
            "engine": self.engine.document(),
            "released": None if self.release is None else self.release.document(),
        }
