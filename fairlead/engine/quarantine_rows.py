"""The rows that wait for a group in quarantine, and how few of them are enough.

A newer record that says the same thing again replaces the older one: of a member's heartbeats the
newest is enough (and the newest that asks for a decision), of a topic's routes the newest, and so
on. So the rows that wait are bounded by the size of the group; a cap bounds them for good. Above it
the oldest of the least costly kind go first: what its sender repeats anyway.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from fairlead.core.records import (
    Claims,
    GroupRecord,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
    TopicAbsent,
)
from fairlead.engine.parsed_row import Line

__all__ = ["HELD_ROWS_MAX", "Held", "hold"]

HELD_ROWS_MAX = 2_000
"""So many rows wait for one group at most."""

_REPEATED_FIRST = (
    Progress,
    Heartbeat,
    TopicAbsent,
    OffsetsKnown,
    RouteChanged,
    Leave,
    Claims,
    Release,
    Reset,
    RuleSet,
)
"""Kinds of records, from the one that costs least when it is lost to the one that costs most."""


class Held(NamedTuple):
    """The lines that must wait, in their order.

    ``superseded`` lines were replaced by newer ones, ``given_up`` ones stood above the cap.
    """

    lines: list[Line]
    superseded: int
    given_up: int


def hold(lines: Sequence[Line]) -> Held:
    """Choose from lines in the order of reading those that must wait."""
    newest = {_subject(line.record): index for index, line in enumerate(lines)}
    kept = sorted(newest.values())
    excess = len(kept) - HELD_ROWS_MAX
    if excess > 0:
        costs = {kind: cost for cost, kind in enumerate(_REPEATED_FIRST)}
        by_cost = sorted(kept, key=lambda index: (costs[type(lines[index].record)], index))
        kept = sorted(by_cost[excess:])
    given_up = max(excess, 0)
    superseded = len(lines) - len(newest)
    return Held([lines[index] for index in kept], superseded, given_up)


def _subject(record: GroupRecord) -> Hashable:
    """Return what a record speaks of: a newer record with the same subject replaces it."""
    match record:
        case Heartbeat() | Leave():
            # A heartbeat that asks for a decision has asked, whatever its member says later.
            return (type(record), record.member, isinstance(record, Heartbeat) and record.decide)
        case Progress():
            return (Progress, record.member, tuple(entry[:2] for entry in _grants(record)))
        case Claims():
            return (Claims, record.member, record.generation, record.part, record.parts)
        case Release():
            never = record.position is None
            return (Release, record.member, record.queue, record.epoch, never)
        case RuleSet():
            return (RuleSet, record.rule, record.subject)
        case Reset():
            return (Reset, record.queue)
        case RouteChanged():
            return (RouteChanged, record.topic)
        case TopicAbsent() | OffsetsKnown():
            return (type(record), record.topic, _of_topic(record))


def _of_topic(record: TopicAbsent | OffsetsKnown) -> Hashable:
    if isinstance(record, TopicAbsent):
        return record.cluster
    return tuple(entry.queue for entry in record.queues)


def _grants(record: Progress) -> list[tuple[Hashable, Hashable]]:
    return [(entry.queue, entry.epoch) for entry in record.queues]
