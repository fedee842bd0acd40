"""The numbers of one group: what a line of a list and the metrics are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.problem_inputs import signs_of
from fairlead.observed.problems import problems_of
from fairlead.observed.standing import Standing
from fairlead.observed.summary import GroupSummary

__all__ = ["HELD_PHASES", "GroupFigures", "TopicFigures", "figures_of"]

HELD_PHASES: Final = (
    "paused", "quarantined", "recovering", "settling",
    "waiting_for_route", "waiting_for_offsets", "waiting_for_clients",
)  # fmt: skip
"""In which a group is not at rest, and may have queues with nobody, for a reason that is known."""


@dataclass(frozen=True, slots=True)
class TopicFigures:
    """One topic of a group.

    Attributes:
        queues: those that its members share.
        unassigned: of these, which nobody holds and nobody is granted.
        lag_messages: over all queues whose lag is known; None: of none is it.
        lag_ms: how long the oldest message has waited; None: of no queue is it known.
        lag_at_least: it may have waited longer: the end is remembered no longer.
    """

    topic: str
    queues: int
    unassigned: int
    lag_messages: int | None
    lag_ms: int | None
    lag_at_least: bool

    def document(self) -> dict[str, str | float | bool | None]:
        """Return it as JSON values."""
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
        summary: the line about it.
        topics: in their order.
        generation: of the newest decision; 0: there is none.
        decided_ms: when the newest decision was appended; None: there is none.
        disagree: members have different values of what they are meant to agree on.
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
        history_ms: so long, before the newest record, its last rebalance is remembered.
        now_ms: up to when silence counts, if beyond records.
    """
    standing, newest = group.standing(), group.decided.newest
    topics = tuple(_topics(group, standing))
    return GroupFigures(
        summary=_summary(group, standing, topics, history_ms, now_ms or 0),
        topics=topics,
        generation=0 if newest is None else newest.epoch.generation,
        decided_ms=None if newest is None else newest.append_ms,
        disagree=bool(standing.roll.disagreements),
    )


def _summary(
    group: ObservedGroup,
    standing: Standing,
    topics: tuple[TopicFigures, ...],
    history_ms: int,
    now_ms: int,
) -> GroupSummary:
    roll, holds, newest = standing.roll, standing.holds, group.decided.newest
    messages = [each.lag_messages for each in topics if each.lag_messages is not None]
    waited = [each for each in topics if each.lag_ms is not None]
    longest = max(waited, key=lambda each: each.lag_ms or 0, default=None)
    lag, now_ms = sum(messages), max(now_ms, group.around.as_of_ms)
    engine = group.around.engine(group.name, group.rules, now_ms)
    return GroupSummary(
        group=group.name,
        phase=standing.phase,
        strategy=group.rules.strategy if newest is None else newest.strategy,
        mode=standing.mode,
        model=roll.model,
        members=len(roll.members),
        members_idle=standing.idle,
        queues=sum(each.queues for each in topics),
        unassigned=sum(each.unassigned for each in topics),
        draining=holds.draining,
        gated=holds.gated,
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
        as_of_ms=group.around.as_of_ms,
        problems=problems_of(signs_of(group, engine, lag)),
        engine=engine,
        release=group.release,
    )


def _topics(group: ObservedGroup, standing: Standing) -> Iterator[TopicFigures]:
    """Yield the figures of each topic that the group shares, by the order of their names."""
    as_of_ms = group.around.as_of_ms
    anybody, release = bool(standing.roll.members), group.release
    # Of a released group only its native consumers' commits tell how far it is.
    told = release is None or group.native_ms > release.written_ms
    for topic, queues in standing.queues.items():
        known = group.measured.behind(topic) if told else None
        lag = None if known is None else known.lag(as_of_ms)
        yield TopicFigures(
            topic=topic,
            queues=len(queues) if anybody else 0,
            unassigned=standing.unassigned[topic],
            lag_messages=None if lag is None else lag.messages,
            lag_ms=None if lag is None else lag.ms,
            lag_at_least=lag is not None and lag.at_least,
        )
