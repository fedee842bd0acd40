"""The groups of a view by name: who has told of them, and which to forget."""

from collections.abc import Iterable, Mapping
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.observed.bounds import MANY, Bounds
from fairlead.observed.counters import GroupCounters
from fairlead.observed.events import GroupEvents
from fairlead.observed.group_decisions import GroupDecisions
from fairlead.observed.members import Members
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.positions import GroupPositions
from fairlead.observed.releases import Releases
from fairlead.observed.shared_facts import SharedFacts
from fairlead.observed.touched import Touched
from fairlead.observed.unconfirmed import Unconfirmed
from fairlead.wire.partition import partition_of_group
from fairlead.wire.quick_fields import text_of
from fairlead.wire.raw import RawRecord
from fairlead.wire.texts import GROUP

__all__ = ["KnownGroups"]


class KnownGroups:
    """The groups that records tell of.

    Attributes:
        by_name: the groups.
        counters: what has happened to them.
        stirred: groups in which something may be under way.
        touched: groups that records have told of since somebody asked.
    """

    def __init__(self, facts: SharedFacts, bounds: Bounds = MANY) -> None:
        self.by_name: dict[str, ObservedGroup] = {}
        self.counters = GroupCounters()
        self.stirred: set[str] = set()
        self.touched = Touched()
        self._facts, self._bounds = facts, bounds
        self._strangers = Unconfirmed()

    def count_on(self, counters: GroupCounters) -> None:
        """Continue the counts of an earlier view."""
        self.counters = counters
        for group in self.by_name.values():
            group.events.counters = counters

    def confirmed_group(self, name: object, row: RawRecord) -> ObservedGroup:
        """Return a group that an engine, a bridge or an operator tells of.

        Raises:
            ValueError: no group can have this name.
        """
        group = self._there(name, row)
        if not group.confirmed:
            group.confirmed = True
            self._strangers.confirm(group.name)
        return group

    def of_sender(self, body: Mapping[str, Any], row: RawRecord) -> ObservedGroup:
        """Return the group of a client's record, which stands in its group's partition.

        Raises:
            ValueError: it stands elsewhere, or no group can have its name.
        """
        name = text_of(body["group"])
        if partition_of_group(name, self._facts.rules.shards) != row.partition:
            raise ValueError("it stands in another partition than its group's")
        is_new = name not in self.by_name
        group = self._there(name, row)
        for gone in self._strangers.meet_group(name) if is_new else ():
            self.forget(gone)
        return group

    def meet(self, group: ObservedGroup, queues: Iterable[MessageQueue]) -> None:
        """Note queues that a client tells of; forget the oldest if too many are unconfirmed."""
        gone: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            met = self._strangers.meet_queue(group.name, queue, self._is_known)
            for name, other in met:
                gone.setdefault(name, []).append(other)
        for name, others in gone.items():
            if name in self.by_name:
                self.by_name[name].forget_queues(others)
                self.touched.changed.add(name)

    def _is_known(self, name: str, queue: MessageQueue) -> bool:
        group = self.by_name.get(name)
        return group is not None and group.has_by_others(queue)

    def forget(self, name: str) -> None:
        """Forget a group and its counts."""
        self.by_name.pop(name).members.forget_all()
        self.stirred.discard(name)
        self.touched.changed.add(name)
        self._strangers.confirm(name)
        self.counters.forget(name)

    def unknown(self, name: str) -> ObservedGroup:
        """Return an empty group; nothing is known of it yet."""
        return ObservedGroup(
            name,
            self._facts,
            GroupEvents(name, self.counters),
            GroupPositions(self._facts.polled, self._facts.identities),
            decided=GroupDecisions(self._bounds),
            releases=Releases(self._bounds.releases),
            members=Members(self._facts.share),
        )

    def _there(self, name: object, row: RawRecord) -> ObservedGroup:
        """Return a group; create it if it is not there."""
        name_text = text_of(name)
        group = self.by_name.get(name_text)
        if group is None:
            if not GROUP.allows(name_text):
                raise ValueError("no name of a group")
            group = self.by_name[name_text] = self.unknown(name_text)
        group.touched_ms = max(group.touched_ms, row.append_ms)
        return group
