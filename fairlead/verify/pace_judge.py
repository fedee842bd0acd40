"""L1, L2, L4, and the drivers of L3: how long things take on the log clock."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from fairlead.core.model import MemberKey
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import IssuedAdd
from fairlead.verify.verdicts import Evidence, Verdicts, evidence_of
from fairlead.verify.walk import ShardEnd, Step
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["PaceJudge", "patience_ms"]

_QUIET: Final = frozenset({"released", "trigger", "healed", "offsets_known", "mute_member"})
"""Causes that belong to a running handover and change nothing."""
_HEALS_MAX: Final = 3
_NEVER: Final = 2**62
"""A drain deadline that never comes."""
_HEAL_GAP_MS: Final = 70_000
"""Two heals of one member further apart are not in a row: the longest wait between two is 32 s."""
_HEAL_WAIT_MS: Final = 2_000
"""How long a digest differs before a heal. The wait doubles with each heal in a row; an earlier
heal shows that the member agreed in between."""
_ALARMS: Final = frozenset({"barrier_mute", "mute_member", "step_failed"})


@dataclass(slots=True)
class _Handover:
    """A group in a handover, since its last change.

    ``since_ms`` is on the log clock; ``running_ms`` counts only the time in which a driver ran.
    """

    since_ms: int
    running_ms: int
    changed: DecisionRecord


@dataclass(frozen=True, slots=True)
class _Heals:
    """Heals of a member in a row, under one driver; ``decision`` has the newest of them.

    They are in a row while the member's digest stays the same: it has not obeyed. A queue that
    comes and goes leads back to an old digest, so the judge counts the changes of the digest.
    """

    group: str
    client_id: str
    member: MemberKey | None
    changes: int | None
    generation: int
    count: int
    healed_ms: int
    decision: DecisionRecord

    def follows(self, before: "_Heals | None") -> bool:
        """Tell whether the member has not changed since the heal before."""
        if before is None or self.generation != before.generation:
            return False
        same = (self.member, self.changes) == (before.member, before.changes)
        waited_ms = self.healed_ms - before.healed_ms
        return same and _HEAL_WAIT_MS << before.count <= waited_ms < _HEAL_GAP_MS


class PaceJudge:
    """Follows how long things take on the log clock.

    It ignores the decisions of a superseded driver: nobody obeys them.
    """

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._handovers: dict[str, _Handover] = {}
        self._heals: dict[tuple[str, str], _Heals] = {}
        self._in_vain: list[_Heals] = []
        self._alarmed_ms: dict[str, int] = {}
        self._newest: dict[int, int] = {}
        self._decided: set[tuple[int, int]] = set()

    def step(self, step: Step) -> None:
        """Follow one decision."""
        decision, group, clock_ms = step.decision, step.group, step.facts.clock.clock_ms
        shard, generation = decision.cut.shard, decision.cut.generation
        self._decided.add((shard, generation))
        if generation < self._newest.get(shard, 0):
            return
        self._newest[shard] = generation
        if _ALARMS & {*decision.alarms}:
            self._alarmed_ms[decision.group] = clock_ms
        self._follow_handover(step)
        for move in decision.moves:
            if move.stage == "resolved":
                grant = group.grants.get(move.queue, {}).get(move.epoch)
                if grant is not None:
                    self._judge_drop(group, grant, clock_ms, decision)
        for cause in decision.causes:
            # A driver that started from an older state heals members that had obeyed.
            if cause.get("kind") == "healed" and not step.behind:
                self._judge_heal(step, str(cause.get("client_id")))

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge nothing: it is no decision."""

    def finish(self, end: ShardEnd) -> None:
        """Judge what is still under way at the last tick."""
        facts = end.facts
        for name, group in sorted(facts.groups.items()):
            handover = self._handovers.get(name)
            if handover is not None and handover.changed.cut.shard == end.shard:
                waited_ms = facts.ticked_ms - facts.still_ms - handover.running_ms
                if waited_ms <= patience_ms(group):
                    self._verdicts.excuse("L1", f"group {name} was still in a handover at the end")
                else:
                    self._accuse_handover(name, handover, waited_ms)
            for grants in group.grants.values():
                for grant in grants.values():
                    self._judge_drop(group, grant, facts.ticked_ms, None)
        for heals in self._in_vain:
            if heals.decision.cut.shard == end.shard:
                self._accuse_heals(heals)
        self._judge_drivers(end)

    def _follow_handover(self, step: Step) -> None:
        decision, clock_ms = step.decision, step.facts.clock.clock_ms
        running_ms = clock_ms - step.facts.still_ms
        handover = self._handovers.get(decision.group)
        if handover is not None and handover.changed.cut.generation < decision.cut.generation:
            # Time without a driver does not count: the new driver begins at zero.
            del self._handovers[decision.group]
            handover = None
        if decision.state.in_handover == 0:
            if handover is not None:
                self._verdicts.count("L1", "handovers of groups that ended")
                if running_ms - handover.running_ms > patience_ms(step.group):
                    self._accuse_handover(
                        decision.group, handover, running_ms - handover.running_ms
                    )
                del self._handovers[decision.group]
        elif handover is None or {*decision.triggers} - _QUIET:
            self._handovers[decision.group] = _Handover(clock_ms, running_ms, decision)

    def _accuse_handover(self, group: str, handover: _Handover, waited_ms: int) -> None:
        if self._is_alarmed(group, handover.since_ms):
            self._verdicts.excuse("L1", f"group {group}: an alarm named a member without an answer")
            return
        text = f"group {group} was in a handover for {waited_ms:,} ms after the last change"
        changed = evidence_of(handover.changed.row, handover.changed.text)
        self._verdicts.add_finding("L1", text, changed)

    def _judge_drop(
        self, group: GroupFacts, grant: GrantFacts, clock_ms: int, decision: DecisionRecord | None
    ) -> None:
        """Judge a drop once: when a decision calls it answered, or at the end.

        The time at which the answer was read counts: a driver that reads the log again repeats
        that it was answered.
        """
        dropped_ms, grant.dropped_ms = grant.dropped_ms, None
        if dropped_ms is None:
            return
        answered_ms = clock_ms if grant.resolved_ms is None else grant.resolved_ms
        if decision is not None or grant.resolved_ms is not None:
            self._verdicts.count("L2", "answered drops")
        took_ms = answered_ms - dropped_ms
        member = None if grant.member is None else group.members.get(grant.member)
        ordered = member is not None and member.ordered
        if took_ms <= patience_ms(group) or ordered or self._is_alarmed(group.name, dropped_ms):
            return
        assert grant.dropped is not None, "it has a time"
        answered = (
            [] if decision is None else [evidence_of(decision.row, f"{decision.text}: resolved")]
        )
        self._verdicts.add_finding(
            "L2",
            f"{grant.text}: the drop had no answer for {took_ms:,} ms, and there was no alarm",
            evidence_of(grant.dropped, "the drop"),
            *answered,
        )

    def _is_alarmed(self, group: str, since_ms: int) -> bool:
        """Tell whether an alarm has named, since then, a member that does not answer."""
        return self._alarmed_ms.get(group, -1) >= since_ms

    def _judge_heal(self, step: Step, client_id: str) -> None:
        decision, place = step.decision, (step.decision.group, client_id)
        before = self._heals.get(place)
        key, clock_ms = step.group.effective(client_id), step.facts.clock.clock_ms
        changes = None if key is None else step.group.members[key].changes
        healed = _Heals(*place, key, changes, decision.cut.generation, 1, clock_ms, decision)
        if before is not None and healed.follows(before):
            healed = replace(healed, count=before.count + 1)
        self._heals[place] = healed
        self._verdicts.count("L4", "heals")
        if healed.count == _HEALS_MAX:
            self._in_vain.append(healed)

    def _accuse_heals(self, heals: _Heals) -> None:
        # A member that does not answer a drop differs before and after the alarm.
        if self._is_alarmed(heals.group, heals.healed_ms):
            self._verdicts.excuse(
                "L4", f"group {heals.group}: an alarm named a member without an answer"
            )
            return
        self._verdicts.add_finding(
            "L4",
            f"{heals.client_id} of {heals.group} still differs after {heals.count - 1} heals in a "
            "row",
            evidence_of(heals.decision.row, heals.decision.text),
        )

    def _judge_drivers(self, end: ShardEnd) -> None:
        """Judge whether every driver that ticked for long, with a member present, decided."""
        facts = end.facts
        longest_ms = max(map(patience_ms, facts.groups.values()), default=_NEVER)
        for generation, (first_ms, last_ms) in sorted(facts.ticks.items()):
            self._verdicts.count("L3", "drivers that ticked")
            span_ms = last_ms - first_ms
            if (end.shard, generation) in self._decided or span_ms <= longest_ms:
                continue
            heard = next(_heard(facts, first_ms, last_ms), None)
            if heard is not None:
                text = f"generation {generation} ticked for {span_ms:,} ms and decided nothing"
                self._verdicts.add_finding("L3", text, heard)


def _heard(facts: ShardFacts, first_ms: int, last_ms: int) -> Iterator[Evidence]:
    """Yield the newest heartbeats of members, if they lie between two clocks."""
    for _, group in sorted(facts.groups.items()):
        for member in group.members.values():
            if first_ms <= member.seen_ms <= last_ms and not member.left:
                yield evidence_of(member.seen, f"{member.key.client_id} heartbeats meanwhile")


def patience_ms(group: GroupFacts) -> int:
    """Return how long a handover may take: the group may have to wait until a member lapses."""
    times = group.times
    leases = [member.lease_ms for member in group.members.values()]
    lease_ms = max([times.lease_ms, *leases])
    drain_ms = _NEVER if times.drain_deadline_ms is None else times.drain_deadline_ms
    return lease_ms + times.margin_ms + drain_ms + times.trigger_ms
