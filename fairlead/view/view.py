"""All groups at once: raw records go in, in any order of topics, and come out as groups."""

from collections.abc import Callable, Mapping, Sequence

from fairlead.view.decided import Decision, read_part
from fairlead.view.group_fold import GroupFold
from fairlead.view.group_view import GroupView
from fairlead.view.reading import NO_RECORD
from fairlead.view.summary import GroupSummary
from fairlead.view.told import key_of, part_of
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["View"]


class View:
    """A fold of Fairlead's topics into groups.

    It reads no topic itself, has no clock, and refuses nothing: what is no record is passed over
    and counted. Rows must come in order within each partition; nothing depends on an order between
    partitions or topics.
    """

    def __init__(self, names: TopicNames, partitions: Partitions, history_ms: int) -> None:
        """Begin with nothing.

        Args:
            names: what the topics are called.
            partitions: how many they have.
            history_ms: so long, before the newest record, decisions are remembered.
        """
        self._partitions = partitions
        self._history_ms = history_ms
        self._groups: dict[str, GroupFold] = {}
        readers: Mapping[str, Callable[[RawRecord], None]] = {
            "decisions": self._take_decision,
            "assignments": self._take_assignment,
        }
        self._readers = {names.name(suffix): reader for suffix, reader in readers.items()}
        self.as_of_ms = 0
        """The newest append time that was read; 0: nothing was."""
        self.passed_over = 0
        """How many rows were no record of the protocol."""

    def take(self, rows: Sequence[RawRecord]) -> None:
        """Take in the next rows; those of topics that are not Fairlead's change nothing."""
        for row in rows:
            reader = self._readers.get(row.topic)
            if reader is None:
                continue
            self.as_of_ms = max(self.as_of_ms, row.append_ms)
            try:
                reader(row)
            except NO_RECORD:
                self.passed_over += 1

    def groups(self) -> list[GroupSummary]:
        """Return a line about each group, by name."""
        return [self._groups[name].summary(self.as_of_ms) for name in sorted(self._groups)]

    def group(self, name: str) -> GroupView | None:
        """Return one group in full; None: no record is of it."""
        found = self._groups.get(name)
        if found is None:
            return None
        found.decided.forget_before(self.as_of_ms - self._history_ms)
        return found.view(self.as_of_ms)

    def decisions(self, name: str) -> tuple[Decision, ...] | None:
        """Return what is remembered of a group's decisions, oldest first; None: no such group."""
        found = self._groups.get(name)
        if found is None:
            return None
        found.decided.forget_before(self.as_of_ms - self._history_ms)
        return tuple(found.decided.history)

    def _group(self, name: str) -> GroupFold:
        found = self._groups.get(name)
        if found is None:
            found = self._groups[name] = GroupFold(name)
        return found

    def _take_decision(self, row: RawRecord) -> None:
        if row.value is None:
            return
        name, part = read_part(row)
        group = self._group(name)
        if group.decided.take(name, part) is not None:
            group.changed()

    def _take_assignment(self, row: RawRecord) -> None:
        if row.value is None:
            name, member, number = key_of(row.key or b"")
            if number is not None and name in self._groups:
                self._groups[name].told.remove(member, number)
                self._groups[name].changed()
            return
        part = part_of(row.value)
        if part is not None:
            group = self._group(part.group)
            group.told.take(part)
            group.changed()
