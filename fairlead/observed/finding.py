"""One thing that is wrong with a group, as a person is told of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["REMEDIES", "Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    ``problem`` is a word of `REMEDIES`; ``subject`` the queue, topic, trait or client that it is
    of; ``text`` says more; ``remedy`` what to do about this one, else what its problem needs.
    """

    problem: str
    subject: str
    text: str
    remedy: str = ""

    def document(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        remedy = self.remedy or REMEDIES.get(self.problem)
        return {
            "problem": self.problem,
            "for": self.subject,
            "says": self.text,
            "remedy": remedy,
        }


REMEDIES: Final[Mapping[str, str]] = {
    "overlap": "look for mode eager, on_mute force, or two engines on one cluster",
    "unassigned": "look at `group describe --state`: alarms and rules say why",
    "disagreement": "give all members of the group the same; the oldest member's value counts",
    "duplicate_client_id": "give each process a client id of its own",
}
"""What to do where a finding does not say it better."""
