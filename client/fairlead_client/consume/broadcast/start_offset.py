"""Where a member of a broadcasting group begins to read a queue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a queue holds.

    Attributes:
        least: the first offset kept.
        end: the next one to be written, looked up before `for_time`.
        for_time: the first whose message is not older than the group's timestamp; None: there is
            no such message, or no timestamp.
    """

    least: int
    end: int
    for_time: int | None = None


def start_offset(bounds: Bounds, stored: int | None, consume_from: str, *, late: bool) -> int:
    """Return the next offset to read.

    Source: RebalancePushImpl#computePullFromWhere over LocalFileOffsetStore. What differs: a stored
    offset that the queue no longer has is the next one it has, not a pull that fails; and a queue
    that came to a topic which this member reads already begins at its beginning, where RocketMQ's
    members skip what was written before they saw it.

    Args:
        bounds: what the queue holds.
        stored: the member's own offset in this life of the topic.
        consume_from: `first_offset`, `last_offset` or `timestamp`.
        late: whether the queue came after the member first read the topic.
    """
    if stored is not None:
        return min(max(stored, bounds.least), max(bounds.end, bounds.least))
    if late or consume_from == "first_offset":
        return bounds.least
    if consume_from == "timestamp" and bounds.for_time is not None:
        return bounds.for_time
    return bounds.end
