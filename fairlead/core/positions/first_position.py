"""Where a queue starts if the engine knows no position of it.

Decides the first base only: a released or reported position stands in the queue's state and goes
first. The order is rule H8 of docs/handover.md: committed in the data plane, else the group's
consume-from rule on known bounds; the names are RocketMQ's ConsumeFromWhere. Unknown bounds never
become 0: the queue stays pending.
"""

from typing import Final

from fairlead.core.model import NOTHING, MemberProfile, Position
from fairlead.core.positions.consume_from_where import (
    NOT_STORED,
    Look,
    pull_from_where,
)
from fairlead.core.records import QueueOffsets
from fairlead.core.state import QueueState
from fairlead.core.topics.retry_topic import RETRY_TOPIC_PREFIX

__all__ = ["ROCKETMQ", "first_base"]

ROCKETMQ: Final = "rocketmq"
"""The start policy that is RocketMQ's own."""

_NAMES: Final = {
    "last_offset": "CONSUME_FROM_LAST_OFFSET",
    "first_offset": "CONSUME_FROM_FIRST_OFFSET",
    "timestamp": "CONSUME_FROM_TIMESTAMP",
}
"""What a member says -> RocketMQ's name; the deprecated ones are LAST_OFFSET to a push consumer."""


def first_base(
    queue: QueueState,
    known: QueueOffsets,
    profile: MemberProfile,
    policy: str = "fairlead",
) -> tuple[Position, str] | None:
    """Return (position, why) from which a queue without a base starts; None: ask again.

    - A topic that was created again starts at its minimum, whatever is committed: a commit names no
      identity, and may belong to the former one.
    - A queue that was added to a known identity starts at its commit, unless that lies beyond its
      end: a commit of something else would skip messages.
    - Any other commit counts, brought inside the bounds.
    - A queue that appeared after its group starts at its minimum, or its first messages are lost.
      So does a queue of a retry topic: its messages have failed in this group, and may stand there
      before a bridge looks its offsets up.
    - Under the policy ``rocketmq`` the table of RebalancePushImpl#computePullFromWhere decides
      of every queue except late ones, which a forgotten member may have read.
    """
    if policy == ROCKETMQ and not queue.late:
        return _from_where(known, profile)
    beyond = known.committed is not None and known.committed.offset > known.max_offset
    if queue.void != NOTHING and (beyond or not queue.grown):
        return Position(0, known.min_offset), "minimum"
    if known.committed is not None:
        return _committed(known, known.committed), "committed"
    if queue.late or known.queue.topic.startswith(RETRY_TOPIC_PREFIX):
        return Position(0, known.min_offset), "minimum"
    if profile.consume_from == "first_offset":
        return Position(0, known.min_offset), "first_offset"
    if profile.consume_from == "timestamp":
        return _for_time(known, profile)
    return Position(0, known.max_offset), "last_offset"


def _from_where(known: QueueOffsets, profile: MemberProfile) -> tuple[Position, str] | None:
    """Return where RocketMQ starts, brought inside the bounds as OFFSET_ILLEGAL would bring it.

    What RocketMQ has stored is the group's commit in the data plane. A failed look-up (stored < −1)
    has no entry here, so the engine asks again.
    """
    stored = NOT_STORED if known.committed is None else known.committed.offset
    start = pull_from_where("push", _NAMES[profile.consume_from], stored, known.queue.topic)
    if known.committed is not None:
        return _committed(known, known.committed), "committed"
    if start is Look.SEARCH:
        return _for_time(known, profile)
    if start is Look.MAX:
        return Position(0, known.max_offset), "last_offset"
    why = "first_offset" if profile.consume_from == "first_offset" else "minimum"
    return Position(0, known.min_offset), why


def _committed(known: QueueOffsets, committed: Position) -> Position:
    inside = min(max(committed.offset, known.min_offset), known.max_offset)
    return Position(committed.reset, inside)


def _for_time(known: QueueOffsets, profile: MemberProfile) -> tuple[Position, str] | None:
    if known.for_time is None or known.for_time[0] != profile.consume_timestamp_ms:
        return None
    return Position(0, known.for_time[1]), "timestamp"
