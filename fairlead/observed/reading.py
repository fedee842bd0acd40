"""Reads one group from the topics, as far back as is needed to say how it stands."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from fairlead.core.allocation import Strategy
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.engine.errors import AppendTimeMissingError
from fairlead.kafka.decision_log import hides_newer
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
from fairlead.wire.quick_decisions import read_part
from fairlead.wire.quick_fields import NO_RECORD, body_of, member_of
from fairlead.wire.raw import RawRecord

__all__ = ["observe_all", "observe_group", "read_live_group", "read_standing"]

_TICKS_BESIDE: Final = 5
"""So many ticks beside lease and margin are read: a record may come a little late."""
_BESIDE_MS: Final = 60_000
"""A release is looked for from so long before the record that asked for it."""


def observe_group(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
    heard_ms: int = 0,
) -> ObservedGroups:
    """Return everything that is known of one group now.

    Args:
        source: the topics.
        group: its name.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        history_ms: decisions are read from so long ago.
        heard_ms: heartbeats are read from at least so long ago; from longer ago where that may
            tell of a member.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    found = ObservedGroups(
        source.names,
        source.partitions,
        history_ms,
        tick_ms=tick_ms,
        strategies=strategies,
        only=group,
    )
    shard = partition_of_group(group, source.partitions.shards)
    found.apply(source.read("generations", [0]))
    found.apply(source.read("control", [shard]))
    found.apply(source.read("routes", [0]))
    found.apply(source.read("offsets", [0]))
    found.apply(source.read("assignments", range(source.partitions.assignments)))
    newest_ms = source.newest_ms("heartbeats", shard)
    if newest_ms is not None:
        found.apply(_heartbeats(source, found.fold(group), newest_ms, heard_ms))
        asked_ms = [newest_ms - LEASE_MS_MAX, *_asked_ms(found, group)]
        found.apply(source.read("releases", [shard], min(asked_ms)))
    _read_decisions(source, found, group, history_ms)
    return found


def observe_all(
    source: TopicSource,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
    heard_ms: int = 0,
) -> ObservedGroups:
    """Return everything that is known of all groups now.

    Args:
        source: the topics.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        history_ms: decisions are read from so long ago.
        heard_ms: heartbeats are read from at least so long ago.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
        AppendTimeMissingError: a topic that carries the clock has no broker's append time.
    """
    found = ObservedGroups(
        source.names, source.partitions, history_ms, tick_ms=tick_ms, strategies=strategies
    )
    now_ms = source.now_ms()
    for suffix, window_ms in {**WINDOWS_MS, "decisions": history_ms}.items():
        if suffix == "rejects":
            continue
        since_ms = None
        if window_ms is not None:
            longest_ms = max(window_ms, heard_ms) if suffix == "heartbeats" else window_ms
            since_ms = max(now_ms - longest_ms, 0)
        rows = source.read(suffix, source.partitions_of(suffix), since_ms)
        found.apply(_dated(rows) if suffix == "heartbeats" else rows)
    return found


def _heartbeats(
    source: TopicSource, group: ObservedGroup, newest_ms: int, heard_ms: int
) -> list[RawRecord]:
    """Return the heartbeats of the last lease, and older ones where these leave a member open."""
    rules, tick_ms = group.rules, group.facts.tick_ms
    shard = partition_of_group(group.name, source.partitions.shards)
    patience_ms = max(rules.lease_ms, rules.restart_grace_ms) + rules.margin_ms
    since_ms = newest_ms - max(patience_ms + _TICKS_BESIDE * tick_ms, heard_ms)
    rows = _dated(source.read("heartbeats", [shard], since_ms))
    open_since = [since_ms, *_open_since(group, rows, newest_ms)]
    if min(open_since) < since_ms:
        rows = _dated(source.read("heartbeats", [shard], min(open_since)))
    return rows


def _open_since(group: ObservedGroup, rows: list[RawRecord], newest_ms: int) -> Iterator[int]:
    """Yield from when on heartbeats must be read to be sure of a member."""
    heard = set(_heard(rows, group.name))
    for member, told in group.assignments.sets.items():
        if not told.entries:
            continue
        if member not in heard:
            # Silent, or it keeps a longer lease than its group's rule.
            yield newest_ms - LEASE_MS_MAX
        if all(entry.state == "draining" for entry in told.entries):
            # Perhaps because of a leave that it wrote before it was told.
            yield min(newest_ms, told.at_ms) - LEASE_MS_MAX


def _heard(rows: list[RawRecord], group: str) -> Iterator[MemberKey]:
    key = group.encode()
    for row in rows:
        if row.key == key and row.value is not None:
            with contextlib.suppress(*NO_RECORD):
                yield member_of(body_of(row.value))


def _dated(rows: list[RawRecord]) -> list[RawRecord]:
    """Return records of the topic that carries the clock, whose times must be the broker's."""
    for row in rows:
        if not row.append_time_is_log:
            raise AppendTimeMissingError(row.topic)
    return rows


def _asked_ms(found: ObservedGroups, group: str) -> Iterator[int]:
    """Yield from when on releases must be read: members are not told again when they gave up."""
    for told in found.fold(group).told.sets.values():
        if any(entry.state != "held" for entry in told.entries):
            yield told.at_ms - _BESIDE_MS


def _read_decisions(
    source: TopicSource, found: ObservedGroups, group: str, history_ms: int
) -> None:
    """Read the decisions; all of them where only older ones tell whose the newest are."""
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return
    since_ms = min(source.now_ms(), newest_ms) - history_ms
    decisions = source.read("decisions", [0], since_ms)
    generation = max(_generations(decisions, group), default=0)
    if generation and hides_newer(source, generation):
        # From the first record: a shared source that is asked for no time gives what it has.
        decisions = source.read("decisions", [0], 0)
    found.apply(decisions)


def _generations(rows: Iterable[RawRecord], group: str) -> Iterator[int]:
    """Yield which engines wrote these decisions of a group."""
    key = group.encode()
    for row in rows:
        if row.key == key and row.value is not None:
            with contextlib.suppress(*NO_RECORD):
                yield read_part(row)[1].cut.generation


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
    """Return a group as its topics say it is now.

    Args:
        source: the topics.
        group: its name.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        history_ms: decisions are read from so long ago.
        heard_ms: heartbeats are read from at least so long ago.
        measured: find out what queues weigh although the group's rules do not ask for it.
        forgotten: return a group without members, sets and rules too: an empty one.

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
