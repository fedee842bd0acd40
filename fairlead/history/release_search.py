"""Finds the record by which a holder released a queue."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.records import Release
from fairlead.history.grant_history import GrantSpan
from fairlead.history.history_model import FoundRelease
from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["GrantName", "ReleaseSearch", "name_of"]

GrantName = tuple[MessageQueue, Epoch, str]
"""What names a grant: its queue, its epoch and its client."""

_RELEASES_MAX: Final = 20_000
"""Look for a release in this many records of releases behind a drop."""
_BESIDE_MS: Final = 60_000
"""A release may have been appended this long before the decision that asked for it was written."""

_Found = Mapping[RecordPlace, RawRecord | WhyMissing]


@dataclass(slots=True)
class ReleaseSearch:
    """The releases of one group.

    ``source``: the topics; ``shard``: the group's partition of releases.
    """

    source: TopicSource
    shard: int
    _undecided: dict[int | None, list[RawRecord]] = field(default_factory=dict)

    def places(self, grant: GrantSpan) -> Iterator[RecordPlace]:
        """Yield the places where the release must stand that the engine has read."""
        first, last = grant.taken_by, grant.ended
        topic = self.source.names.name("releases")
        if first is None or last is None:
            return
        begin = first.cut.begin.get(topic, {}).get(self.shard, 0)
        end = last.cut.positions.get(topic, {}).get(self.shard, 0)
        for offset in range(max(begin, end - _RELEASES_MAX), end):
            yield topic, self.shard, offset

    def released(self, grant: GrantSpan, found: _Found) -> FoundRelease | None:
        """Return the release of a grant.

        Args:
            grant: the grant.
            found: what stands at `places`.
        """
        rows: Iterable[RawRecord | WhyMissing] = (found[place] for place in self.places(grant))
        if grant.ended is None and grant.share is None:
            # No engine has decided on it yet: clients act on releases by themselves.
            rows = self._undecided_rows(grant)
        for row in rows:
            told = None if isinstance(row, str) else self._told(row)
            if told is not None and told[0] == name_of(grant):
                return told[1]
        return None

    def all_released(
        self, places: Iterable[RecordPlace], found: _Found
    ) -> dict[GrantName, FoundRelease]:
        """Return the releases at some places, each by the grant that it ended."""
        rows = (found[place] for place in places)
        told = (self._told(row) for row in rows if not isinstance(row, str))
        releases: dict[GrantName, FoundRelease] = {}
        for each in told:
            if each is not None:
                # A client repeats a release until it is confirmed: the first one counts.
                releases.setdefault(*each)
        return releases

    def _told(self, row: RawRecord) -> tuple[GrantName, FoundRelease] | None:
        """Return which grant a record releases; None: none."""
        try:
            record = decode("releases", row, WireLimits(self.source.partitions.shards))
        except WireError:
            return None
        if not isinstance(record, Release):
            return None
        client_id = record.member.client_id
        offset = None if record.position is None else record.position.offset
        place = (row.topic, row.partition, row.offset)
        found = FoundRelease(place, row.append_ms, client_id, offset)
        return (record.queue, record.epoch, client_id), found

    def _undecided_rows(self, grant: GrantSpan) -> list[RawRecord]:
        last = grant.dropped or grant.granted or grant.given
        since_ms = None if last is None else max(last.written_ms - _BESIDE_MS, 0)
        if since_ms not in self._undecided:
            rows = self.source.read("releases", [self.shard], since_ms)
            self._undecided[since_ms] = rows
        return self._undecided[since_ms]


def name_of(grant: GrantSpan) -> GrantName:
    """Return what names a grant."""
    return grant.queue, grant.epoch, grant.client_id
