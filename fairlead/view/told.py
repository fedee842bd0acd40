"""What the engine told the members of one group, as it stands in the assignments topic.

The topic is compacted: the newest record of a key counts, and a null value means that the member is
gone.
"""

from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson

from fairlead.core.digest import digest
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.planning.sets import ToldSet, joined_set
from fairlead.view.reading import (
    epoch_of,
    integer_of,
    member_of,
    queue_of,
    text_of,
)
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry

__all__ = ["Told", "key_of", "part_of"]

_STATES: Final = ("held", "draining", "gated")
_NOTICE: Final = "notice"


def key_of(key: bytes) -> tuple[str, MemberKey, int | None]:
    """Return the group, the member and the part that a key names; None in place of a part: notice.

    Raises:
        ValueError, TypeError: it is no such key.
    """
    group, client_id, incarnation, part = orjson.loads(key)
    number = None if part == _NOTICE else integer_of(part)
    return text_of(group), MemberKey(text_of(client_id), text_of(incarnation)), number


def part_of(body: dict[str, Any]) -> AssignmentPart:
    """Return one part of a member's set.

    Raises:
        ValueError, KeyError, TypeError, IndexError, AttributeError: it is no assignment.
    """
    return AssignmentPart(
        group=text_of(body["group"]),
        member=member_of(body),
        generation=integer_of(body["generation"]),
        epoch=epoch_of(body["epoch"]),
        part=integer_of(body["part"]),
        parts=integer_of(body["parts"]),
        assigned=tuple(_entry(entry) for entry in body["assigned"]),
        at_ms=integer_of(body["at_ms"]),
    )


def _entry(entry: dict[str, Any]) -> HeldEntry:
    state = entry["state"]
    if state not in _STATES:
        raise ValueError("no state of an entry")
    return HeldEntry(queue_of(entry["queue"]), epoch_of(entry["epoch"]), cast("Any", state))


@dataclass(slots=True)
class Told:
    """The sets of one group's members.

    Attributes:
        sets: member -> what it was told to hold, with all parts that were read.
        digests: member -> the digest of its set when everything that it waits for has come, and
            everything that it gives up has gone.
    """

    sets: dict[MemberKey, ToldSet] = field(default_factory=dict)
    digests: dict[MemberKey, int] = field(default_factory=dict)
    _parts: dict[MemberKey, dict[int, AssignmentPart]] = field(default_factory=dict)

    def take(self, part: AssignmentPart) -> None:
        """Put the newest record of a key in place.

        What an engine writes that was superseded is passed over, as the member does. That is told
        by the records of this member alone: only they stand in one partition, in order.
        """
        known = self._parts.get(part.member, {})
        if any(part.generation < each.generation for each in known.values()):
            return
        self._parts.setdefault(part.member, {})[part.part] = part
        self._join(part.member)

    def remove(self, member: MemberKey, part: int) -> None:
        """Take in that a key has a null value."""
        parts = self._parts.get(member, {})
        if parts.pop(part, None) is not None:
            self._join(member)

    def _join(self, member: MemberKey) -> None:
        parts = self._parts[member]
        if 0 not in parts:
            self.sets.pop(member, None)
            self.digests.pop(member, None)
            if not parts:
                del self._parts[member]
            return
        told = joined_set(parts)
        self.sets[member] = told
        self.digests[member] = digest(
            (entry.queue, entry.epoch, "held")
            for entry in told.entries
            if entry.state != "draining"
        )

    def queues(self) -> dict[MessageQueue, list[tuple[MemberKey, HeldEntry]]]:
        """Return per queue every entry of it, oldest grant first."""
        found: dict[MessageQueue, list[tuple[MemberKey, HeldEntry]]] = {}
        for member, told in self.sets.items():
            for entry in told.entries:
                found.setdefault(entry.queue, []).append((member, entry))
        for entries in found.values():
            entries.sort(key=lambda each: (each[1].epoch, each[0]))
        return found
