"""Reads groups from the topics, as far back as it takes to say how they stand."""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fairlead.core.allocation import Strategy
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.engine.errors import AppendTimeMissingError
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.core_group import core_group
from fairlead.observed.group_standing import GroupStanding, standing_of
from fairlead.observed.live_group import LiveGroup, UnknownGroupError, live_group
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.planned_group import PlannedGroup
from fairlead.observed.positions import QueuePosition
from fairlead.observed.queue_weights import measured_for_ms, weighed
from fairlead.observed.read_windows import WINDOWS_MS
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.quick_fields import NO_RECORD, body_of, member_of
from fairlead.wire.raw import RawRecord

__all__ = [
    "observe_all",
    "observe_assignments",
    "observe_group",
    "observe_positions",
    "read_live_group",
    "read_standing",
]

_TICKS_BESIDE: Final = 5
"""Heartbeats are read this many ticks beyond lease and margin: a record may come a little late."""
_BESIDE_MS: Final = 60_000
"""A release is looked for from this long before the record that asked for it."""


def observe_group(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
    heard_ms: int = 0,
) -> ObservedGroups:
    """Return everything that the topics tell of one group now.

    Args:
        source: the topics.
        group: its name.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        history_ms: how far back to read decisions.
        heard_ms: how far back to read heartbeats at least; further where a member is in doubt.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    groups = ObservedGroups(
        source.names,
        source.partitions,
        history_ms,
        tick_ms=tick_ms,
        strategies=strategies,
        only=group,
    )
    shard = partition_of_group(group, source.partitions.shards)
    _apply_state(source, groups, [shard])
    newest_ms = source.newest_ms("heartbeats", shard)
    if newest_ms is not None:
        observed = groups.fold(group)
        since_ms = newest_ms - max(_patience_ms(observed), heard_ms)
        groups.apply(_heartbeats(source, [observed], [shard], since_ms, newest_ms, leaves=True))
        asked_ms = [newest_ms - LEASE_MS_MAX, *_asked_ms(observed)]
        groups.apply(source.read("releases", [shard], min(asked_ms)))
    decided_ms = source.newest_ms("decisions", 0)
    if decided_ms is not None:
        _apply_decisions(source, groups, min(source.now_ms(), decided_ms) - history_ms)
    return groups


def observe_all(
    source: TopicSource,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
    heard_ms: int = 0,
) -> ObservedGroups:
    """Return everything that the topics tell of all groups now.

    Args:
        source: the topics.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        history_ms: how far back to read decisions.
        heard_ms: how far back to read heartbeats at least; further where a member is in doubt.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    groups = ObservedGroups(
        source.names, source.partitions, history_ms, tick_ms=tick_ms, strategies=strategies
    )
    shards, now_ms = range(source.partitions.shards), source.now_ms()
    _apply_state(source, groups, shards)
    since_ms = now_ms - max(WINDOWS_MS["heartbeats"] or 0, heard_ms)
    groups.apply(_heartbeats(source, groups.folds(), shards, since_ms, now_ms))
    groups.apply(source.read("releases", shards, max(now_ms - (WINDOWS_MS["releases"] or 0), 0)))
    _apply_decisions(source, groups, now_ms - history_ms)
    return groups


def observe_positions(source: TopicSource, group: str) -> ObservedGroup:
    """Return how far members and operators say that one group is.

    Only what belongs to the identities that routes tell counts. What bridges told is left out:
    whoever asks for positions asks the data cluster itself.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    groups = ObservedGroups(source.names, source.partitions, LEASE_MS_MAX, only=group)
    shard = partition_of_group(group, source.partitions.shards)
    groups.apply(source.read("routes", [0]))
    groups.trust_routes()
    groups.apply(source.read("control", [shard]))
    newest_ms = source.newest_ms("heartbeats", shard)
    since_ms = 0 if newest_ms is None else max(newest_ms - LEASE_MS_MAX, 0)
    for suffix in ("heartbeats", "releases"):
        groups.apply(source.read(suffix, [shard], since_ms))
    return groups.fold(group)


def observe_assignments(source: TopicSource, group: str) -> ObservedGroups:
    """Return the groups that have assignments, and the assignments of one group's members.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    groups = ObservedGroups(source.names, source.partitions, LEASE_MS_MAX, only=group)
    groups.apply(source.read("assignments", range(source.partitions.assignments)))
    return groups


def _apply_state(source: TopicSource, groups: ObservedGroups, shards: Sequence[int]) -> None:
    """Read the topics that are compacted, so that they are read whole."""
    groups.apply(source.read("generations", [0]))
    groups.apply(source.read("control", shards))
    groups.apply(source.read("routes", [0]))
    groups.apply(source.read("offsets", [0]))
    groups.apply(source.read("assignments", range(source.partitions.assignments)))


def _patience_ms(group: ObservedGroup) -> int:
    """Return for how long a silent member may still count."""
    rules = group.rules
    longest_ms = max(rules.lease_ms, rules.restart_grace_ms) + rules.margin_ms
    return longest_ms + _TICKS_BESIDE * group.facts.tick_ms


def _heartbeats(
    source: TopicSource,
    groups: Collection[ObservedGroup],
    shards: Sequence[int],
    since_ms: int,
    newest_ms: int,
    *,
    leaves: bool = False,
) -> list[RawRecord]:
    """Return the heartbeats since a time, and older ones of shards that leave a member in doubt.

    Args:
        source: the topics.
        groups: the groups, with their assignments.
        shards: the partitions to read.
        since_ms: the time.
        newest_ms: when the newest heartbeat was appended, or now.
        leaves: read back to the leave of each member that may be leaving, however old it is.
    """
    rows = _dated(source.read("heartbeats", shards, max(since_ms, 0)))
    silent = _silent_members(groups, rows)
    doubtful: dict[int, int] = {}
    for group in groups:
        shard = partition_of_group(group.name, source.partitions.shards)
        doubts = _in_doubt_since_ms(group, silent, newest_ms, leaves=leaves)
        from_ms = min(doubts, default=since_ms)
        if from_ms < since_ms:
            doubtful[shard] = min(from_ms, doubtful.get(shard, from_ms))
    if not doubtful:
        return rows
    rows = [row for row in rows if row.partition not in doubtful]
    older = source.read("heartbeats", sorted(doubtful), max(min(doubtful.values()), 0))
    return rows + _dated(older)


def _in_doubt_since_ms(
    group: ObservedGroup,
    silent: Collection[tuple[str, MemberKey]],
    newest_ms: int,
    *,
    leaves: bool,
) -> Iterator[int]:
    """Yield from when on heartbeats must be read to be sure of each member."""
    for member, assigned in group.assignments.sets.items():
        if not assigned.entries:
            continue
        if (group.name, member) in silent:
            # It is gone, or it keeps a longer lease than its group's rule.
            yield newest_ms - LEASE_MS_MAX
        if leaves and all(entry.state == "draining" for entry in assigned.entries):
            # It may have written a leave before the engine told it to give everything up.
            yield min(newest_ms, assigned.at_ms) - LEASE_MS_MAX


def _silent_members(
    groups: Iterable[ObservedGroup], rows: Sequence[RawRecord]
) -> set[tuple[str, MemberKey]]:
    """Return the members with queues that none of these records of heartbeats is of."""
    silent = {
        (group.name, member)
        for group in groups
        for member, assigned in group.assignments.sets.items()
        if assigned.entries
    }
    names = {group.encode() for group, _ in silent}
    # Who works has heartbeat lately: in most groups the newest records name everybody.
    for row in reversed(rows):
        if not silent:
            break
        if row.key in names and row.value is not None:
            with contextlib.suppress(*NO_RECORD):
                silent.discard((row.key.decode(), member_of(body_of(row.value))))
    return silent


def _dated(rows: list[RawRecord]) -> list[RawRecord]:
    """Return records of the topic that carries the clock, whose times must be the broker's."""
    for row in rows:
        if not row.append_time_is_log:
            raise AppendTimeMissingError(row.topic)
    return rows


def _asked_ms(group: ObservedGroup) -> Iterator[int]:
    """Yield from when on releases must be read: a set stays as it is after its member released."""
    for assigned in group.assignments.sets.values():
        if any(entry.state != "held" for entry in assigned.entries):
            yield assigned.at_ms - _BESIDE_MS


def _apply_decisions(source: TopicSource, groups: ObservedGroups, since_ms: int) -> None:
    """Read the decisions since a time; all of them where older ones may tell whose the newest are.

    A superseded engine may write last, and what it writes counts for nobody. Only a decision of the
    newer engine shows that, and it may be older than the time asked for.
    """
    groups.apply(source.read("decisions", [0], max(since_ms, 0)))
    if groups.may_hide_newer_engine():
        groups.forget_decisions()
        # From the first record: a shared source that is asked for no time gives what it has.
        groups.apply(source.read("decisions", [0], 0))


def read_live_group(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int = LEASE_MS_MAX,
    heard_ms: int = 0,
    measured: bool = False,
    forgotten: bool = False,
) -> LiveGroup:
    """Return a group as its topics show it now.

    Args:
        source: the topics.
        group: its name.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        history_ms: how far back to read decisions.
        heard_ms: how far back to read heartbeats at least.
        measured: find out what queues weigh although the group's rules do not ask for it.
        forgotten: also return an empty group: one without members, assignments and rules.

    Raises:
        UnknownGroupError: no record is of this group.
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    groups = observe_group(
        source, group, strategies, tick_ms, history_ms=history_ms, heard_ms=heard_ms
    )
    observed, others = groups.fold(group), frozenset(groups.other_groups)
    core = core_group(observed)
    if not forgotten and not (observed.assignments.sets or core.state.members or core.state.rules):
        raise UnknownGroupError(group, others)
    measured_ms, newest_ms = measured_for_ms(core, measured=measured), observed.newest_beat_ms

    def with_weights(planned: PlannedGroup) -> PlannedGroup:
        if not measured_ms or newest_ms is None:
            return planned
        return weighed(planned, source, group, tick_ms, newest_ms - measured_ms)

    return replace(live_group(observed, core, with_weights), measured_ms=measured_ms, others=others)


def read_standing(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
    places: Mapping[MessageQueue, QueuePosition] | None = None,
) -> GroupStanding:
    """Return how a group stands, even if it has no members.

    Args:
        source: the topics.
        group: its name.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        history_ms: how far back to read decisions.
        places: where the data cluster says the group is in its queues.

    Raises:
        UnknownGroupError: no record is of this group.
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    live = read_live_group(
        source,
        group,
        strategies,
        tick_ms,
        history_ms=history_ms,
        heard_ms=LEASE_MS_MAX,
        forgotten=True,
    )
    observed = live.observed
    if not (live.assigned or live.core.state.members or live.core.state.rules) and not (
        places or observed.positions.queues or observed.decided.newest
    ):
        raise UnknownGroupError(observed.name, live.others)
    return standing_of(live, source.now_ms(), history_ms, places or {})
