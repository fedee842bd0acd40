"""The facts of one group: its members and its grants."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue
from fairlead.core.records import (
    Claim,
    Claims,
    Heartbeat,
    Leave,
    Progress,
    Release,
)
from fairlead.core.rules.group_rules import GroupRules, with_rule
from fairlead.core.rules.rule_error import RuleError
from fairlead.engine.clock import ShardClock
from fairlead.verify.grant_facts import Contradiction, EarlyWork, GrantFacts, PositionReport
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.position_facts import PositionFacts
from fairlead.verify.verdicts import Evidence, evidence_of
from fairlead.wire.raw import RawRecord

__all__ = ["GroupFacts"]

_GRANTS_MAX: Final = 200
"""The judge remembers this many grants of a queue, and every unresolved one."""


@dataclass(slots=True)
class GroupFacts:
    """A group, from its records alone.

    Attributes:
        clock: of its shard, at the newest record read.
        defaults: the rules of all groups; the shard changes them.
        otherwise: the rules of a group for which the log has none.
        grants: per queue, by epoch; resolved ones too, since later records may name them.
        positions: how far its queues were processed.
        early: work under a grant while an older grant was unresolved.
        ended: the same work, with the release that came later.
        subscribed: the topics that members subscribed to at the newest decision.
        incarnations: the members of each client id.
        counts: of reports, by kind and by whether they count.
        contradictions: reports of one member that contradict each other.
        lapsed: the grants that ended because their member was silent for too long.
    """

    name: str
    clock: ShardClock
    defaults: Mapping[str, Any]
    otherwise: GroupRules = field(default_factory=GroupRules)
    rules: dict[str, Any] = field(default_factory=dict)
    members: dict[MemberKey, MemberFacts] = field(default_factory=dict)
    grants: dict[MessageQueue, dict[Epoch, GrantFacts]] = field(default_factory=dict)
    positions: PositionFacts = field(default_factory=PositionFacts)
    early: dict[tuple[MessageQueue, Epoch], EarlyWork] = field(default_factory=dict)
    ended: list[tuple[EarlyWork, RawRecord]] = field(default_factory=list)
    subscribed: frozenset[str] = frozenset()
    counts: dict[str, int] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)
    lapsed: list[GrantFacts] = field(default_factory=list)
    parts: dict[MemberKey, dict[int, tuple[Claim, ...]]] = field(default_factory=dict)
    incarnations: dict[str, list[MemberFacts]] = field(default_factory=dict)

    def rule(self, name: str) -> Any:
        """Return the value of a rule in force, as the log has it."""
        return self.rules.get(name, self.defaults.get(name))

    @property
    def times(self) -> GroupRules:
        """The group's times; its own win over those of all groups, and those over the engine's."""
        in_force = self.otherwise
        for rules in (self.defaults, self.rules):
            if "timing" in rules:
                try:
                    in_force = with_rule(in_force, "timing", rules["timing"], {})
                except RuleError:
                    continue
        return in_force

    def patience_ms(self, member: MemberFacts) -> int:
        """Return how long a member may be silent before it lapses."""
        times = self.times
        return max(times.lease_ms, member.lease_ms) + times.margin_ms

    def effective(self, client_id: str) -> MemberKey | None:
        """Return the greatest live member of a client id; None: none is alive."""
        alive = [
            member
            for member in self.members.values()
            if member.key.client_id == client_id and not member.left and not member.lapsed
        ]
        if not alive:
            return None
        return max(alive, key=lambda member: (member.process, member.incarnations)).key

    def issue(self, grant: GrantFacts, generation: int) -> None:
        """Record a grant of a generation; of a known grant only its member."""
        grants = self.grants.setdefault(grant.queue, {})
        known = grants.setdefault(grant.epoch, grant)
        if known.member is None:
            known.member = grant.member
        if known is grant and self.refuses(grant, generation):
            says = f"{grant.client_id} knew a newer driver and refuses generation {generation}"
            grant.resolve(evidence_of(grant.issued, says), self.clock.clock_ms)
        member = None if known.member is None else self.members.get(known.member)
        if member is not None:
            self._hold_to_promise(known, member)

    def refuses(self, grant: GrantFacts, generation: int) -> bool:
        """Tell whether a grant's member knows a driver above this generation, and so refuses."""
        member = None if grant.member is None else self.members.get(grant.member)
        return member is not None and member.acked > generation

    def open_grants(self, queue: MessageQueue, below: Epoch) -> list[GrantFacts]:
        """Return the grants that a successor waits for, older than an epoch."""
        return [
            grant
            for epoch, grant in sorted(self.grants.get(queue, {}).items())
            if epoch < below and grant.resolved is None and not grant.overtaken
        ]

    def let_go(self, decision: RawRecord) -> None:
        """Record that a decision ends all grants: the group follows RocketMQ's own strategy."""
        for grants in self.grants.values():
            for grant in grants.values():
                if grant.resolved is None:
                    says = f"{self.name} follows RocketMQ's own strategy from here on"
                    grant.resolve(evidence_of(decision, says), self.clock.clock_ms)
        self.positions.let_go()

    def forget(self, queue: MessageQueue) -> None:
        """Forget old resolved grants: no record can name them any more."""
        grants = self.grants.get(queue, {})
        for epoch in sorted(grants)[:-_GRANTS_MAX]:
            if grants[epoch].resolved is not None:
                del grants[epoch]

    def beat(self, record: Heartbeat, row: RawRecord, clock_ms: int) -> None:
        """Apply a heartbeat: each one renews its member's lease."""
        member = self.members.get(record.member)
        if member is not None:
            member.seen_ms, member.seen = clock_ms, row
            if not member.left and member.shares == _shares(record):
                member.lease_ms, member.topics = record.profile.lease_ms, _topics(record)
        else:
            member = self.members[record.member] = MemberFacts(
                record.member,
                record.process,
                record.incarnations,
                record.profile.lease_ms,
                _topics(record),
                clock_ms,
                clock_ms,
                row,
                ordered=record.profile.ordered,
                shares=_shares(record),
            )
            self.incarnations.setdefault(record.member.client_id, []).append(member)
        member.changes += member.digest != record.digest
        member.digest = record.digest
        self._note_rivals(member, clock_ms)

    def _note_rivals(self, member: MemberFacts, clock_ms: int) -> None:
        """Note two processes of one client id, each heard after the other had started."""
        for other in self.incarnations[member.key.client_id]:
            if other.process == member.process or other.left or other.lapsed:
                continue
            if clock_ms - other.seen_ms > self.patience_ms(other) or member.lapsed:
                continue
            if member.seen_ms > other.born_ms and other.seen_ms > member.born_ms:
                lesser, greater = sorted((member, other), key=lambda each: each.process)
                if lesser.rival is None:
                    lesser.rival_ms = clock_ms
                lesser.rival = greater

    def leave(self, record: Leave, row: RawRecord) -> None:
        """Apply a leave: its member gets no more grants."""
        member = self.members.get(record.member)
        if member is not None:
            member.left = True
            self._promise(member, record.last_started, row)

    def _promise(self, member: MemberFacts, last_started: Epoch | None, row: RawRecord) -> None:
        """Apply what a leaving member started last: it never starts a newer grant."""
        if last_started is None or member.last_started is not None:
            return
        member.left, member.last_started = True, (last_started, row)
        for grant in self._of(member.key):
            self._hold_to_promise(grant, member)

    def _hold_to_promise(self, grant: GrantFacts, member: MemberFacts) -> None:
        if member.last_started is None or grant.epoch <= member.last_started[0]:
            return
        row = member.last_started[1]
        if grant.never is None and grant.released is None:
            self._compare(grant, never=row)
        if grant.resolved is None:
            says = "left without having started it"
            grant.resolve(evidence_of(row, f"{grant.client_id} {says}"), self.clock.clock_ms)

    def take_unbelieved(self, record: Release | Progress, row: RawRecord) -> None:
        """Apply a record with a refused position: only whether its sender works counts."""
        if isinstance(record, Release):
            self.release(record, row, believed=False)
        else:
            self.progress(record, row, believed=False)

    def progress(self, record: Progress, row: RawRecord, *, believed: bool = True) -> None:
        """Apply reported work: work under a grant proves that all older grants have ended."""
        for entry in record.queues:
            grant = self._grant(record.member, entry.queue, entry.epoch)
            self._count("progress", row, grant)
            report = PositionReport(entry.position, row, identity=entry.identity)
            # Of a refused row nobody says which entry is at fault: one within the ends that others
            # told is not. What such an entry itself says of the end proves nothing.
            counts = believed or self.positions.is_within(entry.queue, entry.position)
            if not counts:
                self.positions.doubt(entry, report)
            else:
                self.positions.grow(entry, report)
                if grant is not None and (not grant.worked or report.position > grant.worked[0]):
                    self._compare(grant, worked=report)
                late = grant is None or not grant.put_aside
                self.positions.reach(entry.queue, entry.epoch, report, grant, late=late)
            if grant is not None and grant.resolved is None:
                self._supersede(grant, row, "works under a newer grant")

    def release(self, record: Release, row: RawRecord, *, believed: bool = True) -> None:
        """Apply a release; one with a position ends all older grants too."""
        member = self.members.get(record.member)
        if member is not None:
            self._promise(member, record.last_started, row)
        grant = self._grant(record.member, record.queue, record.epoch)
        accepted = grant is not None and grant.resolved is None
        self._count("release", row, grant)
        if record.position is not None and believed:
            report = PositionReport(record.position, row, identity=record.identity)
            self.positions.reach(record.queue, record.epoch, report, grant)
        if grant is None:
            return
        if record.position is not None:
            grant.put_aside |= not believed
            if believed:
                self._compare(grant, released=PositionReport(record.position, row))
        elif grant.released is None:
            # After the release this answer changes nothing.
            self._compare(grant, never=row)
        early = self.early.pop((grant.queue, grant.epoch), None)
        if early is not None:
            self.ended.append((early, row))
        says = "released" if record.position is not None else "answered that it never started"
        if accepted:
            grant.resolve(evidence_of(row, says), self.clock.clock_ms)
        if record.position is not None:
            self._supersede(grant, row, "released a newer grant")

    def _compare(self, grant: GrantFacts, **facts: Any) -> None:
        """Set what a member reports of its grant; note its first contradiction."""
        before = grant.contradiction()
        for name, what in facts.items():
            setattr(grant, name, what)
        after = grant.contradiction()
        if before is None and after is not None:
            self.contradictions.append(after)

    def claims(self, record: Claims, row: RawRecord) -> None:
        """Apply a member's claims to a generation: older grants that it does not run are void."""
        member = self.members.get(record.member)
        if record.part == 0:
            self.parts[record.member] = {}
        parts = self.parts.setdefault(record.member, {})
        parts[record.part] = record.queues
        if len(parts) != record.parts:
            return
        entries = [entry for part in sorted(parts) for entry in parts[part]]
        del self.parts[record.member]
        if member is not None:
            member.acked = max(member.acked, record.generation)
        if member is None or member.lapsed:
            # The engine asks a lapsed member no more.
            return
        running = {(entry.queue, entry.epoch) for entry in entries if entry.running}
        for entry in entries:
            grant = self._grant(record.member, entry.queue, entry.epoch)
            if grant is not None:
                report = PositionReport(entry.position, row, identity=entry.identity)
                self.positions.reach(entry.queue, entry.epoch, report, grant, late=False)
                if entry.running:
                    self._supersede(grant, row, "claims to work under a newer grant")
        says = f"does not run it, by its claims to generation {record.generation}"
        for grant in self._of(record.member):
            if grant.epoch.generation >= record.generation or grant.resolved is not None:
                continue
            if (grant.queue, grant.epoch) not in running:
                proof = evidence_of(row, f"{record.member.client_id} {says}")
                grant.resolve(proof, self.clock.clock_ms)
            elif grant.dropped_by < record.generation:
                # A client that knows a new driver obeys no drop of an older one.
                grant.dropped_ms = None

    def start_anew(self, topic: str) -> None:
        """Forget a recreated topic: every grant so far is of its former identity."""
        issued = [max(grants) for queue, grants in self.grants.items() if queue.topic == topic]
        self.positions.start_anew(topic, max(issued, default=NOTHING))

    def lapse(self, member: MemberKey, proof: Evidence) -> None:
        """End every grant of a member that was silent for too long."""
        for grant in self._of(member):
            if grant.resolved is None:
                grant.resolve(proof, self.clock.clock_ms)
                self.lapsed.append(grant)

    def count_drops_anew(self) -> None:
        """Count open drops from now on: a new driver repeats each of them."""
        for grants in self.grants.values():
            for grant in grants.values():
                if grant.resolved is None and grant.dropped_ms is not None:
                    grant.dropped_ms = self.clock.clock_ms

    def _of(self, member: MemberKey) -> Iterable[GrantFacts]:
        for grants in self.grants.values():
            for grant in grants.values():
                if grant.is_of(member):
                    yield grant

    def _grant(self, member: MemberKey, queue: MessageQueue, epoch: Epoch) -> GrantFacts | None:
        grant = self.grants.get(queue, {}).get(epoch)
        return grant if grant is not None and grant.is_of(member) else None

    def _supersede(self, newer: GrantFacts, row: RawRecord, says: str) -> None:
        for grant in self.open_grants(newer.queue, newer.epoch):
            if grant.client_id != newer.client_id:
                self.early.setdefault((grant.queue, grant.epoch), EarlyWork(grant, newer, row))
            grant.resolve(evidence_of(row, f"{newer.client_id} {says}"), self.clock.clock_ms)

    def _count(self, kind: str, row: RawRecord, grant: GrantFacts | None) -> None:
        """Count a report. It is stale if it names no grant, or came after its grant's end.

        The engine reads all releases up to a decision before the progress, which may be older by
        minutes: so append times decide.
        """
        ended_ms = None if grant is None else grant.resolved_ms
        accepted = grant is not None and (ended_ms is None or row.append_ms <= ended_ms)
        name = f"{kind}/{'accepted' if accepted else 'stale'}"
        self.counts[name] = self.counts.get(name, 0) + 1


def _topics(record: Heartbeat) -> frozenset[str]:
    """Return the topics whose queues a member shares with others."""
    if not _shares(record):
        return frozenset()
    return frozenset(subscription.topic for subscription in record.subscriptions)


def _shares(record: Heartbeat) -> bool:
    """Tell whether the sender of a heartbeat shares queues with others."""
    return record.profile.message_model == "clustering"
