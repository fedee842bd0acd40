"""The line of one group in a list of all groups, in the words of ADR 0194."""

from dataclasses import dataclass
from typing import Any

from fairlead.control.native_handback import GroupRelease
from fairlead.core.model import Epoch
from fairlead.observed.engine_liveness import EngineLiveness
from fairlead.observed.problems import other_alarms

__all__ = ["GroupSummary", "LastRebalance"]


@dataclass(frozen=True, slots=True)
class LastRebalance:
    """The newest decision that gave a queue to another client.

    ``append_ms``: when it was appended. ``queues_moved``: how many queues it moved.
    """

    append_ms: int
    triggers: tuple[str, ...]
    queues_moved: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
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
        phase: the phase of the newest decision (docs/protocol.md §3.14); ``unknown``: it has
            members that no decision has placed yet.
        phase_since_ms: when it entered its phase; None: before what was read, or nothing tells it.
        strategy: in force.
        mode: ``cooperative`` or ``eager``.
        model: ``clustering`` or ``broadcasting``.
        members: live client ids that do not leave.
        members_idle: those that could own a queue and own none.
        queues: of the topics that its members subscribe to.
        unassigned: queues that nobody holds or is granted.
        draining: queues that somebody has to give up.
        ungranted: those of them that nobody is granted next.
        gated: queues whose successor waits for their release.
        unsafe: queues on which somebody beside their owner may still work, as ``mode`` or
            ``on_mute`` allows.
        epoch: of the newest decision, or of the newest assignment if the log lost that.
        converged: nothing is moving, and each live member holds its assignment.
        skew: the most queues of a member minus the fewest, among those that could own one.
        alarms: of the newest decision.
        lag_messages: unread messages over all queues with a known lag; None: there is none.
        lag_ms: how long the oldest message has waited; None: unknown for every queue.
        lag_at_least: it may have waited longer.
        last_rebalance: None: none is remembered.
        as_of_ms: the newest append time that was read.
        problems: what is wrong with it (``fairlead.observed.problems``).
        engine: whether one runs for it.
        release: who handed it back to native consumers, and when; None: nobody has.
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
    ungranted: int
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
    engine: EngineLiveness
    release: GroupRelease | None = None

    @property
    def in_handover(self) -> int:
        """How many queues have no owner that may work on them."""
        return self.ungranted + self.gated

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
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
            "queues_in_handover": self.in_handover,
            "queues_unsafe": self.unsafe,
            "epoch": None if self.epoch is None else [*self.epoch],
            "converged": self.converged,
            "skew": self.skew,
            "alarms": [*self.alarms],
            "lag_messages": self.lag_messages,
            "lag_ms": self.lag_ms,
            "lag_at_least": self.lag_at_least,
            "last_rebalance": None if last is None else last.to_json(),
            "as_of_ms": self.as_of_ms,
            "problems": [*self.problems],
            "other_alarms": [*other_alarms(self.alarms)],
            "engine": self.engine.to_json(),
            "released": None if self.release is None else self.release.to_json(),
        }
