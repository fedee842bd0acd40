"""The rows that wait for a group in quarantine.

A newer record replaces an older one of the same subject: of a member's heartbeats the newest is
enough (and the newest that asks for a decision), of a topic's routes the newest, and so on. So the
size of the group bounds the rows, and a cap bounds them for good. Above the cap the oldest of the
cheapest kind go first: their sender repeats them anyway.
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
from fairlead.core.standby_records import Former, MembersLook
from fairlead.engine.parsed_row import ParsedRow

__all__ = ["HELD_ROWS_MAX", "Held", "hold"]

HELD_ROWS_MAX = 2_000
"""At most so many rows wait for one group."""

_REPEATED_FIRST = (
    Progress,
    Heartbeat,
    MembersLook,
    TopicAbsent,
    OffsetsKnown,
    RouteChanged,
    Leave,
    Former,
    Claims,
    Release,
    Reset,
    RuleSet,
)
"""Kinds of records, cheapest loss first."""


class Held(NamedTuple):
    """The rows that must wait, in their order.

    ``superseded``: newer ones have replaced so many; ``given_up``: so many stood above the cap.
    """

    lines: list[ParsedRow]
    superseded: int
    given_up: int


def hold(lines: Sequence[ParsedRow]) -> Held:
    """Return the rows that must wait; ``lines`` stand in the order of reading."""
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
    """Return the subject of a record: a newer record of the same subject replaces it."""
    match record:
        case Heartbeat() | Leave():
            # A heartbeat without the wish for a decision does not take an earlier wish back.
            return (type(record), record.member, isinstance(record, Heartbeat) and record.decide)
        case Progress():
            return (Progress, record.member, tuple(entry[:2] for entry in _grants(record)))
        case Claims() | Former():
            of = record.generation if isinstance(record, Claims) else record.epoch
            return (type(record), record.member, of, record.part, record.parts)
        case Release():
            never = record.position is None
            return (Release, record.member, record.queue, record.epoch, never)
        case RuleSet():
            return (RuleSet, record.rule, record.subject)
        case Reset():
            return (Reset, record.queue)
        case RouteChanged():
            return (RouteChanged, record.topic)
        case TopicAbsent() | OffsetsKnown() | MembersLook():
            return (type(record), _told(record))


def _told(record: TopicAbsent | OffsetsKnown | MembersLook) -> Hashable:
    if isinstance(record, MembersLook):
        return record.cluster
    return record.topic, _of_topic(record)


def _of_topic(record: TopicAbsent | OffsetsKnown) -> Hashable:
    if isinstance(record, TopicAbsent):
        return record.cluster
    return tuple(entry.queue for entry in record.queues)


def _grants(record: Progress) -> list[tuple[Hashable, Hashable]]:
    return [(entry.queue, entry.epoch) for entry in record.queues]
