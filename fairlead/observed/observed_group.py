"""Everything that is known of one group, and how it is looked at."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.control.native_handback import GroupRelease, release_of
from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.assignments import Told
from fairlead.observed.decided import Decided, Decision
from fairlead.observed.events import Watch
from fairlead.observed.members import Heard, Members, Roll
from fairlead.observed.ownership import Ends, Holds, Share, holds_of, shares_of
from fairlead.observed.phase import phase_of
from fairlead.observed.positions import Measured, Report
from fairlead.observed.releases import Releases
from fairlead.observed.shared_facts import SharedFacts
from fairlead.observed.standing import Standing, unassigned_of
from fairlead.observed.summary import LastRebalance
from fairlead.wire.quick_decisions import Part

__all__ = ["ObservedGroup"]

_AT_REST: Final = frozenset(("stable", "empty", "paused"))
_ANSWERED_MS: Final = 3_000
"""A heartbeat that was sent so long after its member was told tells what it made of that."""


@dataclass(slots=True)
class ObservedGroup:
    """One group while its records are read."""

    name: str
    around: SharedFacts
    watch: Watch
    measured: Measured
    decided: Decided = field(default_factory=Decided)
    told: Told = field(default_factory=Told)
    members: Members = field(default_factory=Members)
    releases: Releases = field(default_factory=Releases)
    touched_ms: int = 0
    native_ms: int = 0
    vouched: bool = False
    """Whether somebody else than clients has told of it: an engine, a bridge or an operator."""
    _holds: Holds | None = None
    _standing: Standing | None = None
    _structure: int = 0

    def changed(self) -> None:
        """Say that who holds what may have changed."""
        self._holds = None

    def take_decision(self, part: Part) -> None:
        """Take in one part of a decision."""
        taken = self.decided.take(self.name, part)
        if taken is None:
            return
        self.changed()
        self.watch.take_decision(taken, self.decided, self.releases)
        if taken.decision.queues_moved and not taken.again:
            told_ms = [told for cause in taken.causes() if (told := self._told_ms(cause))]
            if told_ms:
                self.watch.happened.took("detect", min(told_ms), taken.decision.at_ms)

    def _told_ms(self, cause: Mapping[str, Any]) -> int | None:
        """Return when the record was appended that told of a cause; of a lapse, who lapsed."""
        if "at" in cause:
            topic, partition, offset = cause["at"]
            times = self.around.appended.get((topic, partition))
            return None if times is None else times.at(offset)
        client_id, heard = cause.get("client_id"), self.members.heard
        return max(
            (heard[key].heard_ms for key in heard if key.client_id == client_id), default=None
        )

    def take_progress(self, reports: Iterable[Report], append_ms: int) -> None:
        """Take in how far a member is with queues that it works on."""
        for report in reports:
            self.measured.take_progress(report, append_ms)
            self.watch.take_progress(report, append_ms, ended=self._ended(report, append_ms))

    @property
    def release(self) -> GroupRelease | None:
        """Who handed the group back to native consumers, and when; None: nobody did."""
        return release_of(self.around.ruled.of(self.name))

    def take_commit(self, report: Report, at_ms: int) -> None:
        """Take in what the group has committed in the data cluster.

        Of a released group that is where its native consumers are, and nothing else counts: what
        Fairlead's clients told last, and resets, may be further or not as far.
        """
        release = self.release
        if release is None:
            self.measured.take(report, at_ms)
        elif not release.elsewhere:
            self.measured.take_native(report, at_ms)
            self.native_ms = at_ms

    def take_release(self, member: MemberKey, report: Report, append_ms: int) -> None:
        """Take in that a member gave a grant up, and where it stopped."""
        self.measured.take(report, append_ms)
        ended, fresh = self._ended(report, append_ms), False
        if report.epoch is not None:
            fresh = self.releases.add(report.queue, member, report.epoch, append_ms)
        self.watch.take_release(report, append_ms, again=not fresh, ended=ended)
        if fresh:
            self.changed()

    def _ended(self, report: Report, append_ms: int) -> bool:
        """Tell whether the grant of a report was over before it was appended."""
        if report.epoch is None:
            return False
        ended_ms = self.decided.ended.get(report.queue, {}).get(report.epoch)
        return ended_ms is not None and append_ms > ended_ms

    def look_out(self) -> bool:
        """Notice what has come to its end; return whether anything is still under way."""
        watch, around = self.watch, self.around
        watch.look_for_overlaps(self.overlaps(), around.as_of_ms)
        for queue, released_ms in watch.waiting(around.as_of_ms):
            owner = self.owner_of(queue)
            heard = None if owner is None else self.members.heard.get(owner)
            if heard is not None and heard.digest_ms >= released_ms and self.is_settled(heard):
                watch.begun(queue, heard.digest_ms)
        newest = self.decided.newest
        if watch.opened_ms is not None and newest is not None and self.standing().converged:
            heard_ms = [heard.digest_ms for heard in self.roll().members.values()]
            watch.converged(max([newest.append_ms, *heard_ms]))
        return watch.is_open

    @property
    def newest_beat_ms(self) -> int | None:
        """When the newest record of its partition of heartbeats was appended; None: none was."""
        return self.around.newest_beat_ms(self.name)

    @property
    def rules(self) -> GroupRules:
        """What the group is ruled by."""
        return self.around.ruled.in_force(self.name)

    @property
    def holds(self) -> Holds:
        """Who holds what, worked out once after each change."""
        if self._holds is None:
            self._holds = holds_of(self.told, self._ends())
        return self._holds

    def shares(self) -> dict[MessageQueue, list[Share]]:
        """Return per queue everybody who has anything to do with it, oldest grant first."""
        ends, entries = self._ends(), self.told.queues()
        found = {queue: shares_of(queue, of_queue, ends) for queue, of_queue in entries.items()}
        return {queue: shares for queue, shares in found.items() if shares}

    def since_ms(self, queue: MessageQueue, share: Share) -> int | None:
        """Return since when a member has its share of a queue; None: the log does not say.

        That is when it was granted the queue or, of a drain, when it was told to stop.
        """
        grant, draining = self.decided.grant(queue, share.epoch), share.state == "draining"
        if grant is not None and (grant.stage == "dropped") == draining:
            return grant.since_ms
        told, newest = self.told.sets[share.member], self.decided.newest
        # A set may be read before the decision that it comes of: that is none of long ago.
        fresh = newest is not None and told.epoch > newest.epoch
        return told.at_ms if fresh or (share.epoch == told.epoch and not draining) else None

    def _ends(self) -> Ends:
        settled = {key for key, heard in self.members.heard.items() if self.is_settled(heard)}
        return Ends(self.releases, self.decided, settled)

    def roll(self) -> Roll:
        """Return who is in the group."""
        return self.members.roll(self.around.clock_ms(self.name), self.rules)

    def standing(self) -> Standing:
        """Return how the group stands, worked out once after each change."""
        roll, holds, last = self.roll(), self.holds, self._standing
        if (
            last is None
            or last.roll is not roll
            or last.holds is not holds
            or self._structure != self.around.structure
        ):
            self._standing = last = self._stands(roll, holds)
            self._structure = self.around.structure
        return last

    def _stands(self, roll: Roll, holds: Holds) -> Standing:
        shared = self._shared_topics(roll) if roll.model == "clustering" else ()
        queues = {topic: self.around.routes.get(topic, ()) for topic in shared}
        owned = [holds.owned.get(member, 0) for member in roll.candidates]
        settled = [self.is_settled(heard) for heard in roll.members.values()]
        phase = self._phase(roll, holds, settled)
        return Standing(
            roll=roll,
            holds=holds,
            phase=phase,
            mode=_mode(roll, self.rules),
            converged=phase in _AT_REST and all(settled),
            queues=queues,
            unassigned=unassigned_of(queues, roll, holds),
            idle=owned.count(0),
            skew=max(owned) - min(owned) if owned else 0,
        )

    def _shared_topics(self, roll: Roll) -> Iterable[str]:
        """Return the topics whose queues the group shares.

        Where no member was heard, of which it was granted queues: a group that is offline is behind
        in them; and where its decisions are older than what is read, those of which a bridge told
        how far it was. What members subscribe to and nobody has is left out: anything may be called
        so.
        """
        routes = self.around.routes
        if roll.topics and all(topic in routes for topic in roll.topics):
            return roll.topics
        granted = {queue.topic for queue in self.decided.tenures}
        if not roll.topics:
            return sorted(granted or self.measured.topics, key=java_order)
        return [topic for topic in roll.topics if topic in routes or topic in granted]

    def _phase(self, roll: Roll, holds: Holds, settled: list[bool | None]) -> str:
        """Return where the group stands."""
        newest = self.decided.newest
        return phase_of(
            None if newest is None else newest.phase,
            awaited=None in settled,
            passing=bool(holds.draining or holds.gated),
            members=bool(roll.members),
        )

    @property
    def epoch(self) -> Epoch | None:
        """The epoch of the newest decision; of one that the log has lost, as members were told."""
        if self.decided.newest is not None:
            return self.decided.newest.epoch
        return max((each.epoch for each in self.told.sets.values()), default=None)

    @property
    def phase_since_ms(self) -> int | None:
        """When the group came into its phase; None: before what was read, or none can tell."""
        newest = self.decided.newest
        decided = newest is not None and newest.phase == self.standing().phase
        return self.decided.phase_since_ms if decided else None

    def decisions(self, history_ms: int) -> Iterator[Decision]:
        """Yield the decisions that are remembered, oldest first."""
        oldest_ms = self.around.as_of_ms - history_ms
        for decision in self.decided.history:
            if decision.append_ms >= oldest_ms:
                yield decision

    def last_rebalance(self, history_ms: int) -> LastRebalance | None:
        """Return the newest decision that is remembered and gave a queue to another client."""
        found = self.decided.last_move
        if found is None or found.append_ms < self.around.as_of_ms - history_ms:
            return None
        return LastRebalance(found.append_ms, found.triggers, found.queues_moved)

    def is_settled(self, heard: Heard) -> bool | None:
        """Tell whether a member holds what it was told, no more and no less; None: it was not told.

        What it waits for it must have started, and what it gives up it must have released.
        """
        told = self.told.digests.get(heard.member.key)
        if told is None:
            return None if heard.member.shares else heard.digest == 0
        return told == heard.digest

    def is_behind(self, heard: Heard) -> bool:
        """Tell whether a member has not read what it was told, or holds something else.

        What it holds is known when nothing of its set is under way, and when its heartbeat was sent
        long enough after it was told.
        """
        key = heard.member.key
        told = self.told.sets.get(key)
        if told is None:
            return False
        if heard.applied is None or heard.applied < told.epoch:
            return True
        if heard.digest == self.told.digests[key] or heard.heard_ms - told.at_ms <= _ANSWERED_MS:
            return False
        return all(
            entry.state == "held"
            or (entry.state == "draining" and self.releases.has(entry.queue, key, entry.epoch))
            for entry in told.entries
        )

    def overlaps(self) -> dict[MessageQueue, tuple[MemberKey, ...]]:
        """Return the queues that several live members were told to hold, and who these are.

        There are none where the group's mode allows that.
        """
        standing = self.standing()
        shared = standing.holds.shared_twice
        if not shared or standing.mode != "cooperative":
            return {}
        live = {heard.member.key for heard in standing.roll.members.values()}
        found = {queue: tuple(sorted(live.intersection(shared[queue]))) for queue in shared}
        return {queue: who for queue, who in found.items() if len(who) > 1}

    def is_over(self, oldest_ms: int) -> bool:
        """Tell whether nothing was heard of the group since, and nothing is left of it.

        Messages that it has not read are left of it: it is the group that somebody looks for. Not
        where clients alone told of it: any group may be invented. A group that the engine forgot
        and that never had a queue was mistyped, most likely.
        """
        if self._is_forgotten() and not self.decided.tenures:
            return not self.measured.is_behind()
        if self.told.sets or self.around.ruled.has_own(self.name):
            return False
        newest = self.decided.newest
        decided_ms = 0 if newest is None else newest.append_ms
        heard = max(decided_ms, self.members.newest_ms) >= oldest_ms
        return not heard and not (self.vouched and self.measured.is_behind())

    def is_known(self) -> bool:
        """Tell whether a bridge or an engine has told of a queue of it, and nobody evicted it."""
        return self.vouched and bool(self.measured.queues) and not self._is_forgotten()

    def _is_forgotten(self) -> bool:
        newest = self.decided.newest
        return newest is not None and "group_evicted" in newest.triggers

    def has_by_others(self, queue: MessageQueue) -> bool:
        """Tell whether somebody else than clients tells that the group reads this queue."""
        if not self.vouched:
            return False
        if self.around.is_routed(queue) or queue in self.decided.tenures:
            return True
        measure = self.measured.queues.get(queue)
        return measure is not None and measure.vouched

    def forget_queues(self, queues: Collection[MessageQueue]) -> None:
        """Forget what clients have told of some queues."""
        self.measured.forget_queues(queues)
        for queue in queues:
            self.releases.forget(queue)
            self.watch.released.pop(queue, None)
        self.changed()

    def sweep(self, oldest_ms: int) -> None:
        """Forget what nobody asks for any more."""
        self.decided.forget_before(oldest_ms, self.around.routes)
        self.members.forget(self.around.clock_ms(self.name))
        self.measured.forget(self.around.routes, oldest_ms)
        self.releases.forget_before(oldest_ms, self.around.routes.__contains__)
        self.watch.forget_before(oldest_ms, self.decided)

    def unmeasured(self, since_ms: int) -> list[MessageQueue]:
        """Return the queues of which nobody has told how far they are.

        Members tell of every change, so what they told once holds while there are any; of a group
        without members only what was told since a time counts.
        """
        anybody, known = bool(self.roll().members), self.measured.queues
        return [
            queue
            for queues in self.standing().queues.values()
            for queue in queues
            if (measure := known.get(queue)) is None
            or measure.position is None
            or (measure.end(None) is None if anybody else measure.told_ms < since_ms)
        ]

    def owner_of(self, queue: MessageQueue) -> MemberKey | None:
        """Return whose a queue is, or is about to be."""
        hold = self.holds.queues.get(queue)
        return None if hold is None else hold.owner


def _mode(roll: Roll, rules: GroupRules) -> str:
    """Return how queues are handed over: never eagerly while an ordered member is there."""
    ordered = any(heard.member.profile.ordered for heard in roll.members.values())
    return "cooperative" if ordered else rules.mode
