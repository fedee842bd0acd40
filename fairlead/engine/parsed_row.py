"""A decoded row at its place in the log."""

from typing import NamedTuple

from fairlead.codec.quarantine import HeldRow
from fairlead.core.model import MemberKey, Source
from fairlead.core.records import Arrival, GroupRecord
from fairlead.wire.raw import RawRecord

__all__ = ["Beat", "ParsedRow", "raw_of", "source_of"]


class Beat(NamedTuple):
    """A heartbeat as it counts for a lease: its member, and the shard's clock at its record."""

    member: MemberKey
    clock_ms: int


class ParsedRow(NamedTuple):
    """A row and its decoded record."""

    row: HeldRow
    record: GroupRecord

    @property
    def arrival(self) -> Arrival:
        """The record as the core's input."""
        return Arrival(source_of(self.row), self.row.clock_ms, self.record)


def source_of(row: HeldRow) -> Source:
    """Return the place of a row in the log."""
    return Source(row.topic, row.partition, row.offset, row.append_ms)


def raw_of(row: HeldRow) -> RawRecord:
    """Return a held row as it was read."""
    place = row.topic, row.partition, row.offset, row.append_ms
    return RawRecord(*place, append_time_is_log=True, key=row.key, value=row.value)
