"""What is known of one group: its members, its grants, and how far its queues were processed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue, Position, Process
from fairlead.core.records import (
    Claim,
    Claims,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Release,
    Reset,
)
from fairlead.core.rules import GroupRules, RuleError, with_rule
from fairlead.verify.docket import Evidence, evidence_of
from fairlead.wire.raw import RawRecord

__all__ = ["EarlyWork", "GrantFacts", "GroupFacts", "MemberFacts", "Report"]

_BOUNDS_MAX: Final = 200
"""So many different bounds of a queue are remembered."""


@dataclass(slots=True)
class MemberFacts:
    """One incarnation of one client, by its own heartbeats.

    ``born_ms`` and ``seen_ms`` are the log clock at its first and its newest heartbeat, ``seen`` is
    the newest; ``acked`` the newest generation whose claims are complete. ``rival`` is a greater
    process with its client id: each was heard after the other had come.
    """

    key: MemberKey
    process: Process
    incarnations: int
    lease_ms: int
    topics: frozenset[str]
    born_ms: int
    seen_ms: int
    seen: RawRecord
    ordered: bool = False
    left: bool = False
    lapsed: bool = False
    acked: int = 0
    rival: "MemberFacts | None" = None


@dataclass(slots=True)
class GrantFacts:
    """One grant that was issued: who may work on the queue under this epoch.

    ``member`` None: only a decision tells of it, which names the client alone, and nobody of that
    client was known. ``resolved`` is what proves that nobody works under it any more.
    """

    queue: MessageQueue
    epoch: Epoch
    client_id: str
    member: MemberKey | None
    issued: RawRecord
    resolved: Evidence | None = None
    dropped_ms: int | None = None
    dropped: RawRecord | None = None
    overtaken: bool = False
    """A successor does not wait for it: the queue is marked unsafe until it is resolved."""

    def is_of(self, member: MemberKey) -> bool:
        """Tell whether a record of this member may speak of the grant."""
        return self.member == member if self.member else self.client_id == member.client_id

    @property
    def text(self) -> str:
        """The grant in words."""
        queue = "/".join(map(str, self.queue))
        return f"{queue} granted to {self.client_id} under {self.epoch[0]}.{self.epoch[1]}"


class Report(NamedTuple):
    """A position that somebody reported, and where."""

    position: Position
    row: RawRecord


class EarlyWork(NamedTuple):
    """Somebody worked under a newer grant before this one was seen to be resolved."""

    older: GrantFacts
    newer: GrantFacts
    worked: RawRecord


@dataclass(slots=True)
class GroupFacts:
    """A group, from its records alone.

    Attributes:
        defaults: the rules of all groups; changed by the shard.
        otherwise: the rules of a group of which the log says nothing.
        grants: per queue, by epoch; resolved ones too, for records may still speak of them.
        reached: per queue, the newest position that was accepted.
        ever: the same, also of queues that nobody read for a while.
        late: per queue, the newest position of a grant that had ended; a barrier takes it in.
        stale: per queue, the newest position of a report by whom no such grant was issued to.
        void: per topic that was made anew, the newest epoch of its former life.
        bounds: per queue, offsets that bridges told of it.
        early: work under a grant while an older one had not been seen to end.
        ended: of those, the release that came later.
        subscribed: the topics that somebody read when the newest decision was made.
        lives: the members of each client id.
        counts: of reports by kind and whether they were accepted.
    """

    name: str
    defaults: Mapping[str, Any]
    otherwise: GroupRules = field(default_factory=GroupRules)
    rules: dict[str, Any] = field(default_factory=dict)
    members: dict[MemberKey, MemberFacts] = field(default_factory=dict)
    grants: dict[MessageQueue, dict[Epoch, GrantFacts]] = field(default_factory=dict)
    reached: dict[MessageQueue, Report] = field(default_factory=dict)
    ever: dict[MessageQueue, Report] = field(default_factory=dict)
    late: dict[MessageQueue, Report] = field(default_factory=dict)
    stale: dict[MessageQueue, Report] = field(default_factory=dict)
    void: dict[str, Epoch] = field(default_factory=dict)
    bounds: dict[MessageQueue, set[int]] = field(default_factory=dict)
    early: dict[tuple[MessageQueue, Epoch], EarlyWork] = field(default_factory=dict)
    ended: list[tuple[EarlyWork, RawRecord]] = field(default_factory=list)
    subscribed: frozenset[str] = frozenset()
    counts: dict[str, int] = field(default_factory=dict)
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

    def issue(self, grant: GrantFacts) -> GrantFacts:
        """Take note of a grant; one that is known is returned as it is."""
        grants = self.grants.setdefault(grant.queue, {})
        known = grants.setdefault(grant.epoch, grant)
        if known.member is None:
            known.member = grant.member
        return known

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
        for epoch in sorted(grants)[:-_BOUNDS_MAX]:
            if grants[epoch].resolved is not None:
                del grants[epoch]

    def beat(self, record: Heartbeat, row: RawRecord, clock_ms: int) -> None:
        """A heartbeat was read; every one counts for its member's lease."""
        member = self.members.get(record.member)
        if member is not None:
            member.seen_ms, member.seen = clock_ms, row
            if not member.left:
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
            )
            self.lives.setdefault(record.member.client_id, []).append(member)
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
                lesser.rival = greater

    def leave(self, record: Leave, row: RawRecord) -> None:
        """A leave was read: it ends nothing but what the member may be granted."""
        del row
        member = self.members.get(record.member)
        if member is not None:
            member.left = True

    def progress(self, record: Progress, row: RawRecord) -> None:
        """Work was reported: whoever works on a grant proves that all older ones have ended."""
        for entry in record.queues:
            grant = self._grant(record.member, entry.queue, entry.epoch)
            accepted = grant is not None and grant.resolved is None
            self._count("progress", accepted=accepted)
            self._reach(entry.queue, entry.epoch, Report(entry.position, row), grant)
            if grant is not None and accepted:
                self._supersede(grant, row, "works under a newer grant")

    def release(self, record: Release, row: RawRecord) -> None:
        """A release was read; with a position it ends all older grants too."""
        grant = self._grant(record.member, record.queue, record.epoch)
        accepted = grant is not None and grant.resolved is None
        self._count("release", accepted=accepted)
        if record.position is not None:
            self._reach(record.queue, record.epoch, Report(record.position, row), grant)
        if grant is None:
            return
        early = self.early.pop((grant.queue, grant.epoch), None)
        if early is not None:
            self.ended.append((early, row))
        says = "released" if record.position is not None else "answered that it never started"
        if accepted:
            grant.resolved = evidence_of(row, says)
        if record.position is not None:
            self._supersede(grant, row, "released a newer grant")

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
                report = Report(entry.position, row)
                self._reach(entry.queue, entry.epoch, report, grant, late=False)
                if entry.running:
                    self._supersede(grant, row, "claims to work under a newer grant")
        says = f"does not run it, by the claims of generation {record.generation}"
        for grant in self._of(record.member):
            if grant.epoch.generation >= record.generation or grant.resolved is not None:
                continue
            if (grant.queue, grant.epoch) not in running:
                grant.resolved = evidence_of(row, f"{record.member.client_id} {says}")

    def reset(self, record: Reset, row: RawRecord) -> None:
        """An operator's reset wins over every position of before."""
        report = Report(Position(row.offset + 1, record.offset), row)
        self._keep(record.queue, report, self.reached, self.ever)

    def offsets(self, record: OffsetsKnown) -> None:
        """A bridge told the bounds of queues."""
        for entry in record.queues:
            known = self.bounds.setdefault(entry.queue, set())
            if len(known) < _BOUNDS_MAX:
                known |= {entry.min_offset, entry.max_offset}
                known |= {entry.committed.offset} if entry.committed is not None else set()
                known |= {entry.for_time[1]} if entry.for_time is not None else set()

    def start_anew(self, topic: str) -> None:
        """A topic was made again: no position of its former life counts."""
        issued = [max(grants) for queue, grants in self.grants.items() if queue.topic == topic]
        self.void[topic] = max([*issued, self.void.get(topic, NOTHING)])
        for held in (self.reached, self.ever):
            for queue in [queue for queue in held if queue.topic == topic]:
                del held[queue]
        for queue in [queue for queue in self.bounds if queue.topic == topic]:
            del self.bounds[queue]

    def resolve_of(self, member: MemberKey, proof: Evidence) -> None:
        """End every grant of a member."""
        for grant in self._of(member):
            if grant.resolved is None:
                grant.resolved = proof

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
            grant.resolved = evidence_of(row, f"{newer.client_id} {says}")

    def _reach(
        self,
        queue: MessageQueue,
        epoch: Epoch,
        report: Report,
        grant: GrantFacts | None,
        *,
        late: bool = True,
    ) -> None:
        """Take a position of a grant; None: no such grant was issued to who reports it."""
        if epoch <= self.void.get(queue.topic, NOTHING):
            return
        if grant is None:
            self._keep(queue, report, self.stale)
        elif late and grant.resolved is not None:
            self._keep(queue, report, self.late)
        else:
            self._keep(queue, report, self.reached, self.ever)

    @staticmethod
    def _keep(queue: MessageQueue, report: Report, *places: dict[MessageQueue, Report]) -> None:
        for held in places:
            known = held.get(queue)
            if known is None or report.position > known.position:
                held[queue] = report

    def _count(self, kind: str, *, accepted: bool) -> None:
        name = f"{kind}/{'accepted' if accepted else 'stale'}"
        self.counts[name] = self.counts.get(name, 0) + 1


def _topics(record: Heartbeat) -> frozenset[str]:
    return frozenset(subscription.topic for subscription in record.subscriptions)
