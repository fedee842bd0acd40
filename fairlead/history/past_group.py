"""A group as it stood at a moment in the past (ADR 0205)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fairlead.core.allocation import Strategy
from fairlead.core.records import ALL_GROUPS
from fairlead.counts import listed
from fairlead.history.past_assignments import PastMembers, assignments_at
from fairlead.history.ribbon import Ribbon
from fairlead.kafka.caching_source import CachingSource
from fairlead.kafka.past_source import PastSource
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.reading import read_standing
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["ForgottenMomentError", "PastGroup", "PastQuestion", "read_past"]

_MEMBERS_MS: Final = 120_000
"""Heartbeats of this length show each member whose lease is six minutes or shorter."""
_OF_ROUTES: Final = frozenset(("unassigned",))
"""Problems that a route makes, which nobody knows any more."""


class ForgottenMomentError(LookupError):
    """The topics do not hold a moment any more; ``oldest_ms``: the oldest that they hold."""

    def __init__(self, oldest_ms: int) -> None:
        super().__init__(oldest_ms)
        self.oldest_ms = oldest_ms


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """What somebody asks about: a moment of a group.

    Attributes:
        at_ms: the moment.
        ribbon: all of the group's ribbon, as it is known now.
        placed: the clients that took part in the group's newest decision of that time.
        strategies: the engine's strategies.
        tick_ms: the period of the engine's ticks.
        history_ms: how far before the moment to read decisions.
    """

    at_ms: int
    ribbon: Ribbon
    placed: Sequence[str]
    strategies: Mapping[str, Strategy]
    tick_ms: int
    history_ms: int


@dataclass(frozen=True, slots=True)
class PastGroup:
    """A group as it stood at a moment.

    Attributes:
        standing: how it stood, by what is still known.
        at_ms: the moment.
        unknown: what nobody knows any more -> a sentence on what is shown instead.
    """

    standing: GroupStanding
    at_ms: int
    unknown: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        body = self.standing.to_full_json()
        if "routes" in self.unknown:
            body["problems"] = [each for each in body["problems"] if each not in _OF_ROUTES]
            body["unrouted"] = []
        unknown = [{"what": what, "says": says} for what, says in self.unknown.items()]
        return {**body, "at_ms": self.at_ms, "unknown": unknown}


def read_past(source: TopicSource, asked: PastQuestion) -> PastGroup:
    """Return a group as it stood at a moment; ``source`` reads anew each time.

    Raises:
        ForgottenMomentError: the topics do not hold that moment any more.
        UnknownGroupError: there was no such group then.
        EnvironmentMissingError: a topic cannot be read.
    """
    group, at_ms = asked.ribbon.group, asked.at_ms
    shard = partition_of_group(group, source.partitions.shards)
    _require_kept(source, asked, shard)
    past = PastSource(source, at_ms)
    once = CachingSource(past)
    heard = once.rows("heartbeats", [shard], max(at_ms - LEASE_MS_MAX - _MEMBERS_MS, 0))
    members = PastMembers.of(heard, group)
    topic = source.names.name("assignments")
    past.show("assignments", assignments_at(asked.ribbon, asked.placed, members, at_ms, topic))
    standing = read_standing(
        once, group, asked.strategies, asked.tick_ms, history_ms=asked.history_ms
    )
    return PastGroup(standing, at_ms, dict(_unknown(past, standing)))


def _require_kept(source: TopicSource, asked: PastQuestion, shard: int) -> None:
    """Require that decisions and heartbeats of the moment are kept.

    Raises:
        ForgottenMomentError: they are not.
    """
    kept_ms = asked.ribbon.kept_since_ms
    oldest_ms = 0 if kept_ms is None else kept_ms
    first = _first(source, shard)
    if first is not None and first.offset > 0:
        oldest_ms = max(oldest_ms, first.append_ms + _MEMBERS_MS)
    if asked.at_ms < oldest_ms:
        raise ForgottenMomentError(oldest_ms)


def _first(source: TopicSource, shard: int) -> RawRecord | None:
    rows = iter(source.rows("heartbeats", [shard]))
    return next(rows, None)


def _unknown(past: PastSource, standing: GroupStanding) -> Iterator[tuple[str, str]]:
    """Yield what nobody knows any more, and what that means for what is shown."""
    rules = sorted({*_rules(past.lost.get("control", ()), standing.name)})
    if rules:
        says = (
            f"the rules {listed(rules)} were written again later: what they said then is gone, "
            "and the group is shown without them"
        )
        yield "rules", says
    shared = {*standing.live.observed.live_members().topics}
    lost = {key.decode(errors="replace") for key in past.lost.get("routes", ())}
    if topics := sorted(shared & lost):
        says = (
            f"the routes of {listed(topics)} were written again later: queues are shown as far as "
            "somebody had them"
        )
        yield "routes", says
    if any(each.place.position is None for each in standing.queues):
        yield "positions", "nobody told the positions of some queues in the hours that are kept"
    if any(each.place.end is None for each in standing.queues):
        yield "ends", "where queues ended then, nobody knows any more, and so how far it was behind"


def _rules(keys: Iterator[bytes] | Sequence[bytes] | set[bytes], group: str) -> Iterator[str]:
    for key in keys:
        try:
            name = orjson.loads(key)
        except orjson.JSONDecodeError:
            continue
        if isinstance(name, list) and name[0] in (group, ALL_GROUPS):
            yield " ".join(map(str, name[1:]))
