"""Everything that is known of one group, and the questions that it answers."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.control.native_handback import GroupRelease, release_of
from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.assignments import GroupAssignments
from fairlead.observed.events import GroupEvents
from fairlead.observed.group_decisions import GroupDecisions, LoggedDecision
from fairlead.observed.handovers import GroupHandovers
from fairlead.observed.members import HeardMember, LiveMembers, Members
from fairlead.observed.ownership import GrantEnds, GroupOwnership, Share, ownership_of, shares_of
from fairlead.observed.phase import phase_of
from fairlead.observed.positions import GroupPositions, PositionReport
from fairlead.observed.releases import Releases
from fairlead.observed.shared_facts import SharedFacts
from fairlead.observed.silences import Silences
from fairlead.observed.standing import Standing, unassigned_of
from fairlead.observed.summary import LastRebalance
from fairlead.wire.quick_decisions import Part

__all__ = ["ObservedGroup"]

_AT_REST: Final = frozenset(("stable", "empty", "paused"))
_ANSWERED_MS: Final = 3_000
"""A heartbeat sent this long after an assignment reflects that assignment."""


@dataclass(slots=True)
class ObservedGroup:
    """One group, from the records that have been read so far."""

    name: str
    facts: SharedFacts
    events: GroupEvents
    positions: GroupPositions
    decided: GroupDecisions = field(default_factory=GroupDecisions)
    assignments: GroupAssignments = field(default_factory=GroupAssignments)
    members: Members = field(default_factory=Members)
    releases: Releases = field(default_factory=Releases)
    silences: Silences = field(default_factory=Silences)
    handovers: GroupHandovers = field(default_factory=GroupHandovers)
    touched_ms: int = 0
    native_ms: int = 0
    confirmed: bool = False
    """Whether an engine, a bridge or an operator has told of it, and not clients alone."""
    _holds: GroupOwnership | None = None
    _standing: Standing | None = None
    _structure: int = 0

    @property
    def is_recorded(self) -> bool:
        """Whether any record told of this group."""
        return self.touched_ms > 0

    def forget_decisions(self) -> None:
        """Forget the decisions: they are about to be read again, from further back."""
        self.decided = GroupDecisions(self.decided.bounds)
        self.handovers = GroupHandovers()
        self.changed()

    def changed(self) -> None:
        """Note that ownership may have changed."""
        self._holds = None

    def take_decision(self, part: Part) -> None:
        """Apply one part of a decision."""
        applied = self.decided.apply_part(self.name, part)
        if applied is None:
            return
        self.changed()
        if self.events.counters.following:
            self.silences.take_decision(applied, self.members, self.rules)
        self.events.take_decision(applied, self.decided, self.releases)
        self.handovers.take_decision(applied, self.decided, self.releases)
        if applied.decision.queues_moved and not applied.again:
            told_ms = [at_ms for cause in applied.causes() if (at_ms := self._told_ms(cause))]
            if told_ms:
                self.events.counters.observe_phase("detect", min(told_ms), applied.decision.at_ms)

    def _told_ms(self, cause: Mapping[str, Any]) -> int | None:
        """Return when the record of a cause was appended; for a lapse, the last heartbeat."""
        if "at" in cause:
            topic, partition, offset = cause["at"]
            times = self.facts.appended.get((topic, partition))
            return None if times is None else times.at(offset)
        client_id, heard = cause.get("client_id"), self.members.heard
        return max(
            (heard[key].heard_ms for key in heard if key.client_id == client_id), default=None
        )

    def take_progress(self, reports: Iterable[PositionReport], append_ms: int) -> None:
        """Apply how far a member is with queues that it works on."""
        for report in reports:
            self.positions.apply_progress(report, append_ms)
            self.events.take_progress(report, append_ms, ended=self._ended(report, append_ms))

    @property
    def release(self) -> GroupRelease | None:
        """Who handed the group back to native consumers, and when; None: nobody has."""
        return release_of(self.facts.rules.of(self.name))

    def take_commit(self, report: PositionReport, at_ms: int) -> None:
        """Apply what the group has committed in the data cluster.

        Only these commits tell where the native consumers of a released group are: what Fairlead's
        clients told last, and resets, may be ahead of them or behind.
        """
        release = self.release
        if release is None:
            self.positions.apply_report(report, at_ms)
        elif not release.elsewhere:
            self.positions.apply_native(report, at_ms)
            self.native_ms = at_ms

    def take_release(self, member: MemberKey, report: PositionReport, append_ms: int) -> None:
        """Apply a release: a member gave a grant up, and stopped at a position."""
        self.positions.apply_report(report, append_ms)
        ended, fresh = self._ended(report, append_ms), False
        if report.epoch is not None:
            fresh = self.releases.add(report.queue, member, report.epoch, append_ms)
        self.events.take_release(report, append_ms, again=not fresh, ended=ended)
        if fresh:
            self.changed()

    def _ended(self, report: PositionReport, append_ms: int) -> bool:
        """Tell whether the grant of a report was over before the report was appended."""
        if report.epoch is None:
            return False
        ended_ms = self.decided.ended.get(report.queue, {}).get(report.epoch)
        return ended_ms is not None and append_ms > ended_ms

    def finish_events(self) -> bool:
        """Notice what has ended; return whether anything is still under way."""
        watch, facts = self.events, self.facts
        watch.look_for_overlaps(self.overlaps(), facts.as_of_ms)
        for queue, released_ms in watch.waiting(facts.as_of_ms):
            owner = self.owner_of(queue)
            heard = None if owner is None else self.members.heard.get(owner)
            if heard is not None and heard.digest_ms >= released_ms and self.is_settled(heard):
                watch.begun(queue, heard.digest_ms)
        newest = self.decided.newest
        if watch.opened_ms is not None and newest is not None and self.standing().converged:
            heard_ms = [heard.digest_ms for heard in self.live_members().members.values()]
            watch.converged(max([newest.append_ms, *heard_ms]))
        return watch.is_open

    @property
    def newest_beat_ms(self) -> int | None:
        """When the newest record of its partition of heartbeats was appended; None: none was."""
        return self.facts.newest_beat_ms(self.name)

    @property
    def rules(self) -> GroupRules:
        """The rules in force for the group."""
        return self.facts.rules.in_force(self.name)

    @property
    def ownership(self) -> GroupOwnership:
        """Who holds what, computed once after each change."""
        if self._holds is None:
            self._holds = ownership_of(self.assignments, self._ends())
        return self._holds

    def shares(self) -> dict[MessageQueue, list[Share]]:
        """Return the members that have a share in each queue, oldest grant first."""
        ends, entries = self._ends(), self.assignments.queues()
        shares_by_queue = {
            queue: shares_of(queue, of_queue, ends) for queue, of_queue in entries.items()
        }
        return {queue: shares for queue, shares in shares_by_queue.items() if shares}

    def since_ms(self, queue: MessageQueue, share: Share) -> int | None:
        """Return since when a member has its share of a queue; None: the log does not say.

        That is the time of the grant or, for a draining queue, of the drop.
        """
        grant, draining = self.decided.grant(queue, share.epoch), share.state == "draining"
        if grant is not None and (grant.stage == "dropped") == draining:
            return grant.since_ms
        assigned, newest = self.assignments.sets[share.member], self.decided.newest
        # An assignment may be read before its decision: then it is not from long ago.
        fresh = newest is not None and assigned.epoch > newest.epoch
        return assigned.at_ms if fresh or (share.epoch == assigned.epoch and not draining) else None

    def _ends(self) -> GrantEnds:
        settled = {key for key, heard in self.members.heard.items() if self.is_settled(heard)}
        return GrantEnds(self.releases, self.decided, settled)

    def live_members(self) -> LiveMembers:
        """Return who is in the group."""
        return self.members.live_members(self.facts.clock_ms(self.name), self.rules)

    def standing(self) -> Standing:
        """Return how the group stands, computed once after each change."""
        live_members, ownership, last = self.live_members(), self.ownership, self._standing
        if (
            last is None
            or last.live_members is not live_members
            or last.ownership is not ownership
            or self._structure != self.facts.structure
        ):
            self._standing = last = self._stands(live_members, ownership)
            self._structure = self.facts.structure
        return last

    def _stands(self, live_members: LiveMembers, ownership: GroupOwnership) -> Standing:
        shared = self._shared_topics(live_members) if live_members.model == "clustering" else ()
        queues = {topic: self.facts.queues_of(topic) for topic in shared}
        owned = [ownership.owned.get(member, 0) for member in live_members.candidates]
        settled = [self.is_settled(heard) for heard in live_members.members.values()]
        phase = self._phase(live_members, ownership, settled)
        return Standing(
            live_members=live_members,
            ownership=ownership,
            phase=phase,
            mode=_mode(live_members, self.rules),
            converged=phase in _AT_REST and all(settled),
            queues=queues,
            unassigned=unassigned_of(queues, live_members, ownership),
            idle=owned.count(0),
            skew=max(owned) - min(owned) if owned else 0,
        )

    def _shared_topics(self, live_members: LiveMembers) -> Iterable[str]:
        """Return the topics whose queues the group shares.

        A group without members counts the topics in which it was granted queues, since an offline
        group falls behind in them. If its decisions are older than what is read, the topics count
        in which a bridge told its position. A subscribed topic without route or grant is left out:
        any name may be subscribed to.
        """
        routes = self.facts.routes
        if live_members.topics and all(topic in routes for topic in live_members.topics):
            return live_members.topics
        granted = {queue.topic for queue in self.decided.newest_grants}
        if not live_members.topics:
            return sorted(granted or self.positions.topics, key=java_order)
        return [topic for topic in live_members.topics if topic in routes or topic in granted]

    def _phase(
        self, live_members: LiveMembers, ownership: GroupOwnership, settled: list[bool | None]
    ) -> str:
        """Return where the group stands."""
        newest = self.decided.newest
        return phase_of(
            None if newest is None else newest.phase,
            awaited=None in settled,
            passing=bool(ownership.ungranted or ownership.gated),
            members=bool(live_members.members),
        )

    @property
    def epoch(self) -> Epoch | None:
        """The epoch of the newest decision, or of the newest assignment if the log lost that."""
        if self.decided.newest is not None:
            return self.decided.newest.epoch
        return max((each.epoch for each in self.assignments.sets.values()), default=None)

    @property
    def phase_since_ms(self) -> int | None:
        """When the group entered its phase; None: before what was read, or nothing tells it."""
        newest = self.decided.newest
        decided = newest is not None and newest.phase == self.standing().phase
        return self.decided.phase_since_ms if decided else None

    def decisions(self, history_ms: int) -> Iterator[LoggedDecision]:
        """Yield the remembered decisions, oldest first."""
        oldest_ms = self.facts.as_of_ms - history_ms
        for decision in self.decided.history:
            if decision.append_ms >= oldest_ms:
                yield decision

    def last_rebalance(self, history_ms: int) -> LastRebalance | None:
        """Return the newest remembered decision that gave a queue to another client."""
        last = self.decided.last_move
        if last is None or last.append_ms < self.facts.as_of_ms - history_ms:
            return None
        return LastRebalance(last.append_ms, last.triggers, last.queues_moved)

    def is_settled(self, heard: HeardMember) -> bool | None:
        """Tell whether a member holds exactly its assignment; None: it has none.

        It must have started everything it waits for and released everything it gives up.
        """
        settled = self.assignments.digests.get(heard.member.key)
        if settled is None:
            return None if heard.member.shares else heard.digest == 0
        return settled == heard.digest

    def is_behind(self, heard: HeardMember) -> bool:
        """Tell whether a member has not read its assignment, or holds something else.

        The heartbeat must have been sent long enough after the assignment, and nothing in the
        assignment may be under way: only then is it known what the member should hold.
        """
        key = heard.member.key
        assigned = self.assignments.sets.get(key)
        if assigned is None:
            return False
        if heard.applied is None or heard.applied < assigned.epoch:
            return True
        is_early = heard.heard_ms - assigned.at_ms <= _ANSWERED_MS
        return not (is_early or self.is_settled(heard) or key in self.ownership.passing)

    def overlaps(self) -> dict[MessageQueue, tuple[MemberKey, ...]]:
        """Return the queues that are assigned to several live members, and these members.

        Empty if the group's mode allows that.
        """
        standing = self.standing()
        shared = standing.ownership.shared_twice
        if not shared or standing.mode != "cooperative":
            return {}
        live = {heard.member.key for heard in standing.live_members.members.values()}
        holders = {queue: tuple(sorted(live.intersection(shared[queue]))) for queue in shared}
        return {queue: who for queue, who in holders.items() if len(who) > 1}

    def is_over(self, oldest_ms: int) -> bool:
        """Tell whether nothing was heard of the group since this time, and nothing is left of it.

        Unread messages are left of it: somebody may be looking for this very group. That does not
        count if clients alone told of it, since they may invent groups. A group that the engine has
        evicted and that never had a queue was probably mistyped.
        """
        if self._is_forgotten() and not self.decided.newest_grants:
            return not self.positions.is_behind()
        if self.assignments.sets or self.facts.rules.has_own(self.name):
            return False
        newest = self.decided.newest
        decided_ms = 0 if newest is None else newest.append_ms
        heard = max(decided_ms, self.members.newest_ms) >= oldest_ms
        return not heard and not (self.confirmed and self.positions.is_behind())

    def is_known(self) -> bool:
        """Tell whether a bridge or an engine has told of a queue of it, and it is not evicted."""
        return self.confirmed and bool(self.positions.queues) and not self._is_forgotten()

    def _is_forgotten(self) -> bool:
        newest = self.decided.newest
        return newest is not None and "group_evicted" in newest.triggers

    def has_by_others(self, queue: MessageQueue) -> bool:
        """Tell whether anybody but clients tells that the group reads this queue."""
        if not self.confirmed:
            return False
        if self.facts.is_routed(queue) or queue in self.decided.newest_grants:
            return True
        measure = self.positions.queues.get(queue)
        return measure is not None and measure.confirmed

    def forget_queues(self, queues: Collection[MessageQueue]) -> None:
        """Forget what clients have told of some queues."""
        self.positions.forget_queues(queues)
        for queue in queues:
            self.releases.forget(queue)
            self.events.released.pop(queue, None)
        self.changed()

    def sweep(self, oldest_ms: int) -> None:
        """Forget what nobody asks for any more."""
        self.decided.forget_before(oldest_ms, self.facts.routes)
        self.members.forget(self.facts.clock_ms(self.name))
        self.positions.forget(self.facts.routes, oldest_ms)
        self.releases.forget_before(oldest_ms, self.facts.routes.__contains__)
        self.events.forget_before(oldest_ms, self.decided)
        self.handovers.forget_before(oldest_ms, self.decided.newest_grants)

    def unmeasured(self, since_ms: int) -> list[MessageQueue]:
        """Return the queues whose position or end nobody has told.

        Members tell of every change, so what they told once holds while the group has members. For
        a group without members only what somebody has told since this time counts.
        """
        anybody, known = bool(self.live_members().members), self.positions.queues
        return [
            queue
            for queues in self.standing().queues.values()
            for queue in queues
            if (measure := known.get(queue)) is None
            or measure.position is None
            or (measure.end(None) is None if anybody else measure.told_ms < since_ms)
        ]

    def owner_of(self, queue: MessageQueue) -> MemberKey | None:
        """Return the present or next owner of a queue."""
        hold = self.ownership.queues.get(queue)
        return None if hold is None else hold.owner


def _mode(live_members: LiveMembers, rules: GroupRules) -> str:
    """Return how queues are handed over: never eagerly while an ordered member is there."""
    ordered = any(heard.member.profile.ordered for heard in live_members.members.values())
    return "cooperative" if ordered else rules.mode
