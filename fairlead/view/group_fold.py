"""Everything that is known of one group, and how it is looked at."""

from dataclasses import dataclass, field

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.view.decided import Decided
from fairlead.view.group_view import GroupView, MemberView, QueueView
from fairlead.view.holds import Holds, holds_of
from fairlead.view.summary import UNKNOWN_PHASE, GroupSummary, LastRebalance
from fairlead.view.told import Told

__all__ = ["GroupFold"]


@dataclass(slots=True)
class GroupFold:
    """One group while its records are read."""

    name: str
    decided: Decided = field(default_factory=Decided)
    told: Told = field(default_factory=Told)
    released: dict[MessageQueue, tuple[Epoch, ...]] = field(default_factory=dict)
    _holds: Holds | None = None

    def changed(self) -> None:
        """Say that who holds what may have changed."""
        self._holds = None

    @property
    def holds(self) -> Holds:
        """Who holds what, worked out once after each change."""
        if self._holds is None:
            self._holds = holds_of(self.told, self.decided, self.released)
        return self._holds

    @property
    def last_rebalance(self) -> LastRebalance | None:
        """The newest decision that is remembered and gave a queue to another client."""
        for decision in reversed(self.decided.history):
            if decision.moves:
                return LastRebalance(decision.append_ms, decision.triggers, decision.moves)
        return None

    def summary(self, as_of_ms: int) -> GroupSummary:
        """Return the line about the group."""
        holds, newest = self.holds, self.decided.newest
        owned = [holds.owned.get(member, 0) for member in self.told.sets]
        phase = UNKNOWN_PHASE if newest is None else newest.phase
        return GroupSummary(
            group=self.name,
            phase=phase,
            strategy="AVG" if newest is None else newest.strategy,
            mode="cooperative",
            model="clustering",
            members=len(owned),
            members_idle=owned.count(0),
            queues=0 if newest is None else newest.counts.queues,
            unassigned=0 if newest is None else newest.counts.unassigned,
            in_handover=holds.draining + holds.gated,
            unsafe=0 if newest is None else newest.counts.unsafe,
            epoch=NOTHING if newest is None else newest.epoch,
            converged=phase == "stable",
            skew=max(owned, default=0) - min(owned, default=0),
            alarms=() if newest is None else newest.alarms,
            lag_messages=None,
            lag_seconds=None,
            last_rebalance=self.last_rebalance,
            as_of_ms=as_of_ms,
        )

    def view(self, as_of_ms: int) -> GroupView:
        """Return the group in full."""
        members = sorted(self.told.sets, key=lambda key: (java_order(key.client_id), key))
        return GroupView(
            self.summary(as_of_ms),
            tuple(self._member(member) for member in members),
            tuple(self._queue(queue) for queue in sorted(self.holds.queues, key=queue_order)),
            tuple(self.decided.history),
        )

    def _member(self, member: MemberKey) -> MemberView:
        entries = self.told.sets[member].entries
        return MemberView(
            member=member,
            live=True,
            leaving=False,
            heard_ms=None,
            address="",
            language="",
            version="",
            zone=None,
            model="clustering",
            consume_type="push",
            capacity=1,
            lease_ms=0,
            topics=(),
            applied=None,
            settled=None,
            told=tuple(sorted(entries, key=lambda entry: queue_order(entry.queue))),
            owned=self.holds.owned.get(member, 0),
        )

    def _queue(self, queue: MessageQueue) -> QueueView:
        hold = self.holds.queues[queue]
        tenure = self.decided.tenures.get(queue)
        if tenure is not None and tenure.epoch != hold.epoch:
            tenure = None
        return QueueView(
            queue=queue,
            state=hold.state,
            owner=hold.owner,
            holder=hold.holder,
            also=hold.also,
            epoch=hold.epoch,
            since_ms=None if tenure is None else tenure.since_ms,
            decision=None if tenure is None else tenure.decision,
            decided_ms=None if tenure is None else tenure.decided_ms,
        )
