"""Where a member of a broadcasting group begins to read a queue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a queue.

    Attributes:
        least: the first offset that the queue still has.
        end: the next offset to be written, looked up before `for_time`.
        for_time: the first offset with a message not older than the group's timestamp; None: no
            such message, or no timestamp.
    """

    least: int
    end: int
    for_time: int | None = None


def start_offset(bounds: Bounds, stored: int | None, consume_from: str, *, late: bool) -> int:
    """Return the next offset to read.

    Source: RebalancePushImpl#computePullFromWhere over LocalFileOffsetStore, with two differences.
    A stored offset that the queue no longer has becomes the nearest one, instead of a failed pull.
    A queue added to a topic that this member already reads starts at its beginning; RocketMQ's
    members skip the messages written before they saw the queue.

    Args:
        bounds: the bounds of the queue.
        stored: the member's own offset under this identity of the topic.
        consume_from: `first_offset`, `last_offset` or `timestamp`.
        late: whether the queue was added after the member first read the topic.
    """
    if stored is not None:
        return min(max(stored, bounds.least), max(bounds.end, bounds.least))
    if late or consume_from == "first_offset":
        return bounds.least
    if consume_from == "timestamp" and bounds.for_time is not None:
        return bounds.for_time
    return bounds.end
