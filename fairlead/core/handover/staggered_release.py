"""Staggers the releases of one decision so that members stop one after another.

All members read a decision in the same moment. If all stopped, released and started at once, each
would wait for the others' processor time, connections and broker, and a queue would stand still for
as long as the whole group takes. So they take turns, and work on until their own (rule H29).
"""

from collections.abc import Iterable

from fairlead.core.model import MemberKey

__all__ = ["TURNS_MS_MAX", "turns_of"]

TURNS_MS_MAX = 100
"""The last member stops no later than this; in large groups several members share a turn."""


def turns_of(members: Iterable[MemberKey], turn_ms: int) -> dict[MemberKey, int]:
    """Return how long each member lingers before it stops, in milliseconds; the first does not.

    Args:
        members: those that hand queues over in one decision; the order does not matter.
        turn_ms: the time from one member's turn to the next one's.
    """
    sorted_members = sorted(set(members))
    last = max(len(sorted_members) - 1, 1)
    span_ms = min(last * turn_ms, TURNS_MS_MAX)
    return {member: index * span_ms // last for index, member in enumerate(sorted_members)}
