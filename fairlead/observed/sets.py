"""What the engine told the members of a group: the sets in their newest assignment records."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry, read_assignment
from fairlead.wire.assignment_sets import IssuedSet, IssuedSets, member_part
from fairlead.wire.errors import WireError
from fairlead.wire.raw import RawRecord

__all__ = [
    "Sets",
    "newest_entries",
    "read_sets",
]


@dataclass(frozen=True, slots=True)
class Sets:
    """The sets of one group's members, and the names of all groups that have any."""

    told: Mapping[MemberKey, IssuedSet]
    groups: frozenset[str]


def read_sets(rows: Iterable[RawRecord], group: str) -> Sets:
    """Return what stands in the assignments topic for a group; rows in order within a partition."""
    parts, alive = IssuedSets(), dict[bytes, str]()
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
    told: Mapping[MemberKey, IssuedSet],
) -> dict[MessageQueue, tuple[MemberKey, HeldEntry]]:
    """Return the newest grant of each queue that anybody was told of: where the queue goes to."""
    found: dict[MessageQueue, tuple[MemberKey, HeldEntry]] = {}
    for member, held in told.items():
        for entry in held.entries:
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
