"""Where a queue starts of which the engine knows no position.

Decides the first base only: what a release or progress told stands in the queue's state and goes
first. The order is rule H8 of docs/handover.md: committed in the data plane, else the group's
consume-from rule on known bounds; the names are RocketMQ's ConsumeFromWhere. Unknown bounds never
become 0: the queue stays pending.
"""

from fairlead.core.model import NOTHING, MemberProfile, Position
from fairlead.core.records import QueueOffsets
from fairlead.core.state import QueueState

__all__ = ["first_base"]


def first_base(
    queue: QueueState, known: QueueOffsets, profile: MemberProfile
) -> tuple[Position, str] | None:
    """Return (position, why) from which a queue without a base starts.

    None: not known yet, ask again.

    A topic that was made anew starts at its minimum, whatever was committed in its former life. A
    committed position is brought inside the bounds. A queue that appeared after its group starts at
    its minimum, else its first messages are lost.
    """
    if queue.void != NOTHING:
        return Position(0, known.min_offset), "minimum"
    if known.committed is not None:
        inside = min(max(known.committed.offset, known.min_offset), known.max_offset)
        return Position(known.committed.reset, inside), "committed"
    if queue.late:
        return Position(0, known.min_offset), "minimum"
    if profile.consume_from == "first_offset":
        return Position(0, known.min_offset), "first_offset"
    if profile.consume_from == "timestamp":
        if known.for_time is None or known.for_time[0] != profile.consume_timestamp_ms:
            return None
        return Position(0, known.for_time[1]), "timestamp"
    return Position(0, known.max_offset), "last_offset"
