"""How a whole group stands: everything that the topics tell and that a person asks for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.control.native_handback import GroupRelease, release_of
from fairlead.control.rule_json import unusual_rules_json
from fairlead.control.rules_in_force import RulesInForce
from fairlead.core.membership.members import shared_topics
from fairlead.core.model import MessageQueue, Route
from fairlead.counts import counted
from fairlead.observed.decision_head import decision_head
from fairlead.observed.engine_liveness import EngineLiveness
from fairlead.observed.group_metrics import GroupFigures, figures_of
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.member_standing import MemberStanding, member_standings
from fairlead.observed.positions import QueuePosition
from fairlead.observed.queue_standing import QueueStanding, queue_standings
from fairlead.observed.summary import GroupSummary
from fairlead.observed.unrouted import unrouted_topics
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["GroupStanding", "standing_of"]


@dataclass(frozen=True, slots=True)
class GroupStanding:
    """A group as it stands.

    Attributes:
        live: the group as its topics tell it.
        queues: each queue.
        members: each member.
        now_ms: until when silence and waits count.
        figures: the group in numbers.
        absent: topics without a route that do not exist -> what to say of it; empty if nobody has
            asked.
        untold: topics that have more queues than their routes say -> what to say of it; empty if
            nobody has asked.
    """

    live: LiveGroup
    queues: tuple[QueueStanding, ...]
    members: tuple[MemberStanding, ...]
    now_ms: int
    figures: GroupFigures
    absent: Mapping[str, str] = field(default_factory=dict)
    untold: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The group's name."""
        return self.live.core.state.group

    @property
    def engine(self) -> EngineLiveness:
        """Whether an engine runs."""
        return self.figures.summary.engine

    @property
    def release(self) -> GroupRelease | None:
        """Who handed the group back to native consumers, and when; None: nobody has."""
        return release_of(self.live.in_force)

    @property
    def newest(self) -> DecisionRecord | None:
        """The newest decision that was read."""
        return self.live.observed.decided.record()

    def queue(self, queue: MessageQueue) -> QueueStanding:
        """Return a queue; of one that the group no longer knows, that nobody has it."""
        known = next((each for each in self.queues if each.queue == queue), None)
        return known or QueueStanding.gone(queue)

    @property
    def summary(self) -> GroupSummary:
        """The group's line in a list, with the lag that the data cluster tells."""
        return replace(
            self.figures.summary,
            lag_messages=self.lag,
            lag_ms=self.lag_ms,
            lag_at_least=self.lag_at_least,
        )

    @property
    def phase(self) -> str:
        """The word of docs/protocol.md §3.14, or ``unknown``: the group awaits a decision."""
        return self.figures.summary.phase

    def kept_for(self, queue: MessageQueue) -> str | None:
        """Return the client that is gone and for which the group keeps a queue; None: nobody."""
        last = self.live.observed.decided.newest_grants.get(queue)
        awaited = self.live.core.state.awaited
        return last.client_id if last is not None and last.client_id in awaited else None

    def grace_left_ms(self, client_id: str) -> int:
        """Return for how long the group still waits for a client that is gone."""
        core = self.live.core
        until_ms = core.state.awaited[client_id].since_ms + core.rules.restart_grace_ms
        return max(until_ms - core.clock_ms, 0)

    @property
    def sharing(self) -> tuple[MemberStanding, ...]:
        """The members that heartbeat."""
        return tuple(each for each in self.members if each.live)

    @property
    def behind(self) -> tuple[str, ...]:
        """Why the group has not converged, one reason each; empty: it has."""
        if self.summary.converged:
            return ()
        return tuple(self._behind()) or (*self._unheard(),) or (f"the group is {self.phase}",)

    def _behind(self) -> Iterator[str]:
        for each in self.members:
            if each.behind:
                read = "nothing" if each.applied is None else ".".join(map(str, each.applied))
                told = ".".join(map(str, each.told or ()))
                if each.applied is not None and each.told is not None and each.applied >= each.told:
                    yield f"{each.key.client_id} has read {told}, but holds something else"
                else:
                    yield f"{each.key.client_id} has read {read}, but the engine wrote {told}"
        moving = sum(each.in_handover for each in self.queues)
        if moving:
            yield f"{moving} moving to another member"
        kept = sum(bool(each.draining) and not each.in_handover for each in self.queues)
        if kept:
            yield f"{kept} not given up by the member before, though granted to the next"
        unplaced = sum(each.unplaced for each in self.members)
        if unplaced:
            yield f"{counted(unplaced, 'member')} that no decision has placed yet"

    def _unheard(self) -> Iterator[str]:
        """Yield the members whose next heartbeat will tell that they have followed."""
        observed = self.live.observed
        for heard in observed.live_members().members.values():
            if not observed.is_settled(heard):
                yield f"{heard.member.key.client_id} has yet to say that it holds its assignment"

    @property
    def lag(self) -> int | None:
        """How many messages are left over all queues; None: no lag is known."""
        known = [each.lag for each in self._places if each.lag is not None]
        return sum(known) if known else None

    @property
    def lag_ms(self) -> int | None:
        """How long the oldest message has waited; None: unknown for every queue."""
        return max((each.lag_ms for each in self._places if each.lag_ms is not None), default=None)

    @property
    def lag_at_least(self) -> bool:
        """Whether the oldest message may have waited longer than `lag_ms`."""
        return any(each.lag_at_least and each.lag_ms == self.lag_ms for each in self._places)

    @property
    def _places(self) -> Iterator[QueuePosition]:
        """The positions that count; for a released group, only those that brokers tell."""
        for each in self.queues:
            if self.release is None or each.place.asked:
                yield each.place

    @property
    def unrouted(self) -> tuple[str, ...]:
        """The subscribed topics that should have a route and have none."""
        return unrouted_topics(self.live.planned.state, self.live.core.rules)

    @property
    def waits_for_bridge(self) -> bool:
        """Whether it lacks what only a bridge tells: a route, or where queues begin."""
        asking = self.phase in ("waiting_for_route", "waiting_for_offsets")
        return asking or any(topic not in self.absent for topic in self.unrouted)

    @property
    def routes(self) -> Mapping[str, Route]:
        """The routes of the subscribed topics."""
        state = self.live.planned.state
        return {
            topic: state.routes[topic] for topic in shared_topics(state) if topic in state.routes
        }

    def to_json(self) -> dict[str, Any]:
        """Return JSON values, without single queues and members."""
        return {
            **self.summary.to_json(),
            "awaited": sorted(self.live.core.state.awaited),
            "unrouted": [*self.unrouted],
            "unconverged_because": [*self.behind],
            "decision": self._decision(),
            "rules": self.live.in_force.once(_unusual_rules),
        }

    def to_full_json(self) -> dict[str, Any]:
        """Return JSON values of everything."""
        return {
            **self.to_json(),
            "topic_list": [each.to_json() for each in self.figures.topics],
            "member_list": [each.to_json() for each in self.members],
            "queue_list": [each.to_json() for each in self.queues],
        }

    def _decision(self) -> dict[str, Any] | None:
        newest = self.live.observed.decided.newest
        if newest is None or self.newest is None:
            return None
        return decision_head(self.newest, newest.queues_moved)


def _unusual_rules(found: RulesInForce) -> list[dict[str, Any]]:
    return [*unusual_rules_json(found)]


def standing_of(
    live: LiveGroup, now_ms: int, history_ms: int, places: Mapping[MessageQueue, QueuePosition]
) -> GroupStanding:
    """Return how a live group stands.

    Args:
        live: the group.
        now_ms: until when silence and waits count.
        history_ms: how long its last rebalance is remembered.
        places: where the data cluster says the group is in its queues.
    """
    now_ms = max(now_ms, live.newest_ms or 0)
    queues = queue_standings(live, now_ms, places)
    members = member_standings(live, queues, now_ms)
    figures = figures_of(live.observed, history_ms, now_ms)
    return GroupStanding(live, queues, members, now_ms, figures)
