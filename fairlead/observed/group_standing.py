"""Where a whole group stands: read from the topics, with everything that a person asks of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.control.native_handback import GroupRelease, release_of
from fairlead.core.allocation import Strategy
from fairlead.core.membership import shared_topics
from fairlead.core.model import Epoch, MessageQueue, Route
from fairlead.counts import counted
from fairlead.observed.engine_life import EngineLife
from fairlead.observed.live_group import LiveGroup, UnknownGroupError, read_live_group
from fairlead.observed.member_standing import MemberStanding, member_standings
from fairlead.observed.positions import Place
from fairlead.observed.queue_standing import QueueStanding, queue_standings
from fairlead.observed.unrouted import unrouted_topics
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.bodies import summary_body
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["GroupStanding", "read_standing", "standing_of"]

_TRANSIENT: Final = frozenset(
    (
        *("settling", "waiting_for_route", "waiting_for_offsets", "waiting_for_clients"),
        *("handing_over", "barrier", "recovering", "quarantined"),
    )
)


@dataclass(frozen=True, slots=True)
class GroupStanding:
    """A group as it stands.

    Attributes:
        live: the group as its topics tell it.
        queues: each queue.
        members: each member.
        now_ms: up to when silence and waits are counted.
        engine: whether one runs.
        absent: of topics without a route, those that do not exist -> that, in words. Empty also
            where nobody has asked.
        untold: of topics with a route, those that have more queues than it tells -> that, in
            words. Empty also where nobody has asked.
    """

    live: LiveGroup
    queues: tuple[QueueStanding, ...]
    members: tuple[MemberStanding, ...]
    now_ms: int
    engine: EngineLife
    absent: Mapping[str, str] = field(default_factory=dict)
    untold: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The group's name."""
        return self.live.core.state.group

    @property
    def release(self) -> GroupRelease | None:
        """Who handed the group back to native consumers, and when; None: nobody did."""
        return release_of(self.live.in_force)

    @property
    def newest(self) -> DecisionRecord | None:
        """The newest decision that was read."""
        return self.live.observed.decided.record()

    @property
    def epoch(self) -> Epoch | None:
        """The epoch of the newest decision; of one that the log has lost, as members were told."""
        told = [each.epoch for each in self.live.told.values()]
        if self.newest is not None:
            told.append(Epoch(*self.newest.epoch))
        return max(told, default=None)

    @property
    def phase(self) -> str:
        """The word of docs/protocol.md §3.14, or ``unknown``: a decision is awaited."""
        return self.live.observed.standing().phase

    @property
    def phase_since_ms(self) -> int | None:
        """When the group came into its phase; None: before what was read, or none can tell."""
        newest = self.newest
        decided = newest is not None and newest.phase == self.phase
        return self.live.observed.decided.phase_since_ms if decided else None

    @property
    def sharing(self) -> tuple[MemberStanding, ...]:
        """The members that heartbeat."""
        return tuple(each for each in self.members if each.live)

    @property
    def idle(self) -> tuple[MemberStanding, ...]:
        """The members that heartbeat and could share, and have nothing."""
        roles = ("idle", "drained", "not_designated")
        return tuple(
            each
            for each in self.members
            if each.role in roles and not (each.held or each.draining or each.gated)
        )

    @property
    def behind(self) -> tuple[str, ...]:
        """Why the group has not converged, one reason each; none: everybody follows."""
        return tuple(self._behind())

    def _behind(self) -> Iterator[str]:
        for each in self.members:
            if each.behind:
                read = "nothing" if each.applied is None else ".".join(map(str, each.applied))
                told = ".".join(map(str, each.told or ()))
                if each.applied is not None and each.told is not None and each.applied >= each.told:
                    yield f"{each.key.client_id} holds something else than it was told at {told}"
                else:
                    yield f"{each.key.client_id} was told {told} and has read {read}"
        passing = sum(each.passing for each in self.queues)
        if passing:
            yield f"{passing} on the way to another member"
        unassigned = sum(each.unassigned for each in self.queues)
        if unassigned:
            yield f"{unassigned} without an owner"
        unplaced = sum(each.unplaced for each in self.members)
        if unplaced:
            yield f"{counted(unplaced, 'member')} not placed by any decision yet"
        if not passing and not unassigned and self.phase in _TRANSIENT:
            yield f"the group is {self.phase}"

    @property
    def lag(self) -> int | None:
        """How many messages are left over all queues; None: of no queue is it known."""
        known = [each.lag for each in self._places if each.lag is not None]
        return sum(known) if known else None

    @property
    def lag_ms(self) -> int | None:
        """For how long the oldest message has waited; None: of no queue is it known."""
        return max((each.lag_ms for each in self._places if each.lag_ms is not None), default=None)

    @property
    def _places(self) -> Iterator[Place]:
        """The places that tell how far the group is: of a released one, what brokers say alone."""
        for each in self.queues:
            if self.release is None or each.place.asked:
                yield each.place

    @property
    def unrouted(self) -> tuple[str, ...]:
        """The subscribed topics that ought to have a route, and of which none is known."""
        return unrouted_topics(self.live.picture.state, self.live.core.rules)

    @property
    def waits_for_bridge(self) -> bool:
        """Whether it lacks what only a bridge tells: a route, or where queues begin."""
        asking = self.phase in ("waiting_for_route", "waiting_for_offsets")
        return asking or any(topic not in self.absent for topic in self.unrouted)

    @property
    def routes(self) -> Mapping[str, Route]:
        """The routes of the topics that are subscribed to."""
        state = self.live.picture.state
        return {
            topic: state.routes[topic] for topic in shared_topics(state) if topic in state.routes
        }

    def document(self) -> dict[str, Any]:
        """Return the state as JSON values, without single queues and members."""
        rules, state = self.live.core.rules, self.live.core.state
        models = Counter(
            each.profile.message_model for each in self.sharing if each.profile is not None
        )
        draining = sum(bool(each.draining) for each in self.queues)
        gated = sum(bool(each.gated) for each in self.queues)
        epoch = self.epoch
        return {
            "group": self.name,
            "as_of_ms": self.now_ms,
            "phase": self.phase,
            "phase_since_ms": self.phase_since_ms,
            "strategy": rules.strategy,
            "mode": rules.mode,
            "model": max(models, key=lambda model: models[model]) if models else None,
            "members": len(self.sharing),
            "members_idle": len(self.idle),
            "awaited": sorted(state.awaited),
            "queues": sum(each.readable for each in self.queues),
            "unassigned": sum(each.unassigned for each in self.queues),
            "draining": draining,
            "gated": gated,
            "unsafe": sum(each.unsafe for each in self.queues),
            "unrouted": [*self.unrouted],
            "epoch": None if epoch is None else [*epoch],
            "converged": not self.behind,
            "behind": [*self.behind],
            "lag": self.lag,
            "lag_ms": self.lag_ms,
            "engine": self.engine.document(),
            "released": None if self.release is None else self.release.document(),
            "decision": None if self.newest is None else _decision_document(self.newest),
        }


def _decision_document(decision: DecisionRecord) -> dict[str, Any]:
    moved = {move.queue for move in decision.moves if move.stage in ("dropped", "gated", "granted")}
    return {
        "epoch": [*decision.epoch],
        "at_ms": decision.written_ms,
        "triggers": [*decision.triggers],
        "causes": [dict(reason) for reason in decision.causes],
        "strategy": decision.strategy,
        "moves": len(decision.moves),
        "queues_moved": len(moved),
        "alarms": [*decision.alarms],
        "failures": dict(decision.failures),
        "state": summary_body(decision.state),
    }


def read_standing(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
    places: Mapping[MessageQueue, Place] | None = None,
) -> GroupStanding:
    """Return how a group stands, also one without members.

    Args:
        source: the topics.
        group: its name.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        history_ms: decisions are read from so long ago.
        places: where the data cluster says the group is in its queues.

    Raises:
        UnknownGroupError: no record is of this group.
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    live = read_live_group(
        source, group, strategies, tick_ms, history_ms=history_ms, forgotten=True
    )
    return standing_of(live, max(source.now_ms(), live.newest_ms or 0), places or {})


def standing_of(
    live: LiveGroup, now_ms: int, places: Mapping[MessageQueue, Place]
) -> GroupStanding:
    """Return how a group stands; the arguments are those of `read_standing`.

    Raises:
        UnknownGroupError: no record is of this group.
    """
    observed = live.observed
    if not (live.told or live.core.state.members or live.core.state.rules) and not (
        places or observed.measured.queues or observed.decided.newest
    ):
        raise UnknownGroupError(observed.name, live.others)
    queues = queue_standings(live, now_ms, places)
    members = member_standings(live, queues, now_ms)
    return GroupStanding(live, queues, members, now_ms, live.engine(now_ms))
