"""What the engine told the members of a group: the sets in their newest assignment records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry, read_assignment
from fairlead.wire.errors import WireError
from fairlead.wire.limits import PARTS_MAX
from fairlead.wire.raw import RawRecord

__all__ = [
    "ReadParts",
    "Sets",
    "ToldSet",
    "holders_before",
    "member_part",
    "newest_entries",
    "read_sets",
]

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


@dataclass(frozen=True, slots=True)
class Sets:
    """The sets of one group's members, and the names of all groups that have any."""

    told: Mapping[MemberKey, ToldSet]
    groups: frozenset[str]


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


def read_sets(rows: Iterable[RawRecord], group: str) -> Sets:
    """Return what stands in the assignments topic for a group; rows in order within a partition."""
    parts, alive = ReadParts(), dict[bytes, str]()
    for row in rows:
        try:
            of_group, member, number = member_part(row.key or b"")
        except (ValueError, TypeError):
            continue
        assert row.key is not None
        if row.value is None:
            alive.pop(row.key, None)
        else:
            alive[row.key] = of_group
        if of_group != group or number is None:
            continue
        if row.value is None:
            parts.remove(member, number)
            continue
        part = _part(row.value)
        if part is not None:
            parts.put(part)
    return Sets(parts.sets(), frozenset(alive.values()) - {""})


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


def _part(value: bytes) -> AssignmentPart | None:
    try:
        return read_assignment(value)
    except WireError:
        # Nobody but the engine may write here; what a client would pass over is passed over.
        return None


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
