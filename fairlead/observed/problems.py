"""What is wrong with a group: the one decision for a list of groups and for a check of one.

The inputs come from whoever looks, at one group or at all of them, so a list never says another
thing than a check. A queue that is moving is no problem, and neither is a group whose members have
all gone and left nothing unread. A handover is stalled when its holder has not released the queue
within the group's drain deadline or, if there is none, within the holder's lease.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.engine_liveness import TICKS_SILENT
from fairlead.observed.members import Disagreements

__all__ = [
    "BehindMember",
    "PendingDrain",
    "ProblemInputs",
    "SilentMember",
    "UnansweredMember",
    "other_alarms",
    "problems_of",
]

_STUCK: Final = ("recovering", "quarantined")
"""Phases in which nothing is decided; they are problems at once."""
_TOLD_OTHERWISE: Final = frozenset(
    (
        *("allocation_failed", "barrier_mute", "designation_empty", "drained_empty"),
        *("duplicate_client_id", "mute_member", "paused_unassigned", "step_failed"),
        *("subscription_disagreement", "foreign_member"),
    )
)
"""Alarms whose cause is a problem by itself while it lasts."""


@dataclass(frozen=True, slots=True)
class PendingDrain:
    """A member that has to give queues up and has not.

    Attributes:
        member: who.
        queues: which queues.
        asked_ms: how long ago the engine told it, for the first; None: before what was read.
        lease_ms: its lease, or that of its group if that is longer.
        muted: the engine has called it mute since.
        lives: it heartbeats.
    """

    member: MemberKey
    queues: tuple[MessageQueue, ...]
    asked_ms: int | None
    lease_ms: int
    muted: bool
    lives: bool

    def problem(self, rules: GroupRules) -> str | None:
        """Return ``stalled_handover`` or ``mute_member``; None: it still has time."""
        deadline_ms, asked_ms = rules.drain_deadline_ms, self.asked_ms
        patience_ms = self.lease_ms if deadline_ms is None else deadline_ms
        if asked_ms is not None and asked_ms <= patience_ms:
            return None
        mute = self.muted
        if asked_ms is not None and deadline_ms is not None:
            mute |= asked_ms > deadline_ms + self.lease_ms
        return "mute_member" if mute and self.lives else "stalled_handover"


@dataclass(frozen=True, slots=True)
class BehindMember:
    """A member that heartbeats but has not followed its assignment, or holds something else.

    ``told_ms``: how long ago the engine wrote that. ``lease_ms``: as in `PendingDrain`.
    """

    member: MemberKey
    told_ms: int
    lease_ms: int

    def is_problem(self, rules: GroupRules) -> bool:
        """Tell whether it takes too long."""
        return self.told_ms > self.lease_ms + rules.margin_ms


@dataclass(frozen=True, slots=True)
class SilentMember:
    """A member that has queues and does not heartbeat any more.

    ``silent_ms``: for how long; None: since before what was read. ``lease_ms``: as in
    `PendingDrain`.
    """

    member: MemberKey
    silent_ms: int | None
    lease_ms: int

    def is_problem(self, rules: GroupRules) -> bool:
        """Tell whether a running engine should have taken its queues long ago.

        It takes them lease and margin after the last heartbeat, or after the restart grace.
        """
        beside_ms = max(self.lease_ms, rules.restart_grace_ms)
        patience_ms = self.lease_ms + rules.margin_ms + beside_ms
        return self.silent_ms is None or self.silent_ms > patience_ms


@dataclass(frozen=True, slots=True)
class UnansweredMember:
    """A member that heartbeats to share queues and has no assignment yet.

    ``waited_ms``: for how long it has heartbeat. ``lease_ms``: as in `PendingDrain`. ``tick_ms``:
    the period of the engine's ticks.
    """

    member: MemberKey
    waited_ms: int
    lease_ms: int
    tick_ms: int

    def is_problem(self, rules: GroupRules) -> bool:
        """Tell whether a working engine would have answered its first heartbeat by now."""
        patience_ms = max(self.lease_ms + rules.margin_ms, TICKS_SILENT * self.tick_ms)
        return self.waited_ms > patience_ms


@dataclass(frozen=True, slots=True)
class ProblemInputs:
    """What can be seen of a group.

    Attributes:
        rules: in force.
        engine_silent: no engine has ticked for too long.
        members: how many heartbeat.
        lag: how many messages wait, as far as is known.
        phase: a word of docs/protocol.md §3.14.
        phase_ms: how long the group has been in it; None: since before what was read.
        alarms: of the newest decision.
        overlaps: queues that are assigned to several live members, and these members.
        unassigned: queues that nobody holds and nobody is about to get.
        unrouted: shared topics whose route is unknown, or has too few queues.
        disagreements: traits on which members disagree, and who has which value.
        duplicates: client ids that several processes use, and how many.
        unsafe: a queue was granted without waiting for somebody who may be working on it.
        drains: members that have to give queues up and have not.
        behind: members that do not follow their assignments.
        failed: the strategy cannot allocate a topic.
        silent: members with queues that do not heartbeat.
        unanswered: members that heartbeat and have no assignment.
        restarting: clients that start again and again, and how many processes they had.
        released: native consumers read its queues, and no Fairlead client is missed.
    """

    rules: GroupRules
    engine_silent: bool
    members: int
    lag: int
    phase: str
    phase_ms: int | None
    alarms: tuple[str, ...]
    overlaps: Mapping[MessageQueue, tuple[MemberKey, ...]]
    unassigned: tuple[MessageQueue, ...]
    unrouted: tuple[str, ...]
    disagreements: Disagreements
    duplicates: Mapping[str, int]
    unsafe: bool
    drains: tuple[PendingDrain, ...]
    behind: tuple[BehindMember, ...]
    failed: bool
    silent: tuple[SilentMember, ...]
    unanswered: tuple[UnansweredMember, ...]
    restarting: Mapping[str, int]
    released: bool = False


def problems_of(inputs: ProblemInputs) -> tuple[str, ...]:
    """Return what is wrong, in words of docs/groups.md; what concerns the whole group is first."""
    return tuple(_problems(inputs))


def other_alarms(alarms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the alarms that no problem stands for: worth a look, but no fault of now."""
    return tuple(alarm for alarm in alarms if alarm not in _TOLD_OTHERWISE)


def _problems(inputs: ProblemInputs) -> Iterator[str]:
    paused = inputs.rules.pause
    slow = {each.problem(inputs.rules) for each in inputs.drains}
    problems = {
        "engine_silent": inputs.engine_silent and inputs.members > 0,
        "offline": inputs.lag > 0 and not inputs.members and not inputs.released,
        inputs.phase: inputs.phase in _STUCK or (inputs.phase == "barrier" and _lasts(inputs)),
        "overlap": bool(inputs.overlaps),
        "unassigned": bool(inputs.unrouted) or (bool(inputs.unassigned) and not paused),
        "paused_unassigned": bool(inputs.unassigned) and paused,
        "disagreement": bool(inputs.disagreements),
        "duplicate_client_id": bool(inputs.duplicates),
        "restarting": bool(inputs.restarting),
        "unsafe": inputs.unsafe,
        "foreign_member": "foreign_member" in inputs.alarms,
        "stalled_handover": "stalled_handover" in slow,
        "mute_member": "mute_member" in slow,
        "silent_member": _decides(inputs)
        and any(each.is_problem(inputs.rules) for each in inputs.silent),
        "unanswered": _decides(inputs)
        and any(each.is_problem(inputs.rules) for each in inputs.unanswered),
        "not_followed": any(each.is_problem(inputs.rules) for each in inputs.behind),
        "allocation_failed": inputs.failed,
        "step_failed": "step_failed" in inputs.alarms,
    }
    yield from (problem for problem, is_so in problems.items() if is_so)


def _decides(inputs: ProblemInputs) -> bool:
    """Tell whether an engine seems to be working on the group."""
    return not inputs.engine_silent and inputs.phase not in (*_STUCK, "barrier")


def _lasts(inputs: ProblemInputs) -> bool:
    """Tell whether a barrier lasts too long: every start of an engine passes through one."""
    brief_ms = inputs.rules.lease_ms + inputs.rules.margin_ms
    return inputs.phase_ms is None or inputs.phase_ms > brief_ms or "barrier_mute" in inputs.alarms
