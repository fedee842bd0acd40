"""What Spark keeps between batches: the planned cut, and past states."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.codec.stored import StoredShard

__all__ = ["KEPT", "Checkpoint", "Saved"]

KEPT = 12
"""The checkpoint keeps this many committed batches, so that an older one can be put back."""

Ends = Mapping[str, int]
"""Suffix of an input topic -> the offset up to which it is read."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of one committed batch. ``stored`` None: no row was read yet."""

    ends: Ends
    stored: StoredShard | None


@dataclass(slots=True)
class Checkpoint:
    """A checkpoint folder. ``planned`` is the entry of the offset log without a commit.

    ``owner``: the generation of the driver that planned last; an older driver that finds it stops.
    """

    saved: list[Saved] = field(default_factory=lambda: [Saved({}, None)])
    planned: Ends | None = None
    owner: int = 0

    @property
    def newest(self) -> Saved:
        """The newest committed batch."""
        return self.saved[-1]

    def can_go_back(self, back: int) -> bool:
        """Tell whether the checkpoint keeps a state this many batches back."""
        return back < len(self.saved)

    def commit(self, saved: Saved) -> None:
        """Add a batch; forget the oldest beyond the limit."""
        self.saved.append(saved)
        self.planned = None
        del self.saved[:-KEPT]

    def copied(self, back: int) -> "Checkpoint":
        """Return a copy of the state this many batches back."""
        planned = self.planned if back == 0 else None
        return Checkpoint(self.saved[: max(1, len(self.saved) - back)], planned)

    def put_back(self, back: int) -> None:
        """Go back by this many batches."""
        if back:
            del self.saved[max(1, len(self.saved) - back) :]
            self.planned = None
