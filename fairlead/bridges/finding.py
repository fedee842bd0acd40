"""What a bridge concludes from a look at a topic."""

from dataclasses import dataclass
from enum import StrEnum

from fairlead.core.model import Route
from fairlead.core.records import RouteChanged

__all__ = ["Finding", "Verdict"]


class Verdict(StrEnum):
    """The meaning of a look, one word each; the words appear in the log."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    ABSENT = "absent"
    UNCONFIRMED = "unconfirmed"
    OUTDATED = "outdated"
    UNCLEAR = "unclear"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on a look, the route that it proves (or None), and what to publish.

    ``why`` says for the log why a look proves nothing.
    """

    topic: str
    verdict: Verdict
    route: Route | None = None
    publish: RouteChanged | None = None
    why: str = ""
