"""What the engine told the members of one group, as the assignments topic has it.

The topic is compacted: the newest record of a key counts, and a null value means that the member is
gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.core.membership.member_disagreement import SUBSCRIPTION_DISAGREEMENT
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.publishing.digest import digest
from fairlead.core.publishing.waiting import WAITING
from fairlead.wire.assignment_records import AssignmentPart, HeldEntry
from fairlead.wire.assignment_sets import IssuedSet, IssuedSets
from fairlead.wire.quick_fields import member_of

__all__ = ["GroupAssignments"]


@dataclass(slots=True)
class GroupAssignments:
    """The assignments of one group's members.

    Attributes:
        sets: member -> what it has to hold, joined from all parts that were read.
        digests: member -> the digest that its heartbeats have once everything it waits for has
            come and it has given up everything it has to.
        odd: members with a notice that their group uses another value than their own.
        waiting: members with a notice that they wait, and for what, in the engine's words.
    """

    sets: dict[MemberKey, IssuedSet] = field(default_factory=dict)
    digests: dict[MemberKey, int] = field(default_factory=dict)
    odd: set[MemberKey] = field(default_factory=set)
    waiting: dict[MemberKey, str] = field(default_factory=dict)
    _parts: IssuedSets = field(default_factory=IssuedSets)

    def put(self, part: AssignmentPart) -> None:
        """Add the newest record of a key."""
        if self._parts.put(part):
            self._join(part.member)

    def remove(self, member: MemberKey, part: int) -> None:
        """Remove the part whose key has a null value."""
        if self._parts.remove(member, part):
            self._join(member)

    def take_notice(self, body: Mapping[str, Any]) -> None:
        """Note the newest notice to a member.

        Raises:
            ValueError, KeyError, TypeError: it names no member.
        """
        member = member_of(body)
        if body["code"] == SUBSCRIPTION_DISAGREEMENT:
            self.odd.add(member)
        else:
            self.odd.discard(member)
        if body["code"] == WAITING and body.get("reason"):
            self.waiting[member] = str(body["message"])
        else:
            self.waiting.pop(member, None)

    def forget_notice(self, member: MemberKey) -> None:
        """Forget the newest notice to a member: its key has a null value."""
        self.odd.discard(member)
        self.waiting.pop(member, None)

    def _join(self, member: MemberKey) -> None:
        joined = self._parts.set_of(member)
        if joined is None:
            self.sets.pop(member, None)
            self.digests.pop(member, None)
            return
        self.sets[member] = joined
        self.digests[member] = digest(
            (entry.queue, entry.epoch, "held")
            for entry in joined.entries
            if entry.state != "draining"
        )

    def newest(self) -> dict[MessageQueue, tuple[MemberKey, HeldEntry]]:
        """Return per queue its newest grant: where the queue goes to."""
        return {queue: entries[-1] for queue, entries in self.queues().items()}

    def queues(self) -> dict[MessageQueue, list[tuple[MemberKey, HeldEntry]]]:
        """Return every entry of each queue, oldest grant first."""
        entries_of: dict[MessageQueue, list[tuple[MemberKey, HeldEntry]]] = {}
        for member, assigned in self.sets.items():
            for entry in assigned.entries:
                entries_of.setdefault(entry.queue, []).append((member, entry))
        for entries in entries_of.values():
            entries.sort(key=lambda each: (each[1].epoch, each[0]))
        return entries_of
