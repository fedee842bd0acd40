"""L1, L2, L4, and of L3 that drivers decide: how long things take on the log clock."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from fairlead.core.model import MemberKey
from fairlead.verify.facts import ShardFacts
from fairlead.verify.grant_facts import GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import ToldAdd
from fairlead.verify.verdicts import Docket, Evidence, evidence_of
from fairlead.verify.walk import Ending, Step
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["PaceJudge", "patience_ms"]

_QUIET: Final = frozenset({"released", "trigger", "healed", "offsets_known", "mute_member"})
"""Causes that go with a handover and are no change."""
_HEALS_MAX: Final = 3
_NEVER: Final = 2**62
"""A drain deadline that never comes."""
_HEAL_GAP_MS: Final = 70_000
"""Two heals of one member that are further apart are not in a row: the longest wait between them
is 32 s."""
_HEAL_WAIT_MS: Final = 2_000
"""How long a digest differs before a heal. The wait doubles with each heal in a row: one that comes
sooner tells that the member agreed in between."""
_ALARMS: Final = frozenset({"barrier_mute", "mute_member", "step_failed"})


@dataclass(slots=True)
class _Passage:
    """A group in a handover: since when nothing changed any more.

    ``since_ms`` is on the log clock, ``running_ms`` counts only the time in which a driver ran.
    """

    since_ms: int
    running_ms: int
    changed: DecisionRecord


@dataclass(frozen=True, slots=True)
class _Heals:
    """Heals of a member in a row, under one driver; ``audit`` is the decision of the newest.

    They are in a row as long as the member's digest stays the same: it has not obeyed. A queue that
    comes and goes leads back to an old digest; so what counts is how often it has changed.
    """

    group: str
    client_id: str
    member: MemberKey | None
    changes: int | None
    generation: int
    count: int
    healed_ms: int
    audit: DecisionRecord

    def follows(self, before: "_Heals | None") -> bool:
        """Tell whether the member has not changed since the heal before."""
        if before is None or self.generation != before.generation:
            return False
        same = (self.member, self.changes) == (before.member, before.changes)
        waited_ms = self.healed_ms - before.healed_ms
        return same and _HEAL_WAIT_MS << before.count <= waited_ms < _HEAL_GAP_MS


class PaceJudge:
    """Follows how long things take on the log clock.

    What a driver decides that was superseded before is left out: nobody obeys it.
    """

    def __init__(self, docket: Docket) -> None:
        self._docket = docket
        self._passages: dict[str, _Passage] = {}
        self._heals: dict[tuple[str, str], _Heals] = {}
        self._in_vain: list[_Heals] = []
        self._alarmed_ms: dict[str, int] = {}
        self._newest: dict[int, int] = {}
        self._decided: set[tuple[int, int]] = set()

    def step(self, step: Step) -> None:
        """Follow one decision."""
        audit, group, clock_ms = step.audit, step.group, step.facts.clock.clock_ms
        shard, generation = audit.cut.shard, audit.cut.generation
        self._decided.add((shard, generation))
        if generation < self._newest.get(shard, 0):
            return
        self._newest[shard] = generation
        if _ALARMS & {*audit.alarms}:
            self._alarmed_ms[audit.group] = clock_ms
        self._follow_passage(step)
        for move in audit.moves:
            if move.stage == "resolved":
                grant = group.grants.get(move.queue, {}).get(move.epoch)
                if grant is not None:
                    self._judge_drop(group, grant, clock_ms, audit)
        for cause in audit.causes:
            # What is read again is of another life of the engine: nobody agrees with it.
            if cause.get("kind") == "healed" and not step.behind:
                self._judge_heal(step, str(cause.get("client_id")))

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """It is no decision."""

    def end(self, ending: Ending) -> None:
        """Judge what is still under way when the last driver was seen to run."""
        facts = ending.facts
        for name, group in sorted(facts.groups.items()):
            passage = self._passages.get(name)
            if passage is not None and passage.changed.cut.shard == ending.shard:
                waited_ms = facts.ticked_ms - facts.still_ms - passage.running_ms
                if waited_ms <= patience_ms(group):
                    self._docket.excuse("L1", f"group {name} was still in a handover at the end")
                else:
                    self._accuse_passage(name, passage, waited_ms)
            for grants in group.grants.values():
                for grant in grants.values():
                    self._judge_drop(group, grant, facts.ticked_ms, None)
        for heals in self._in_vain:
            if heals.audit.cut.shard == ending.shard:
                self._accuse_heals(heals)
        self._judge_drivers(ending)

    def _follow_passage(self, step: Step) -> None:
        audit, clock_ms = step.audit, step.facts.clock.clock_ms
        running_ms = clock_ms - step.facts.still_ms
        passage = self._passages.get(audit.group)
        if passage is not None and passage.changed.cut.generation < audit.cut.generation:
            # How long no driver ran is nobody's pace: what is under way is counted anew.
            del self._passages[audit.group]
            passage = None
        if audit.state.in_handover == 0:
            if passage is not None:
                self._docket.look("L1", "handovers of groups that ended")
                if running_ms - passage.running_ms > patience_ms(step.group):
                    self._accuse_passage(audit.group, passage, running_ms - passage.running_ms)
                del self._passages[audit.group]
        elif passage is None or {*audit.triggers} - _QUIET:
            self._passages[audit.group] = _Passage(clock_ms, running_ms, audit)

    def _accuse_passage(self, group: str, passage: _Passage, waited_ms: int) -> None:
        if self._is_alarmed(group, passage.since_ms):
            self._docket.excuse("L1", f"group {group}: an alarm told that somebody does not answer")
            return
        text = f"group {group} was in a handover for {waited_ms:,} ms after the last change"
        changed = evidence_of(passage.changed.row, passage.changed.text)
        self._docket.find("L1", text, changed)

    def _judge_drop(
        self, group: GroupFacts, grant: GrantFacts, clock_ms: int, audit: DecisionRecord | None
    ) -> None:
        """Judge a drop, once: when a decision says that it was answered, or at the end.

        What counts is when the answer was read. A driver that reads the log again says once more
        that it was.
        """
        dropped_ms, grant.dropped_ms = grant.dropped_ms, None
        if dropped_ms is None:
            return
        answered_ms = clock_ms if grant.resolved_ms is None else grant.resolved_ms
        if audit is not None or grant.resolved_ms is not None:
            self._docket.look("L2", "drops that were answered")
        took_ms = answered_ms - dropped_ms
        member = None if grant.member is None else group.members.get(grant.member)
        ordered = member is not None and member.ordered
        if took_ms <= patience_ms(group) or ordered or self._is_alarmed(group.name, dropped_ms):
            return
        assert grant.dropped is not None, "it has a time"
        answered = [] if audit is None else [evidence_of(audit.row, f"{audit.text}: resolved")]
        self._docket.find(
            "L2",
            f"{grant.text}: dropped, and unresolved for {took_ms:,} ms without an alarm",
            evidence_of(grant.dropped, "the drop"),
            *answered,
        )

    def _is_alarmed(self, group: str, since_ms: int) -> bool:
        """Tell whether an alarm told, since then, that somebody does not answer."""
        return self._alarmed_ms.get(group, -1) >= since_ms

    def _judge_heal(self, step: Step, client_id: str) -> None:
        audit, place = step.audit, (step.audit.group, client_id)
        before = self._heals.get(place)
        key, clock_ms = step.group.effective(client_id), step.facts.clock.clock_ms
        changes = None if key is None else step.group.members[key].changes
        healed = _Heals(*place, key, changes, audit.cut.generation, 1, clock_ms, audit)
        if before is not None and healed.follows(before):
            healed = replace(healed, count=before.count + 1)
        self._heals[place] = healed
        self._docket.look("L4", "heals")
        if healed.count == _HEALS_MAX:
            self._in_vain.append(healed)

    def _accuse_heals(self, heals: _Heals) -> None:
        # Who does not answer a drop differs until the alarm, and after it.
        if self._is_alarmed(heals.group, heals.healed_ms):
            self._docket.excuse(
                "L4", f"group {heals.group}: an alarm told that somebody does not answer"
            )
            return
        text = f"{heals.client_id} of {heals.group} still differs after"
        self._docket.find(
            "L4",
            f"{text} {heals.count - 1} heals in a row",
            evidence_of(heals.audit.row, heals.audit.text),
        )

    def _judge_drivers(self, ending: Ending) -> None:
        """Judge whether every driver that ticked for long, while somebody was there, decided."""
        facts = ending.facts
        longest_ms = max(map(patience_ms, facts.groups.values()), default=_NEVER)
        for generation, (first_ms, last_ms) in sorted(facts.ticks.items()):
            self._docket.look("L3", "drivers that ticked")
            span_ms = last_ms - first_ms
            if (ending.shard, generation) in self._decided or span_ms <= longest_ms:
                continue
            heard = next(_heard(facts, first_ms, last_ms), None)
            if heard is not None:
                text = f"generation {generation} ticked for {span_ms:,} ms and decided nothing"
                self._docket.find("L3", text, heard)


def _heard(facts: ShardFacts, first_ms: int, last_ms: int) -> Iterator[Evidence]:
    """Yield heartbeats of members that were first heard between two clocks."""
    for _, group in sorted(facts.groups.items()):
        for member in group.members.values():
            if first_ms <= member.seen_ms <= last_ms and not member.left:
                yield evidence_of(member.seen, f"{member.key.client_id} heartbeats meanwhile")


def patience_ms(group: GroupFacts) -> int:
    """Return how long a handover may take: somebody may have to be waited for until it lapses."""
    times = group.times
    leases = [member.lease_ms for member in group.members.values()]
    lease_ms = max([times.lease_ms, *leases])
    drain_ms = _NEVER if times.drain_deadline_ms is None else times.drain_deadline_ms
    return lease_ms + times.margin_ms + drain_ms + times.trigger_ms
