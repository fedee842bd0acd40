"""The numbers of one group, from which lists and metrics are made."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.problem_inputs import problem_inputs
from fairlead.observed.problems import problems_of
from fairlead.observed.standing import Standing
from fairlead.observed.summary import GroupSummary

__all__ = ["HELD_PHASES", "GroupFigures", "TopicFigures", "figures_of"]

HELD_PHASES: Final = (
    "paused", "quarantined", "recovering", "settling",
    "waiting_for_route", "waiting_for_offsets", "waiting_for_clients",
    "standby",
)  # fmt: skip
"""Phases in which a group is not at rest and may have ownerless queues, for a known reason.

A take-over is none: it lasts seconds, unless a client does not say that it has read of it. Then
nothing moves, and the queues of who dies have nobody."""


@dataclass(frozen=True, slots=True)
class TopicFigures:
    """One topic of a group.

    Attributes:
        queues: how many its members share.
        unassigned: how many of these nobody holds or is granted.
        lag_messages: over all queues whose lag is known; None: no lag is known.
        lag_ms: how long the oldest message has waited; None: unknown for every queue.
        lag_at_least: it may have waited longer than the samples of the end reach back.
    """

    topic: str
    queues: int
    unassigned: int
    lag_messages: int | None
    lag_ms: int | None
    lag_at_least: bool

    def to_json(self) -> dict[str, str | float | bool | None]:
        """Return JSON values."""
        return {
            "topic": self.topic,
            "queues": self.queues,
            "queues_unassigned": self.unassigned,
            "lag_messages": self.lag_messages,
            "lag_ms": self.lag_ms,
            "lag_at_least": self.lag_at_least,
        }


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """One group in numbers.

    Attributes:
        summary: its line in a list.
        topics: sorted by name.
        generation: of the newest decision; 0: there is none.
        decided_ms: when the newest decision was appended; None: there is none.
        disagree: members differ in values that must be the same.
    """

    summary: GroupSummary
    topics: tuple[TopicFigures, ...]
    generation: int
    decided_ms: int | None
    disagree: bool


def figures_of(group: ObservedGroup, history_ms: int, now_ms: int | None = None) -> GroupFigures:
    """Return a group in numbers.

    Args:
        group: the group.
        history_ms: how long, before the newest record, its last rebalance is remembered.
        now_ms: until when silence counts, if that is later than the newest record.
    """
    standing, newest = group.standing(), group.decided.newest
    topics = tuple(_topics(group, standing))
    return GroupFigures(
        summary=_summary(group, standing, topics, history_ms, now_ms or 0),
        topics=topics,
        generation=0 if newest is None else newest.epoch.generation,
        decided_ms=None if newest is None else newest.append_ms,
        disagree=bool(standing.live_members.disagreements),
    )


def _summary(
    group: ObservedGroup,
    standing: Standing,
    topics: tuple[TopicFigures, ...],
    history_ms: int,
    now_ms: int,
) -> GroupSummary:
    live_members, ownership, newest = (
        standing.live_members,
        standing.ownership,
        group.decided.newest,
    )
    messages = [each.lag_messages for each in topics if each.lag_messages is not None]
    waited = [each for each in topics if each.lag_ms is not None]
    longest = max(waited, key=lambda each: each.lag_ms or 0, default=None)
    lag, now_ms = sum(messages), max(now_ms, group.facts.as_of_ms)
    engine = group.facts.engine(group.name, group.rules, now_ms)
    return GroupSummary(
        group=group.name,
        phase=standing.phase,
        strategy=group.rules.strategy if newest is None else newest.strategy,
        mode=standing.mode,
        model=live_members.model,
        members=len(live_members.members),
        members_idle=standing.idle,
        queues=sum(each.queues for each in topics),
        unassigned=sum(each.unassigned for each in topics),
        draining=ownership.draining,
        ungranted=ownership.ungranted,
        gated=ownership.gated,
        unsafe=0 if newest is None else newest.counts.unsafe,
        phase_since_ms=group.phase_since_ms,
        epoch=group.epoch,
        converged=standing.converged,
        skew=standing.skew,
        alarms=() if newest is None else newest.alarms,
        lag_messages=lag if messages else None,
        lag_ms=None if longest is None else longest.lag_ms,
        lag_at_least=longest is not None and longest.lag_at_least,
        last_rebalance=group.last_rebalance(history_ms),
        as_of_ms=group.facts.as_of_ms,
        problems=problems_of(problem_inputs(group, engine, lag)),
        engine=engine,
        release=group.release,
    )


def _topics(group: ObservedGroup, standing: Standing) -> Iterator[TopicFigures]:
    """Yield the figures of each topic that the group shares, sorted by name."""
    as_of_ms = group.facts.as_of_ms
    anybody, release = bool(standing.live_members.members), group.release
    # Only its native consumers' commits tell how far a released group is.
    is_known = release is None or group.native_ms > release.written_ms
    for topic, queues in standing.queues.items():
        known = group.positions.behind(topic) if is_known else None
        lag = None if known is None else known.lag(as_of_ms)
        yield TopicFigures(
            topic=topic,
            queues=len(queues) if anybody else 0,
            unassigned=standing.unassigned[topic],
            lag_messages=None if lag is None else lag.messages,
            lag_ms=None if lag is None else lag.ms,
            lag_at_least=lag is not None and lag.at_least,
        )
