"""The now of a step, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Moment"]


@dataclass(frozen=True, slots=True)
class Moment:
    """The now of a step: the shard's clock after the last record, and what had been read.

    ``marker`` is the highest generation with a read marker, ``marker_ms`` the clock at that record
    (None: now). ``shard``, ``step`` and ``positions`` make the cut. ``number_floor``: a new group
    counts its decisions from there. ``recovering``: the shard's state was lost, and unknown clients
    may be working. ``incomplete``: records of this group were given up, or it had no state while
    they waited. ``bridges``: the newest sign of each cluster's bridge: (when, its state).
    """

    clock_ms: int
    append_ms: int
    marker: int
    shard: int = 0
    step: int = 1
    positions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    number_floor: int = 0
    marker_ms: int | None = None
    recovering: bool = False
    incomplete: bool = False
    bridges: Mapping[str, tuple[int, str]] = field(default_factory=dict)
