"""What is known of one group: its members and its grants."""

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
from fairlead.core.rules.group_rules import GroupRules, RuleError, with_rule
from fairlead.engine.clock import ShardClock
from fairlead.verify.grant_facts import Contradiction, EarlyWork, GrantFacts, Report
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.position_facts import PositionFacts
from fairlead.verify.verdicts import Evidence, evidence_of
from fairlead.wire.raw import RawRecord

__all__ = ["GroupFacts"]

_GRANTS_MAX: Final = 200
"""So many grants of a queue are remembered, and all that are not resolved."""


@dataclass(slots=True)
class GroupFacts:
    """A group, from its records alone.

    Attributes:
        clock: of its shard, at the record that is read.
        defaults: the rules of all groups; changed by the shard.
        otherwise: the rules of a group of which the log says nothing.
        grants: per queue, by epoch; resolved ones too, for records may still speak of them.
        positions: how far its queues were processed.
        early: work under a grant while an older one had not been seen to end.
        ended: of those, the release that came later.
        subscribed: the topics that somebody read when the newest decision was made.
        lives: the members of each client id.
        counts: of reports by kind and whether they were accepted.
        contradictions: words of members that cannot be true together.
        lapsed: the grants that ended since their member was silent for too long.
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
    lives: dict[str, list[MemberFacts]] = field(default_factory=dict)

    def rule(self, name: str) -> Any:
        """Return the value of a rule in force, by the log alone."""
        return self.rules.get(name, self.defaults.get(name))

    @property
    def times(self) -> GroupRules:
        """The group's times: its own over those of all groups over the engine's."""
        found = self.otherwise
        for rules in (self.defaults, self.rules):
            if "timing" in rules:
                try:
                    found = with_rule(found, "timing", rules["timing"], {})
                except RuleError:
                    continue
        return found

    def patience_ms(self, member: MemberFacts) -> int:
        """Return how long a member may be silent."""
        times = self.times
        return max(times.lease_ms, member.lease_ms) + times.margin_ms

    def effective(self, client_id: str) -> MemberKey | None:
        """Return the member that a client id stands for; None: nobody of it lives."""
        alive = [
            member
            for member in self.members.values()
            if member.key.client_id == client_id and not member.left and not member.lapsed
        ]
        if not alive:
            return None
        return max(alive, key=lambda member: (member.process, member.incarnations)).key

    def issue(self, grant: GrantFacts, generation: int) -> None:
        """Take note of what a generation grants; of a grant that is known only whose it is."""
        grants = self.grants.setdefault(grant.queue, {})
        known = grants.setdefault(grant.epoch, grant)
        if known.member is None:
            known.member = grant.member
        if known is grant and self.refuses(grant, generation):
            says = f"{grant.client_id} knew of a newer driver: it takes nothing of {generation}"
            grant.end(evidence_of(grant.issued, says), self.clock.clock_ms)
        member = None if known.member is None else self.members.get(known.member)
        if member is not None:
            self._hold_to_promise(known, member)

    def refuses(self, grant: GrantFacts, generation: int) -> bool:
        """Tell whether a grant's member has learnt of a driver above this generation."""
        member = None if grant.member is None else self.members.get(grant.member)
        return member is not None and member.acked > generation

    def open_grants(self, queue: MessageQueue, below: Epoch) -> list[GrantFacts]:
        """Return the grants that a successor waits for, older than an epoch."""
        return [
            grant
            for epoch, grant in sorted(self.grants.get(queue, {}).items())
            if epoch < below and grant.resolved is None and not grant.overtaken
        ]

    def forget(self, queue: MessageQueue) -> None:
        """Forget what no record can speak of any more: old grants that are resolved."""
        grants = self.grants.get(queue, {})
        for epoch in sorted(grants)[:-_GRANTS_MAX]:
            if grants[epoch].resolved is not None:
                del grants[epoch]

    def beat(self, record: Heartbeat, row: RawRecord, clock_ms: int) -> None:
        """A heartbeat was read; every one counts for its member's lease."""
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
            self.lives.setdefault(record.member.client_id, []).append(member)
        member.changes += member.digest != record.digest
        member.digest = record.digest
        self._note_rivals(member, clock_ms)

    def _note_rivals(self, member: MemberFacts, clock_ms: int) -> None:
        """Note which processes of a client id were each heard after the other had come."""
        for other in self.lives[member.key.client_id]:
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
        """A leave was read: its member is granted nothing more."""
        member = self.members.get(record.member)
        if member is not None:
            member.left = True
            self._promise(member, record.last_started, row)

    def _promise(self, member: MemberFacts, last_started: Epoch | None, row: RawRecord) -> None:
        """A member tells what it started last: what it was granted above that it never starts."""
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
            says = "left, and had not started it"
            grant.end(evidence_of(row, f"{grant.client_id} {says}"), self.clock.clock_ms)

    def take_unbelieved(self, record: Release | Progress, row: RawRecord) -> None:
        """A position in it was refused: that its sender has stopped, or works, is believed."""
        if isinstance(record, Release):
            self.release(record, row, believed=False)
        else:
            self.progress(record, row, believed=False)

    def progress(self, record: Progress, row: RawRecord, *, believed: bool = True) -> None:
        """Work was reported: whoever works on a grant proves that all older ones have ended."""
        for entry in record.queues:
            grant = self._grant(record.member, entry.queue, entry.epoch)
            self._count("progress", row, grant)
            report = Report(entry.position, row, identity=entry.identity)
            self.positions.grow(entry, report)
            if believed or not self.positions.is_beyond(entry.queue, entry.position):
                if grant is not None and (not grant.worked or report.position > grant.worked[0]):
                    self._compare(grant, worked=report)
                late = grant is None or not grant.put_aside
                self.positions.reach(entry.queue, entry.epoch, report, grant, late=late)
            if grant is not None and grant.resolved is None:
                self._supersede(grant, row, "works under a newer grant")

    def release(self, record: Release, row: RawRecord, *, believed: bool = True) -> None:
        """A release was read; with a position it ends all older grants too."""
        member = self.members.get(record.member)
        if member is not None:
            self._promise(member, record.last_started, row)
        grant = self._grant(record.member, record.queue, record.epoch)
        accepted = grant is not None and grant.resolved is None
        self._count("release", row, grant)
        if record.position is not None and believed:
            report = Report(record.position, row, identity=record.identity)
            self.positions.reach(record.queue, record.epoch, report, grant)
        if grant is None:
            return
        if record.position is not None:
            grant.put_aside |= not believed
            if believed:
                self._compare(grant, released=Report(record.position, row))
        elif grant.released is None:
            # Said behind the release it changes nothing.
            self._compare(grant, never=row)
        early = self.early.pop((grant.queue, grant.epoch), None)
        if early is not None:
            self.ended.append((early, row))
        says = "released" if record.position is not None else "answered that it never started"
        if accepted:
            grant.end(evidence_of(row, says), self.clock.clock_ms)
        if record.position is not None:
            self._supersede(grant, row, "released a newer grant")

    def _compare(self, grant: GrantFacts, **said: Any) -> None:
        """Take what a member says of its grant; tell, once, if that contradicts what it said."""
        known = grant.contradiction()
        for name, what in said.items():
            setattr(grant, name, what)
        found = grant.contradiction()
        if known is None and found is not None:
            self.contradictions.append(found)

    def claims(self, record: Claims, row: RawRecord) -> None:
        """A member acknowledges a generation: what it does not run of older ones is void."""
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
            # Who was taken for dead is not asked any more.
            return
        running = {(entry.queue, entry.epoch) for entry in entries if entry.running}
        for entry in entries:
            grant = self._grant(record.member, entry.queue, entry.epoch)
            if grant is not None:
                report = Report(entry.position, row, identity=entry.identity)
                self.positions.reach(entry.queue, entry.epoch, report, grant, late=False)
                if entry.running:
                    self._supersede(grant, row, "claims to work under a newer grant")
        says = f"does not run it, by the claims of generation {record.generation}"
        for grant in self._of(record.member):
            if grant.epoch.generation >= record.generation or grant.resolved is not None:
                continue
            if (grant.queue, grant.epoch) not in running:
                proof = evidence_of(row, f"{record.member.client_id} {says}")
                grant.end(proof, self.clock.clock_ms)
            elif grant.dropped_by < record.generation:
                # Whoever learns of a new driver obeys no drop of an older one.
                grant.dropped_ms = None

    def start_anew(self, topic: str) -> None:
        """A topic was made again: whatever was granted is of its former life."""
        issued = [max(grants) for queue, grants in self.grants.items() if queue.topic == topic]
        self.positions.start_anew(topic, max(issued, default=NOTHING))

    def lapse(self, member: MemberKey, proof: Evidence) -> None:
        """A member was silent for too long: that ends every grant of it."""
        for grant in self._of(member):
            if grant.resolved is None:
                grant.end(proof, self.clock.clock_ms)
                self.lapsed.append(grant)

    def count_drops_anew(self) -> None:
        """A driver starts: it asks everybody again, so drops are counted from here."""
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
            grant.end(evidence_of(row, f"{newer.client_id} {says}"), self.clock.clock_ms)

    def _count(self, kind: str, row: RawRecord, grant: GrantFacts | None) -> None:
        """Count a report; one is stale that was told of no grant, or behind its grant's end.

        Up to a decision all releases are read before all progress, which may be minutes older.
        """
        ended_ms = None if grant is None else grant.resolved_ms
        accepted = grant is not None and (ended_ms is None or row.append_ms <= ended_ms)
        name = f"{kind}/{'accepted' if accepted else 'stale'}"
        self.counts[name] = self.counts.get(name, 0) + 1


def _topics(record: Heartbeat) -> frozenset[str]:
    """Return the topics that a member shares with others."""
    if not _shares(record):
        return frozenset()
    return frozenset(subscription.topic for subscription in record.subscriptions)


def _shares(record: Heartbeat) -> bool:
    """Tell whether a heartbeat is of a member that shares queues."""
    return record.profile.message_model == "clustering"
