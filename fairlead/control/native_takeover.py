"""Where a group begins that takes over from a native one, queue by queue (ADR 0158).

Decides what a commit of the native group means, and whether Fairlead's group is ahead of it: then
nothing is taken over, because messages would be read again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fairlead.control.queue_place import QueuePlace
from fairlead.control.queue_resets import ResetOutcome, answer_json
from fairlead.core.model import MessageQueue

__all__ = ["AdoptedQueue", "Uncommitted", "plan_adoption"]

Uncommitted = Literal["earliest", "latest"]
"""Where queues without a native commit begin, if an operator says so."""

Why = Literal["committed", "below_earliest", "beyond_latest", "own", "chosen", "consume_from"]
"""Why a queue begins where it does.

``below_earliest``, ``beyond_latest``: the commit lies outside the kept messages and is moved
inside. ``own``: there is no commit, and Fairlead's group has a position. ``chosen``: there is no
commit, and the operator chose. ``consume_from``: its clients choose.
"""


@dataclass(frozen=True, slots=True)
class AdoptedQueue:
    """One queue.

    Attributes:
        place: what it holds, and where Fairlead's group is in it.
        native: where the native group is; None: it has committed nothing.
        begins: where Fairlead begins; None: its clients' ``consume_from`` decides.
        why: see `Why`.
        is_ahead: Fairlead's group has read further than the native one.
    """

    place: QueuePlace
    native: int | None
    begins: int | None
    why: Why
    is_ahead: bool

    @property
    def lag(self) -> int | None:
        """How many kept messages are left; None: the begin is unknown."""
        return None if self.begins is None else self.place.latest - self.begins

    @property
    def needs_reset(self) -> bool:
        """Whether a reset must say where it begins."""
        return self.begins is not None and self.why != "own"

    def to_json(self, outcome: ResetOutcome | None) -> dict[str, Any]:
        """Return it as JSON values, with what came of its reset; None: none was written."""
        return {
            **self.place.to_json(),
            "native_offset": self.native,
            "to_offset": self.begins,
            "to_why": self.why,
            "lag_messages": self.lag,
            **answer_json(outcome),
        }


def plan_adoption(
    places: Iterable[QueuePlace],
    native: Mapping[MessageQueue, int],
    uncommitted: Uncommitted | None,
) -> list[AdoptedQueue]:
    """Return where each queue begins.

    Args:
        places: the queues, with the positions of Fairlead's group.
        native: where the native group is.
        uncommitted: where the other queues begin; None: where their clients say.
    """
    return [_adopted(place, native.get(place.queue), uncommitted) for place in places]


def _adopted(
    place: QueuePlace, native: int | None, uncommitted: Uncommitted | None
) -> AdoptedQueue:
    if native is not None:
        begins = min(max(native, place.earliest), place.latest)
        why: Why = "committed"
        if begins != native:
            why = "below_earliest" if begins > native else "beyond_latest"
        return AdoptedQueue(place, native, begins, why, _is_ahead(place, max(native, begins)))
    if place.position is not None:
        own = min(max(place.position.offset, place.earliest), place.latest)
        return AdoptedQueue(place, None, own, "own", is_ahead=False)
    if uncommitted is None:
        return AdoptedQueue(place, None, None, "consume_from", is_ahead=False)
    begins = place.earliest if uncommitted == "earliest" else place.latest
    return AdoptedQueue(place, None, begins, "chosen", is_ahead=False)


def _is_ahead(place: QueuePlace, offset: int) -> bool:
    """Tell whether somebody has read on in Fairlead's group; a reset alone is not reading."""
    return (
        place.position is not None and place.told_by != "reset" and place.position.offset > offset
    )
