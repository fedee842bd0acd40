"""What live streams ask of the view that `fairlead serve` keeps."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from fairlead.observed.touched import Touched

__all__ = ["LiveView"]


class LiveView(Protocol):
    """The view; all calls may come from any thread."""

    @property
    def is_whole(self) -> bool:
        """Whether all is read that stood in the topics when they were last read from the start."""

    def listen(self, told: Callable[[Touched], None]) -> None:
        """Call this, on the thread that reads, whenever something was read of groups."""

    def names(self) -> list[str]:
        """Return the names of all groups."""

    def lines(self, names: Collection[str]) -> Mapping[str, dict[str, Any] | None]:
        """Return the lines of some groups; None: nobody knows such a group."""

    def late_shards(self) -> frozenset[int]:
        """Return the shards whose engine is silent while records come."""

    def has_group(self, name: str) -> bool:
        """Tell whether anybody knows a group."""

    def group(self, name: str) -> dict[str, Any] | None:
        """Return the description of one group; None: nobody knows it."""

    def decisions(
        self, name: str, since_ms: int = 0, after: int = -1
    ) -> list[dict[str, Any]] | None:
        """Return the decisions of a group, oldest first; None: nobody knows it."""
