"""A member's set, joined from its parts as they stand in the assignments topic.

Every reader of that topic joins parts here, whatever it reads of them, so that all of them see the
same sets of a group (docs/protocol.md §2 and §3.12).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from fairlead.core.model import Epoch, MemberKey
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry
from fairlead.wire.limits import PARTS_MAX

__all__ = ["ReadParts", "ToldSet", "member_part"]

_NOTICE: Final = "notice"


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


@dataclass(slots=True)
class ReadParts:
    """The parts of one group's sets, in the order in which the topic has them.

    The topic is compacted, and its newest record of a key counts, except one of an engine that was
    superseded: members pass over those, and so does who reads what members were told. A member's
    records stand in one partition, so their order tells which engine is older.
    """

    _parts: dict[MemberKey, dict[int, AssignmentPart]] = field(default_factory=dict)

    def put(self, part: AssignmentPart) -> bool:
        """Put a part in place; False: a newer engine has told this member something already."""
        known = self._parts.get(part.member, {})
        if any(part.generation < each.generation for each in known.values()):
            return False
        self._parts.setdefault(part.member, {})[part.part] = part
        return True

    def remove(self, member: MemberKey, number: int) -> bool:
        """Take out a part whose key has a null value; False: it was not there."""
        parts = self._parts.get(member, {})
        removed = parts.pop(number, None) is not None
        if removed and not parts:
            del self._parts[member]
        return removed

    def set_of(self, member: MemberKey) -> ToldSet | None:
        """Return what a member was told to hold; None: nothing, or its first part is missing."""
        parts = self._parts.get(member, {})
        return _joined(parts) if 0 in parts else None

    def sets(self) -> dict[MemberKey, ToldSet]:
        """Return the set of each member, by the order of their keys."""
        found = {member: self.set_of(member) for member in sorted(self._parts)}
        return {member: told for member, told in found.items() if told is not None}


def member_part(key: bytes) -> tuple[str, MemberKey, int | None]:
    """Return the group, the member and the part that a key names; None in place of a part: notice.

    Raises:
        ValueError, TypeError: it is no such key.
    """
    group, client_id, incarnation, part = orjson.loads(key)
    if not all(type(text) is str for text in (group, client_id, incarnation)):
        raise ValueError("no key of a member")
    if part == _NOTICE:
        return group, MemberKey(client_id, incarnation), None
    if type(part) is not int or not 0 <= part < PARTS_MAX:
        raise ValueError("no number of a part")
    return group, MemberKey(client_id, incarnation), part


def _joined(parts: Mapping[int, AssignmentPart]) -> ToldSet:
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
