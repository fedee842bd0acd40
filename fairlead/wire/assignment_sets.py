"""Joins the parts of a member's set, as the assignments topic holds them.

Every reader of that topic joins parts here, so that all readers see the same sets of a group
(docs/protocol.md §2 and §3.12).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from fairlead.core.model import Epoch, MemberKey
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry
from fairlead.wire.limits import PARTS_MAX

__all__ = ["IssuedSet", "IssuedSets", "member_part"]

_NOTICE: Final = "notice"


@dataclass(frozen=True, slots=True)
class IssuedSet:
    """The newest set of queues that the engine has issued to one member.

    ``at_ms``: the append time of the newest record behind it. ``complete``: all its parts were
    read; otherwise the engine is still writing, or has died. ``epoch``: its decision's epoch.
    """

    entries: tuple[HeldEntry, ...]
    at_ms: int
    complete: bool
    epoch: Epoch


@dataclass(slots=True)
class IssuedSets:
    """The parts of one group's issued sets, added in the order of the topic.

    The topic is compacted, and the newest record of a key counts, except a record of a superseded
    engine: members ignore those, and so must every other reader. A member's records are in one
    partition, so their order shows which engine is older.
    """

    _parts: dict[MemberKey, dict[int, AssignmentPart]] = field(default_factory=dict)

    def put(self, part: AssignmentPart) -> bool:
        """Add a part; return False if a newer engine has already issued a set to this member."""
        known = self._parts.get(part.member, {})
        if any(part.generation < each.generation for each in known.values()):
            return False
        self._parts.setdefault(part.member, {})[part.part] = part
        return True

    def remove(self, member: MemberKey, number: int) -> bool:
        """Remove a part whose key has a null value; return whether it was there."""
        parts = self._parts.get(member, {})
        removed = parts.pop(number, None) is not None
        if removed and not parts:
            del self._parts[member]
        return removed

    def set_of(self, member: MemberKey) -> IssuedSet | None:
        """Return a member's set; None if there is none or its first part is missing."""
        parts = self._parts.get(member, {})
        return _joined(parts) if 0 in parts else None

    def sets(self) -> dict[MemberKey, IssuedSet]:
        """Return the set of each member, in the order of their keys."""
        sets = {member: self.set_of(member) for member in sorted(self._parts)}
        return {member: issued for member, issued in sets.items() if issued is not None}


def member_part(key: bytes) -> tuple[str, MemberKey, int | None]:
    """Return the group, the member and the part that a key names; the part is None for a notice.

    Raises:
        ValueError, TypeError: the key is invalid.
    """
    group, client_id, incarnation, part = orjson.loads(key)
    if not all(type(text) is str for text in (group, client_id, incarnation)):
        raise ValueError("not a member's key")
    if part == _NOTICE:
        return group, MemberKey(client_id, incarnation), None
    if type(part) is not int or not 0 <= part < PARTS_MAX:
        raise ValueError("not a part number")
    return group, MemberKey(client_id, incarnation), part


def _joined(parts: Mapping[int, AssignmentPart]) -> IssuedSet:
    """Join parts to a set; the first part must be there, and parts of another set are left out."""
    first = parts[0]
    same = [
        part
        # Go through the parts that exist: the number of parts in the record may be anything.
        for number, part in sorted(parts.items())
        if number < first.parts
        and (part.generation, part.epoch, part.parts)
        == (first.generation, first.epoch, first.parts)
    ]
    entries = tuple(entry for part in same for entry in part.assigned)
    return IssuedSet(entries, first.at_ms, len(same) == first.parts, first.epoch)
