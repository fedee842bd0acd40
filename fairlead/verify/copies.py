"""What clients told their successors: the copies of releases on the handovers topic.

A client writes each release twice. One that dies in between may have told its successor alone, who
then starts, as it may, behind a release that stands in no other topic.
"""

from dataclasses import dataclass, field
from math import inf

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.recording import RecordingFolder
from fairlead.verify.grant_facts import GrantFacts
from fairlead.wire.raw import RawRecord

__all__ = ["Copies", "read_copies"]


@dataclass(slots=True)
class Copies:
    """The copies that the topic still holds.

    Attributes:
        since_ms: the append time from which on it holds them all.
    """

    since_ms: float = -inf
    _rows: dict[tuple[str, str, MessageQueue, Epoch], RawRecord] = field(default_factory=dict)

    def add(self, row: RawRecord) -> None:
        """Take note of one; what is no release tells nobody anything."""
        try:
            body = orjson.loads(row.value or b"")
            queue, epoch = MessageQueue(*body["queue"]), Epoch(*body["epoch"])
            key = (body["group"], body["client_id"], queue, epoch)
            self._rows.setdefault(key, row)
        except (ValueError, KeyError, TypeError):
            return

    def of(self, group: str, grant: GrantFacts) -> RawRecord | None:
        """Return the copy of a grant's release, or of the answer that it never started."""
        return self._rows.get((group, grant.client_id, grant.queue, grant.epoch))


def read_copies(recording: RecordingFolder) -> Copies:
    """Read the handovers topic. A recording of before it was there has none: nobody was told so.

    Raises:
        RecordingError: the recording is damaged.
    """
    copies = Copies()
    for number, part in sorted(recording.manifest.topics.get("handovers", {}).items()):
        first_ms: float = inf
        for row in recording.rows("handovers", number):
            first_ms = min(first_ms, row.append_ms)
            copies.add(row)
        if part.first > 0:
            copies.since_ms = max(copies.since_ms, first_ms)
    return copies
