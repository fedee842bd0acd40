"""Reads what the topics hold of one group, as far back as is needed to say how it stands."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from fairlead.core.allocation import Strategy
from fairlead.engine.errors import AppendTimeMissingError
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.sources.decision_log import hides_newer
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.quick_decisions import read_part
from fairlead.wire.quick_fields import NO_RECORD
from fairlead.wire.raw import RawRecord

__all__ = ["observe_group"]

_BESIDE_MS: Final = 60_000
"""A release is looked for from so long before the record that asked for it."""


def observe_group(
    source: TopicSource,
    group: str,
    strategies: Mapping[str, Strategy],
    tick_ms: int,
    *,
    history_ms: int,
) -> ObservedGroups:
    """Return everything that is known of one group now.

    Args:
        source: the topics.
        group: its name.
        strategies: those that the engine has.
        tick_ms: the period of the engine's ticks.
        history_ms: decisions are read from so long ago.

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
    found.take(source.read("generations", [0]))
    found.take(source.read("control", [shard]))
    found.take(source.read("routes", [0]))
    found.take(source.read("offsets", [0]))
    found.take(source.read("assignments", range(source.partitions.assignments)))
    newest_ms = source.newest_ms("heartbeats", shard)
    if newest_ms is not None:
        since_ms = min([newest_ms, *_left_ms(found, group)]) - LEASE_MS_MAX
        found.take(_dated(source.read("heartbeats", [shard], since_ms)))
        found.take(source.read("releases", [shard], min([since_ms, *_asked_ms(found, group)])))
    _read_decisions(source, found, group, history_ms)
    return found


def _left_ms(found: ObservedGroups, group: str) -> Iterator[int]:
    """Yield when members were told to give everything up: before that each may have left."""
    for told in found.fold(group).told.sets.values():
        if told.entries and all(entry.state == "draining" for entry in told.entries):
            yield told.at_ms


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
    found.take(decisions)


def _generations(rows: Iterable[RawRecord], group: str) -> Iterator[int]:
    """Yield which engines wrote these decisions of a group."""
    key = group.encode()
    for row in rows:
        if row.key == key and row.value is not None:
            with contextlib.suppress(*NO_RECORD):
                yield read_part(row)[1].cut.generation
