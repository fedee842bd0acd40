"""What the engine told the members of a group: the sets in their newest assignment records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry, read_assignment
from fairlead.wire.errors import WireError
from fairlead.wire.raw import RawRecord

__all__ = ["Sets", "ToldSet", "holders_before", "joined_set", "newest_entries", "read_sets"]


@dataclass(frozen=True, slots=True)
class ToldSet:
    """What one member was told to hold.

    ``at_ms``: when the newest record that led to it was appended. ``complete``: every part of it
    was read; if not, it is being written, or its writer died. ``epoch``: that of its decision.
    """

    entries: tuple[HeldEntry, ...]
    at_ms: int
    complete: bool
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class Sets:
    """The sets of one group's members, and the names of all groups that have any."""

    told: Mapping[MemberKey, ToldSet]
    groups: frozenset[str]


def read_sets(rows: Iterable[RawRecord], group: str) -> Sets:
    """Return what stands in the assignments topic for a group; rows in order within a partition."""
    newest: dict[bytes, RawRecord] = {}
    for row in rows:
        if row.key is not None:
            newest[row.key] = row
    groups = set()
    parts: dict[MemberKey, dict[int, AssignmentPart]] = {}
    for key, row in newest.items():
        if row.value is None:
            continue
        groups.add(_group_of(key))
        part = _part(row.value) if _group_of(key) == group else None
        if part is not None:
            parts.setdefault(part.member, {})[part.part] = part
    told = {member: joined_set(found) for member, found in sorted(parts.items()) if 0 in found}
    return Sets(told, frozenset(groups - {""}))


def newest_entries(
    told: Mapping[MemberKey, ToldSet],
) -> dict[MessageQueue, tuple[MemberKey, HeldEntry]]:
    """Return the newest grant of each queue that anybody was told of: where the queue goes to."""
    found: dict[MessageQueue, tuple[MemberKey, HeldEntry]] = {}
    for member, held in told.items():
        for entry in held.entries:
            known = found.get(entry.queue)
            if known is None or known[1].epoch < entry.epoch:
                found[entry.queue] = (member, entry)
    return found


def holders_before(
    told: Mapping[MemberKey, ToldSet],
    newest: Mapping[MessageQueue, tuple[MemberKey, HeldEntry]],
) -> dict[MessageQueue, tuple[MemberKey, HeldEntry]]:
    """Return, of each queue whose newest grant waits for somebody, the grant next to it.

    Of a queue that waits for nobody there is none: what is older has ended, whether or not its
    member's record was written again since.
    """
    found: dict[MessageQueue, tuple[MemberKey, HeldEntry]] = {}
    for member, held in told.items():
        for entry in held.entries:
            granted = newest[entry.queue][1]
            if granted.state != "gated" or entry.epoch >= granted.epoch:
                continue
            known = found.get(entry.queue)
            if known is None or known[1].epoch < entry.epoch:
                found[entry.queue] = (member, entry)
    return found


def _group_of(key: bytes) -> str:
    try:
        parts: Any = orjson.loads(key)
    except orjson.JSONDecodeError:
        return ""
    return parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], str) else ""


def _part(value: bytes) -> AssignmentPart | None:
    try:
        return read_assignment(value)
    except WireError:
        # Nobody but the engine may write here; what a client would pass over is passed over.
        return None


def joined_set(parts: Mapping[int, AssignmentPart]) -> ToldSet:
    """Return the set that these parts are, of which the first must be there.

    Parts of another set than the first are left out.
    """
    first = parts[0]
    same = [
        part
        # By the parts that are there: how many there should be is only what the record says.
        for number, part in sorted(parts.items())
        if number < first.parts
        and (part.generation, part.epoch, part.parts)
        == (first.generation, first.epoch, first.parts)
    ]
    entries = tuple(entry for part in same for entry in part.assigned)
    return ToldSet(entries, first.at_ms, len(same) == first.parts, first.epoch)
