"""L1, L2 and L4: handovers end, drops are answered, and a healed member agrees."""

from dataclasses import dataclass
from typing import Final

from fairlead.verify.audit import Audit
from fairlead.verify.docket import Docket, evidence_of
from fairlead.verify.facts import ShardFacts
from fairlead.verify.group_facts import GrantFacts, GroupFacts
from fairlead.verify.told import ToldAdd
from fairlead.verify.walk import Ending, Step

__all__ = ["PaceJudge"]

_QUIET: Final = frozenset({"released", "trigger", "healed", "offsets_known", "mute_member"})
"""Causes that go with a handover and are no change."""
_HEALS_MAX: Final = 3
_NEVER: Final = 2**62
"""A drain deadline that never comes."""
_HEAL_GAP_MS: Final = 70_000
"""Two heals of one member that are closer are in a row: the longest wait between them is 32 s."""
_ALARMS: Final = frozenset({"barrier_mute", "mute_member", "step_failed"})


@dataclass(slots=True)
class _Passage:
    """A group in a handover: since when nothing changed any more."""

    changed_ms: int
    changed: Audit
    told: bool = False


class PaceJudge:
    """Follows how long things take on the log clock."""

    def __init__(self, docket: Docket) -> None:
        self._docket = docket
        self._passages: dict[str, _Passage] = {}
        self._heals: dict[tuple[str, str], tuple[int, int]] = {}
        self._alarmed: set[str] = set()

    def step(self, step: Step) -> None:
        """Follow one decision."""
        audit, group = step.audit, step.group
        if _ALARMS & {*audit.alarms}:
            self._alarmed.add(audit.group)
        self._follow_passage(step)
        for move in audit.moves:
            if move.stage == "resolved":
                grant = group.grants.get(move.queue, {}).get(move.epoch)
                if grant is not None and grant.dropped_ms is not None:
                    took_ms = step.facts.clock.clock_ms - grant.dropped_ms
                    self._judge_drop(group, grant, took_ms, audit)
        for cause in audit.causes:
            if cause.get("kind") == "healed":
                self._judge_heal(audit, str(cause.get("client_id")), step.facts.clock.clock_ms)

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """It is no decision."""

    def end(self, ending: Ending) -> None:
        """Judge what is still under way."""
        clock_ms = ending.facts.clock.clock_ms
        for name, group in sorted(ending.facts.groups.items()):
            passage = self._passages.get(name)
            if passage is not None:
                if clock_ms - passage.changed_ms <= _patience_ms(group):
                    self._docket.excuse("L1", f"group {name} was still in a handover at the end")
                else:
                    self._accuse_passage(name, passage, clock_ms)
            for grants in group.grants.values():
                for grant in grants.values():
                    if grant.dropped_ms is not None and grant.resolved is None:
                        self._judge_drop(group, grant, clock_ms - grant.dropped_ms, None)

    def _follow_passage(self, step: Step) -> None:
        audit, clock_ms = step.audit, step.facts.clock.clock_ms
        passage = self._passages.get(audit.group)
        if audit.in_handover == 0:
            if passage is not None:
                self._docket.look("L1", "handovers of groups that ended")
                if clock_ms - passage.changed_ms > _patience_ms(step.group):
                    self._accuse_passage(audit.group, passage, clock_ms)
                del self._passages[audit.group]
        elif passage is None or {*audit.triggers} - _QUIET:
            self._passages[audit.group] = _Passage(clock_ms, audit)

    def _accuse_passage(self, group: str, passage: _Passage, clock_ms: int) -> None:
        if group in self._alarmed:
            self._docket.excuse("L1", f"group {group}: an alarm told that somebody does not answer")
            return
        waited_ms = clock_ms - passage.changed_ms
        text = f"group {group} was in a handover for {waited_ms:,} ms after the last change"
        changed = evidence_of(passage.changed.row, passage.changed.text)
        self._docket.find("L1", text, changed)

    def _judge_drop(
        self, group: GroupFacts, grant: GrantFacts, took_ms: int, audit: Audit | None
    ) -> None:
        if audit is not None:
            self._docket.look("L2", "drops that were answered")
        member = None if grant.member is None else group.members.get(grant.member)
        ordered = member is not None and member.ordered
        if took_ms <= _patience_ms(group) or ordered or group.name in self._alarmed:
            return
        assert grant.dropped is not None, "it has a time"
        answered = [] if audit is None else [evidence_of(audit.row, f"{audit.text}: resolved")]
        self._docket.find(
            "L2",
            f"{grant.text}: dropped, and unresolved for {took_ms:,} ms without an alarm",
            evidence_of(grant.dropped, "the drop"),
            *answered,
        )

    def _judge_heal(self, audit: Audit, client_id: str, clock_ms: int) -> None:
        place = (audit.group, client_id)
        count, healed_ms = self._heals.get(place, (0, 0))
        count = count + 1 if count and clock_ms - healed_ms < _HEAL_GAP_MS else 1
        self._heals[place] = count, clock_ms
        self._docket.look("L4", "heals")
        if count == _HEALS_MAX:
            text = f"{client_id} of {audit.group} still differs after {count - 1} heals in a row"
            self._docket.find("L4", text, evidence_of(audit.row, audit.text))


def _patience_ms(group: GroupFacts) -> int:
    """Return how long a handover may take: somebody may have to be waited for until it lapses."""
    times = group.times
    leases = [member.lease_ms for member in group.members.values()]
    lease_ms = max([times.lease_ms, *leases])
    drain_ms = _NEVER if times.drain_deadline_ms is None else times.drain_deadline_ms
    return lease_ms + times.margin_ms + drain_ms + times.trigger_ms
