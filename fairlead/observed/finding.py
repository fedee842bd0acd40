"""One thing that is wrong with a group, in words for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["REMEDIES", "Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    ``problem``: a word of docs/groups.md. ``subject``: the queue, topic, client or cluster; None:
    the group as a whole. ``text``: what is wrong. ``remedy``: what to do; empty: what `REMEDIES`
    says of the problem.
    """

    problem: str
    subject: str | None
    text: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        remedy = self.remedy or REMEDIES.get(self.problem)
        return {
            "problem": self.problem,
            "for": self.subject,
            "says": self.text,
            "remedy": remedy,
        }


REMEDIES: Final[Mapping[str, str]] = {
    "overlap": "check for mode eager, on_mute force, or two engines on one cluster",
    "unassigned": "run `fairlead group describe GROUP --state`: its alarms and rules say why",
    "disagreement": "give all members of the group the same value; the oldest member's counts",
    "duplicate_client_id": "give each process its own client id",
}
"""What to do where the finding itself does not say."""
