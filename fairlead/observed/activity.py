"""How much each group decided and moved, hour by hour, by the decisions that are remembered."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.observed.group_decisions import GroupDecisions

__all__ = ["BUCKETS", "BUCKET_MS", "GroupActivity", "activity_since", "group_activity"]

BUCKET_MS: Final = 3_600_000
BUCKETS: Final = 24


@dataclass(frozen=True, slots=True)
class GroupActivity:
    """What a group did in each bucket, the oldest first; None: not all of it is remembered.

    ``moved``: queues that decisions gave to other clients. ``decisions``: how many there were.
    """

    moved: list[int | None] = field(default_factory=lambda: [0] * BUCKETS)
    decisions: list[int | None] = field(default_factory=lambda: [0] * BUCKETS)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"moved": self.moved, "decisions": self.decisions}


def activity_since(now_ms: int) -> int:
    """Return when the first bucket begins; the last one, which goes on, began with the hour."""
    return now_ms - now_ms % BUCKET_MS - (BUCKETS - 1) * BUCKET_MS


def group_activity(decided: GroupDecisions, since_ms: int, kept_ms: int) -> GroupActivity:
    """Return what a group did from a time on; ``kept_ms``: since when decisions are remembered."""
    moved, decisions = [0] * BUCKETS, [0] * BUCKETS
    for each in decided.history:
        bucket = (each.append_ms - since_ms) // BUCKET_MS
        if not each.superseded and 0 <= bucket < BUCKETS:
            moved[bucket] += each.queues_moved
            decisions[bucket] += 1
    unknown = min(max(0, -((since_ms - kept_ms) // BUCKET_MS)), BUCKETS)
    if len(decided.history) >= decided.bounds.decisions:
        # Older ones had to go, however young.
        oldest_ms = decided.history[0].append_ms
        unknown = max(unknown, min((oldest_ms - since_ms) // BUCKET_MS + 1, BUCKETS))
    return GroupActivity(_without(moved, unknown), _without(decisions, unknown))


def _without(counts: Iterable[int], unknown: int) -> list[int | None]:
    return [None if place < unknown else count for place, count in enumerate(counts)]
