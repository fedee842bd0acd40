"""Outputs with the longest names that the protocol allows."""

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.outputs import (
    Cause,
    Cut,
    Decision,
    Failure,
    GroupSummary,
    Move,
)
from fairlead.wire.limits import INT64_MAX

LONGEST = MemberKey("c" * 255, "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")


EPOCH = Epoch(INT64_MAX, INT64_MAX)


START = Position(INT64_MAX, INT64_MAX)


RULE = Cause(
    "weights_changed",
    at=Source("fairlead.control", 2**31 - 1, INT64_MAX, 0),
    queue=MessageQueue("t" * 249, "b" * 249, 2**31 - 1),
    rule="weight",
    by="𝄞" * 255,
    because="𝄞" * 255,
)
"""The longest cause."""


def longest_queues(count: int) -> list[MessageQueue]:
    """Return so many queues of the longest names."""
    return [MessageQueue("t" * 249, "b" * 249, number) for number in range(count)]


def decision_of_the_longest_names(count: int) -> Decision:
    """Return a decision with so many causes, members, moves and failures."""
    return Decision(
        group="g" * 120,
        epoch=EPOCH,
        previous_epoch=EPOCH,
        triggers=("client_joined",),
        cause=(RULE,) * count,
        strategy="s" * 120,
        members=tuple(f"{number:0255}" for number in range(count)),
        moves=tuple(
            Move(queue, "resolved", LONGEST, EPOCH, START, "first_offset")
            for queue in longest_queues(count)
        ),
        state=GroupSummary("waiting_for_offsets", count, count, count, count),
        failures=tuple(Failure(f"{number:0249}", "c" * 64, "消" * 1000) for number in range(count)),
        alarms=("allocation_failed", "barrier_mute"),
        clock_ms=INT64_MAX,
        at_ms=9_999_999_999_999,
        cut=Cut(3, 0, 17, {"fairlead.heartbeats": {10: 1, 9: 2}}),
    )
