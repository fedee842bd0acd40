"""What Spark keeps between batches: the cut that is planned, and states of the past."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.codec.stored import StoredShard

__all__ = ["KEPT", "Checkpoint", "Saved"]

KEPT = 12
"""So many committed batches are kept; an older checkpoint may be put back."""

Ends = Mapping[str, int]
"""Suffix of an input topic -> the offset up to which it is read."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What one committed batch left behind. ``stored`` None: no row was read yet."""

    ends: Ends
    stored: StoredShard | None


@dataclass(slots=True)
class Checkpoint:
    """A folder. ``planned`` is the entry of the offset log that has no commit yet.

    ``owner``: the generation of the driver that planned last; another that finds it there stops.
    """

    saved: list[Saved] = field(default_factory=lambda: [Saved({}, None)])
    planned: Ends | None = None
    owner: int = 0

    @property
    def newest(self) -> Saved:
        """The newest committed batch."""
        return self.saved[-1]

    def can_go_back(self, back: int) -> bool:
        """Tell whether so many batches are kept."""
        return back < len(self.saved)

    def commit(self, saved: Saved) -> None:
        """Keep a batch; the oldest of many is forgotten."""
        self.saved.append(saved)
        self.planned = None
        del self.saved[:-KEPT]

    def copied(self, back: int) -> "Checkpoint":
        """Return a copy as it was so many batches ago."""
        planned = self.planned if back == 0 else None
        return Checkpoint(self.saved[: max(1, len(self.saved) - back)], planned)

    def put_back(self, back: int) -> None:
        """Become as it was so many batches ago."""
        if back:
            del self.saved[max(1, len(self.saved) - back) :]
            self.planned = None
