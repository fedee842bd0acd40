"""The copies of releases on the handovers topic, which clients write for their successors.

A client writes each release twice. If it dies in between, only its successor may have the release:
the successor then starts rightly, though the releases topic lacks the record.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.recording import RecordingFolder
from fairlead.verify.grant_facts import EarlyWork, GrantFacts
from fairlead.wire.partition import partition_of_client, partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["Copies", "read_copies"]


class Copy(NamedTuple):
    """One copy: its client's incarnation, its partition, and its append time.

    A time that the client itself set does not count: it is not of a broker's clock.
    """

    incarnation: str
    partition: int
    append_ms: float


@dataclass(slots=True)
class Copies:
    """The copies that the topic still holds.

    Attributes:
        partitions: how many the topic has; 0: it was not recorded.
        since_ms: by partition, the append time of its first copy left; untrimmed partitions have
            none.
    """

    partitions: int = 0
    since_ms: dict[int, float] = field(default_factory=dict)
    _told: defaultdict[tuple[str, str, MessageQueue, Epoch], list[Copy]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, row: RawRecord) -> None:
        """Add a copy; ignore a record that is no release."""
        try:
            body = orjson.loads(row.value or b"")
            if body["kind"] != "release":
                return
            queue, epoch = MessageQueue(*body["queue"]), Epoch(*body["epoch"])
            append_ms = row.append_ms if row.append_time_is_log else -inf
            copy = Copy(body["incarnation"], row.partition, append_ms)
            self._told[body["group"], body["client_id"], queue, epoch].append(copy)
        except (ValueError, KeyError, TypeError):
            return

    def was_readable(self, group: str, early: EarlyWork, until_ms: int) -> bool | None:
        """Tell whether a client that began early could have read a copy by then; None: unknown.

        A client reads two partitions, its own and its group's. A copy is never older than the
        grant that it releases.
        """
        if not self.partitions:
            return None
        read = {
            partition_of_client(group, early.newer.client_id, self.partitions),
            partition_of_group(group, self.partitions),
        }
        if any(
            copy.partition in read and copy.append_ms <= until_ms
            for copy in self._of(group, early.older)
        ):
            return True
        issued_ms = early.older.issued.append_ms
        return None if any(self.since_ms.get(each, -inf) > issued_ms for each in read) else False

    def _of(self, group: str, grant: GrantFacts) -> list[Copy]:
        copies = self._told.get((group, grant.client_id, grant.queue, grant.epoch), [])
        member = grant.member
        return [copy for copy in copies if member is None or copy.incarnation == member.incarnation]


def read_copies(recording: RecordingFolder) -> Copies:
    """Read the handovers topic, if it was recorded.

    Raises:
        RecordingError: the recording is damaged.
    """
    parts = recording.manifest.topics.get("handovers", {})
    copies = Copies(len(parts))
    for number, part in sorted(parts.items()):
        first_ms: float = inf
        for row in recording.rows("handovers", number):
            first_ms = min(first_ms, row.append_ms)
            copies.add(row)
        if not part.whole:
            copies.since_ms[number] = first_ms
    return copies
