"""Whether the view is ready, by how far the topics were read.

A view that is behind says so and still answers: at night an old answer is better than none, as long
as it says how old it is.
"""

from dataclasses import dataclass
from typing import Any, Final

from fairlead.kafka.topic_follower import Following

__all__ = ["BEHIND_MAX", "Readiness", "readiness_of"]

BEHIND_MAX: Final = 50_000
"""A view that is further behind is not ready: it shows what was so seconds ago or longer."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The answer of ``/readyz``: whether the view is ready, and why not, in words."""

    ready: bool
    reason: str
    behind: int
    read: int
    wanted: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "ready": self.ready,
            "reason": self.reason,
            "records_behind": self.behind,
            "records_read": self.read,
            "records_at_start": self.wanted,
        }


def readiness_of(following: Following) -> Readiness:
    """Return whether the view of such a follower is ready."""
    behind = sum(each.behind for each in following.topics.values())
    reason = ""
    if following.trouble:
        reason = f"the topics are not followed: {following.trouble}"
    elif not following.caught_up:
        reason = f"reading what stood in the topics: {following.read:,} of {following.wanted:,}"
    elif behind > BEHIND_MAX:
        reason = f"{behind:,} records behind the topics"
    return Readiness(not reason, reason, behind, following.read, following.wanted)
