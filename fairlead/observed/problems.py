"""When something that can be seen of a group is a problem, and which: for a list and for a check.

Decides for both alike, so that a list of groups never says another thing than a check of one of
them. What can be seen is gathered by whoever looks: at one group, or at all of them at once. A
queue that is merely on its way is no problem, nor is a group whose members are all gone and have
left nothing. A handover is stalled when its holder has not released for longer than the drain
deadline of the group, or than its lease where there is none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.engine_life import TICKS_SILENT
from fairlead.observed.members import Disagreements

__all__ = ["Deaf", "Drain", "Signs", "Silence", "Unanswered", "other_alarms", "problems_of"]

_STUCK: Final = ("recovering", "quarantined")
"""Phases in which nothing is decided, however short they are."""
_TOLD_OTHERWISE: Final = frozenset(
    (
        *("allocation_failed", "barrier_mute", "designation_empty", "drained_empty"),
        *("duplicate_client_id", "mute_member", "paused_unassigned", "step_failed"),
        "subscription_disagreement",
    )
)
"""Alarms that come of what is a problem, as long as it is one."""


@dataclass(frozen=True, slots=True)
class Drain:
    """A member that was told to give queues up and has not.

    Attributes:
        member: who.
        queues: which.
        asked_ms: how long ago, the first of them; None: before everything that was read.
        lease_ms: its own, or that of its group if that is longer.
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
        """Return ``stalled_handover`` or ``mute_member``; None: it takes its time."""
        deadline_ms, asked_ms = rules.drain_deadline_ms, self.asked_ms
        patience_ms = self.lease_ms if deadline_ms is None else deadline_ms
        if asked_ms is not None and asked_ms <= patience_ms:
            return None
        mute = self.muted
        if asked_ms is not None and deadline_ms is not None:
            mute |= asked_ms > deadline_ms + self.lease_ms
        return "mute_member" if mute and self.lives else "stalled_handover"


@dataclass(frozen=True, slots=True)
class Deaf:
    """A member that heartbeats and has not taken in what it was told, or holds something else.

    ``told_ms``: how long ago it was told that. ``lease_ms``: as of a `Drain`.
    """

    member: MemberKey
    told_ms: int
    lease_ms: int

    def is_problem(self, rules: GroupRules) -> bool:
        """Tell whether that takes too long."""
        return self.told_ms > self.lease_ms + rules.margin_ms


@dataclass(frozen=True, slots=True)
class Silence:
    """A member that was told to hold queues and does not heartbeat any more.

    ``silent_ms``: for how long; None: since before everything that was read. ``lease_ms``: as of a
    `Drain`.
    """

    member: MemberKey
    silent_ms: int | None
    lease_ms: int

    def is_problem(self, rules: GroupRules) -> bool:
        """Tell whether an engine that runs should have taken its queues long ago.

        It takes them lease and margin after the last heartbeat, or after the restart grace.
        """
        beside_ms = max(self.lease_ms, rules.restart_grace_ms)
        patience_ms = self.lease_ms + rules.margin_ms + beside_ms
        return self.silent_ms is None or self.silent_ms > patience_ms


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A member that heartbeats to share queues and was not told anything yet.

    ``waited_ms``: for how long it heartbeats. ``lease_ms``: as of a `Drain`. ``tick_ms``: the
    period of the engine's ticks.
    """

    member: MemberKey
    waited_ms: int
    lease_ms: int
    tick_ms: int

    def is_problem(self, rules: GroupRules) -> bool:
        """Tell whether an engine that is at work would have answered its first heartbeat."""
        patience_ms = max(self.lease_ms + rules.margin_ms, TICKS_SILENT * self.tick_ms)
        return self.waited_ms > patience_ms


@dataclass(frozen=True, slots=True)
class Signs:
    """What can be seen of a group, whoever looks.

    Attributes:
        rules: in force.
        engine_silent: no engine has ticked for too long.
        members: how many heartbeat.
        lag: how many messages wait, as far as is known.
        phase: a word of docs/protocol.md §3.14.
        phase_ms: for how long it has been in it; None: since before everything that was read.
        alarms: of the newest decision.
        overlaps: the queues that several living members were told to hold, and who these are.
        unassigned: queues that nobody holds and nobody is about to get.
        unrouted: topics that are shared and whose route is not known, or tells too few queues.
        disagreements: what members are meant to agree on and differ in: who has which value.
        duplicates: the client ids that several processes use, and how many these are.
        unsafe: a queue was granted without waiting for somebody who may be working on it.
        drains: who was told to give queues up and has not.
        deaf: who has not taken in what it was told.
        failed: a topic cannot be allocated.
        silences: who has queues and does not heartbeat.
        unanswered: who heartbeats and was not told anything.
        restarting: clients that are started again and again, and how many processes they had.
        released: native consumers read its queues, and nobody of Fairlead's is missed.
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
    drains: tuple[Drain, ...]
    deaf: tuple[Deaf, ...]
    failed: bool
    silences: tuple[Silence, ...]
    unanswered: tuple[Unanswered, ...]
    restarting: Mapping[str, int]
    released: bool = False


def problems_of(signs: Signs) -> tuple[str, ...]:
    """Return what is wrong with a group, words of docs/groups.md: what concerns all of it first."""
    return tuple(_problems(signs))


def other_alarms(alarms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the alarms that no problem stands for: worth a look, and no fault of now."""
    return tuple(alarm for alarm in alarms if alarm not in _TOLD_OTHERWISE)


def _problems(signs: Signs) -> Iterator[str]:
    paused = signs.rules.pause
    slow = {each.problem(signs.rules) for each in signs.drains}
    found = {
        "engine_silent": signs.engine_silent and signs.members > 0,
        "offline": signs.lag > 0 and not signs.members and not signs.released,
        signs.phase: signs.phase in _STUCK or (signs.phase == "barrier" and _lasts(signs)),
        "overlap": bool(signs.overlaps),
        "unassigned": bool(signs.unrouted) or (bool(signs.unassigned) and not paused),
        "paused_unassigned": bool(signs.unassigned) and paused,
        "disagreement": bool(signs.disagreements),
        "duplicate_client_id": bool(signs.duplicates),
        "restarting": bool(signs.restarting),
        "unsafe": signs.unsafe,
        "stalled_handover": "stalled_handover" in slow,
        "mute_member": "mute_member" in slow,
        "silent_member": _decides(signs)
        and any(each.is_problem(signs.rules) for each in signs.silences),
        "unanswered": _decides(signs)
        and any(each.is_problem(signs.rules) for each in signs.unanswered),
        "not_followed": any(each.is_problem(signs.rules) for each in signs.deaf),
        "allocation_failed": signs.failed,
        "step_failed": "step_failed" in signs.alarms,
    }
    yield from (problem for problem, is_so in found.items() if is_so)


def _decides(signs: Signs) -> bool:
    """Tell whether an engine seems to be at work on the group."""
    return not signs.engine_silent and signs.phase not in (*_STUCK, "barrier")


def _lasts(signs: Signs) -> bool:
    """Tell whether a barrier is a problem: every start of an engine passes through one."""
    brief_ms = signs.rules.lease_ms + signs.rules.margin_ms
    return signs.phase_ms is None or signs.phase_ms > brief_ms or "barrier_mute" in signs.alarms
