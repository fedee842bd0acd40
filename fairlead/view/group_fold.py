"""Everything that is known of one group, and how it is looked at."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.rules import GroupRules
from fairlead.view.decided import Decided, Decision
from fairlead.view.figures import GroupFigures, Shares, TopicFigures, shares_of
from fairlead.view.holds import Holds, holds_of
from fairlead.view.measured import Measured, Report
from fairlead.view.members import Heard, Members, Roll
from fairlead.view.summary import UNKNOWN_PHASE, GroupSummary, LastRebalance
from fairlead.view.surroundings import Surroundings
from fairlead.view.told import Told

__all__ = ["GroupFold"]

_AT_REST: Final = frozenset(("stable", "empty", "paused"))
_RELEASES_MAX: Final = 4
"""So many of the newest releases of a queue are remembered; few of its grants are unresolved."""


@dataclass(slots=True)
class GroupFold:
    """One group while its records are read."""

    name: str
    around: Surroundings
    decided: Decided = field(default_factory=Decided)
    told: Told = field(default_factory=Told)
    members: Members = field(default_factory=Members)
    measured: Measured = field(default_factory=Measured)
    released: dict[MessageQueue, tuple[Epoch, ...]] = field(default_factory=dict)
    touched_ms: int = 0
    _holds: Holds | None = None
    _shares: Shares | None = None
    _shared: tuple[Any, ...] = ()

    def changed(self) -> None:
        """Say that who holds what may have changed."""
        self._holds = None

    def take_progress(self, reports: Iterable[Report], append_ms: int) -> None:
        """Take in how far a member is with queues that it works on."""
        for report in reports:
            self.measured.of(report.queue).take_progress(report, append_ms)

    def take_release(self, report: Report, append_ms: int) -> None:
        """Take in that a grant was given up, and where its member stopped."""
        queue, epoch = report.queue, report.epoch
        self.measured.of(queue).take(report, append_ms)
        known = self.released.get(queue, ())
        if epoch is not None and epoch not in known:
            self.released[queue] = tuple(sorted((*known, epoch))[-_RELEASES_MAX:])
            self.changed()

    @property
    def rules(self) -> GroupRules:
        """What the group is ruled by."""
        return self.around.ruled.in_force(self.name)

    @property
    def holds(self) -> Holds:
        """Who holds what, worked out once after each change."""
        if self._holds is None:
            settled = {key for key, heard in self.members.heard.items() if self.is_settled(heard)}
            self._holds = holds_of(self.told, self.decided, self.released, settled)
        return self._holds

    def roll(self) -> Roll:
        """Return who is in the group."""
        return self.members.roll(self.around.clock_ms(self.name), self.rules)

    def shares(self) -> Shares:
        """Return how its queues are shared, worked out once after each change."""
        roll, holds = self.roll(), self.holds
        known = (roll, holds, self.around.structure)
        if self._shares is None or not all(map(_is, known, self._shared)):
            granted = sorted({queue.topic for queue in self.decided.tenures}, key=java_order)
            self._shares, self._shared = shares_of(roll, holds, self.around, granted), known
        return self._shares

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
        return LastRebalance(found.append_ms, found.triggers, found.moves)

    def is_settled(self, heard: Heard) -> bool | None:
        """Tell whether a member holds what it was told, no more and no less; None: it was not told.

        What it waits for it must have started, and what it gives up it must have released.
        """
        told = self.told.digests.get(heard.member.key)
        if told is None:
            return None if heard.member.shares else heard.digest == 0
        return told == heard.digest

    def phase(self) -> str:
        """Return where the group stands, by its newest decision.

        Decisions are not kept for ever: of a group that has none any more the sets of its members
        tell as much as that it is empty, stable or handing over.
        """
        if self.decided.newest is not None:
            return self.decided.newest.phase
        members = self.roll().members.values()
        if any(self.is_settled(heard) is None for heard in members):
            return UNKNOWN_PHASE
        if self.holds.draining or self.holds.gated:
            return "handing_over"
        return "stable" if members else "empty"

    def is_converged(self) -> bool:
        """Tell whether nothing is on its way, and each live member holds what it was told."""
        members = self.roll().members.values()
        return self.phase() in _AT_REST and all(self.is_settled(heard) for heard in members)

    def figures(self, history_ms: int) -> GroupFigures:
        """Return the group in numbers."""
        newest = self.decided.newest
        topics = tuple(self._topics())
        return GroupFigures(
            summary=self._summary(topics, history_ms),
            topics=topics,
            draining=self.holds.draining,
            gated=self.holds.gated,
            generation=0 if newest is None else newest.epoch.generation,
            decided_ms=None if newest is None else newest.append_ms,
            disagree=self.roll().disagree,
        )

    def _summary(self, topics: tuple[TopicFigures, ...], history_ms: int) -> GroupSummary:
        roll, holds, shares = self.roll(), self.holds, self.shares()
        newest, rules = self.decided.newest, self.rules
        messages = [each.lag_messages for each in topics if each.lag_messages is not None]
        seconds = [each.lag_seconds for each in topics if each.lag_seconds is not None]
        return GroupSummary(
            group=self.name,
            phase=self.phase(),
            strategy=rules.strategy if newest is None else newest.strategy,
            mode=self.mode(),
            model=roll.model,
            members=len(roll.members),
            members_idle=shares.idle,
            queues=sum(each.queues for each in topics),
            unassigned=sum(each.unassigned for each in topics),
            in_handover=holds.draining + holds.gated,
            unsafe=0 if newest is None else newest.counts.unsafe,
            epoch=NOTHING if newest is None else newest.epoch,
            converged=self.is_converged(),
            skew=shares.skew,
            alarms=() if newest is None else newest.alarms,
            lag_messages=sum(messages) if messages else None,
            lag_seconds=max(seconds) if seconds else None,
            last_rebalance=self.last_rebalance(history_ms),
            as_of_ms=self.around.as_of_ms,
        )

    def _topics(self) -> Iterator[TopicFigures]:
        """Yield the figures of each topic that the group shares, by the order of their names."""
        shares, as_of_ms, polled = self.shares(), self.around.as_of_ms, self.around.polled
        anybody = bool(self.roll().members)
        behind: dict[str, list[Any]] = {}
        for queue, measure in self.measured.queues.items():
            if queue.topic in shares.queues:
                lag = measure.lag(polled.get(queue), as_of_ms)
                if lag is not None:
                    behind.setdefault(queue.topic, []).append(lag)
        for topic, queues in shares.queues.items():
            lags = behind.get(topic, ())
            known = [(lag.seconds, lag.at_least) for lag in lags if lag.seconds is not None]
            seconds, at_least = max(known, default=(None, False))
            yield TopicFigures(
                topic=topic,
                queues=len(queues) if anybody else 0,
                unassigned=shares.unassigned[topic],
                lag_messages=sum(lag.messages for lag in lags) if lags else None,
                lag_seconds=seconds,
                lag_at_least=at_least,
            )

    def is_over(self, oldest_ms: int) -> bool:
        """Tell whether nothing was heard of the group since, and nothing is left of it."""
        if self.told.sets or self.around.ruled.has_own(self.name):
            return False
        newest = self.decided.newest
        decided_ms = 0 if newest is None else newest.append_ms
        return max(decided_ms, self.members.newest_ms) < oldest_ms

    def sweep(self, oldest_ms: int) -> None:
        """Forget what nobody asks for any more."""
        self.decided.forget_before(oldest_ms)
        self.members.forget(self.around.clock_ms(self.name))
        self.measured.forget(self.around.routes, oldest_ms)

    def overlaps(self) -> dict[MessageQueue, tuple[MemberKey, ...]]:
        """Return the queues that several live members were told to hold, and who these are.

        There are none where the group's mode allows that.
        """
        if self.mode() != "cooperative":
            return {}
        live = {heard.member.key for heard in self.roll().members.values()}
        shared = self.holds.shared_twice
        found = {queue: tuple(live.intersection(shared[queue])) for queue in shared}
        return {queue: tuple(sorted(who)) for queue, who in found.items() if len(who) > 1}

    def mode(self) -> str:
        """Return how queues are handed over: never eagerly while an ordered member is there."""
        members = self.roll().members.values()
        ordered = any(heard.member.profile.ordered for heard in members)
        return "cooperative" if ordered else self.rules.mode

    def unmeasured(self, since_ms: int) -> list[MessageQueue]:
        """Return the queues of which nobody has told how far they are.

        Members tell of every change, so what they told once holds while there are any; of a group
        without members only what was told since a time counts.
        """
        anybody, known = bool(self.roll().members), self.measured.queues
        return [
            queue
            for queues in self.shares().queues.values()
            for queue in queues
            if (measure := known.get(queue)) is None
            or measure.position is None
            or (measure.end(None) is None if anybody else measure.told_ms < since_ms)
        ]

    def owner_of(self, queue: MessageQueue) -> MemberKey | None:
        """Return whose a queue is, or is about to be."""
        hold = self.holds.queues.get(queue)
        return None if hold is None else hold.owner


def _is(one: object, other: object) -> bool:
    return one is other
