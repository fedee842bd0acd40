"""What clients told their successors: the copies of releases on the handovers topic.

A client writes each release twice. One that dies in between may have told its successor alone, who
then starts, as it may, behind a release that stands in no other topic.
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
    """One copy: of which life of its client, in which partition, and when it was appended.

    A time that the writer set is none: clocks of clients are not compared with a broker's.
    """

    incarnation: str
    partition: int
    append_ms: float


@dataclass(slots=True)
class Copies:
    """The copies that the topic still holds.

    Attributes:
        partitions: how many the topic has; 0: it was not recorded.
        since_ms: by partition, the append time from which on it holds all of its copies; a
            partition that was never trimmed has none.
    """

    partitions: int = 0
    since_ms: dict[int, float] = field(default_factory=dict)
    _told: defaultdict[tuple[str, str, MessageQueue, Epoch], list[Copy]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, row: RawRecord) -> None:
        """Take note of one; what is no release tells nobody anything."""
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

    def tell(self, group: str, early: EarlyWork, until_ms: int) -> bool | None:
        """Tell whether who began early could have read a copy by a time; None: nobody knows.

        It reads two partitions, its own and its group's; and no copy is older than the grant that
        was released.
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
        told = self._told.get((group, grant.client_id, grant.queue, grant.epoch), [])
        member = grant.member
        return [copy for copy in told if member is None or copy.incarnation == member.incarnation]


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
