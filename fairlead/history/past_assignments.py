"""What each member of a group had been assigned at a moment, made again from the ribbon.

The topic of assignments keeps only the newest set of a member. The decisions tell every grant, so
the sets of the past are made of those; whose incarnation a client id was, its heartbeats tell.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from fairlead.core.model import Epoch, MemberKey
from fairlead.history.ribbon import Ribbon, RibbonRow, RibbonSpan
from fairlead.wire.quick_fields import NO_RECORD, body_of, member_of
from fairlead.wire.raw import RawRecord

__all__ = ["PastMembers", "assignments_at"]

_UNHEARD: Final = "unknown"
"""The incarnation of a client that no heartbeat tells of."""


@dataclass(slots=True)
class PastMembers:
    """Which incarnations each client id had, by the heartbeats up to a moment."""

    _first_ms: dict[MemberKey, int] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[RawRecord], group: str) -> "PastMembers":
        """Return those of a group; ``rows``: of its partition of heartbeats, in order."""
        members, key = cls(), group.encode()
        for row in rows:
            if row.key != key or row.value is None:
                continue
            try:
                member = member_of(body_of(row.value))
            except NO_RECORD:
                continue
            members._first_ms.setdefault(member, row.append_ms)
        return members

    def member(self, client_id: str, given_ms: int | None) -> MemberKey:
        """Return whom a client id named when it was given a queue; None: long ago."""
        heard = sorted(
            (first_ms, member)
            for member, first_ms in self._first_ms.items()
            if member.client_id == client_id
        )
        if not heard:
            return MemberKey(client_id, _UNHEARD)
        then = [member for first_ms, member in heard if given_ms and first_ms <= given_ms]
        return then[-1] if then else heard[0][1]


@dataclass(slots=True)
class _Set:
    epoch: Epoch
    at_ms: int
    entries: list[dict[str, Any]] = field(default_factory=list)

    def grow(self, epoch: Epoch, at_ms: int) -> None:
        self.epoch, self.at_ms = max(self.epoch, epoch), max(self.at_ms, at_ms)


def assignments_at(
    ribbon: Ribbon, placed: Iterable[str], members: PastMembers, at_ms: int, topic: str
) -> list[RawRecord]:
    """Return the assignment records of a group as they were at a moment.

    Args:
        ribbon: all of its ribbon, as it is known now.
        placed: the clients that took part in its newest decision of that time.
        members: who the clients were.
        at_ms: the moment.
        topic: the name of the topic of assignments.
    """
    marks = [each for each in ribbon.marks if each.append_ms <= at_ms]
    epoch_at = {each.append_ms: each.epoch for each in marks}
    epoch = max((each.epoch for each in marks), default=None)
    sets: dict[MemberKey, _Set] = {}
    for client_id in placed if marks else ():
        # Who takes part and has no queue has been told so, at the latest when something changed.
        member = members.member(client_id, marks[-1].append_ms)
        sets[member] = _Set(marks[0].epoch, marks[0].append_ms)
    for row in ribbon.rows:
        for member, span, entry in _entries(row, epoch, members, at_ms):
            sets.setdefault(member, _Set(span.epoch, span.given_ms or 0)).entries.append(entry)
    for span in (each for row in ribbon.rows for each in row.spans):
        told = sets.get(members.member(span.client_id, span.given_ms))
        if told is None or (span.given_ms or 0) > at_ms:
            continue
        told.grow(span.epoch if _is_there(span, epoch, at_ms) else told.epoch, span.given_ms or 0)
        if span.asked_ms is not None and span.asked_ms <= at_ms:
            told.grow(epoch_at.get(span.asked_ms, told.epoch), span.asked_ms)
    return [
        _record(ribbon.group, member, each, topic, offset)
        for offset, (member, each) in enumerate(sorted(sets.items()))
    ]


def _entries(
    row: RibbonRow, epoch: Epoch | None, members: PastMembers, at_ms: int
) -> Iterator[tuple[MemberKey, RibbonSpan, dict[str, Any]]]:
    """Yield the entries of a queue in its members' sets."""
    older: list[dict[str, Any]] = []
    for span in row.spans:
        if not _is_there(span, epoch, at_ms):
            continue
        member = members.member(span.client_id, span.given_ms)
        then = span.at(at_ms)
        assert then is not None, "it is there"
        asked, gated = then.asked_ms is not None, not then.began
        state = "draining" if asked else "gated" if gated else "held"
        entry = {"queue": [*row.queue], "epoch": [*span.epoch], "state": state}
        if state == "gated":
            entry["after"] = older[::-1]
        yield member, span, entry
        older.append({**_named(member), "epoch": [*span.epoch]})


def _is_there(span: RibbonSpan, epoch: Epoch | None, at_ms: int) -> bool:
    """Tell whether a grant was there at a moment, and not over."""
    if span.ends_ms is not None and span.ends_ms <= at_ms:
        return False
    if span.given_ms is not None:
        return span.given_ms <= at_ms
    # It is older than what is remembered; its epoch says whether it was there already.
    return epoch is not None and span.epoch <= epoch


def _named(member: MemberKey) -> Mapping[str, str]:
    return {"client_id": member.client_id, "incarnation": member.incarnation}


def _record(group: str, member: MemberKey, told: _Set, topic: str, offset: int) -> RawRecord:
    body = {
        "v": 1,
        "kind": "assignment",
        "group": group,
        **_named(member),
        "generation": max(told.epoch.generation, 1),
        "epoch": [*told.epoch],
        "part": 0,
        "parts": 1,
        "assigned": told.entries,
        "at_ms": told.at_ms,
    }
    key = orjson.dumps([group, member.client_id, member.incarnation, 0])
    value = orjson.dumps(body)
    return RawRecord(topic, 0, offset, told.at_ms, append_time_is_log=True, key=key, value=value)
