"""A figure that must hold, and whether it does."""

from dataclasses import asdict, dataclass
from typing import Any, Final

COLUMNS: Final = ("target", "measured", "at most", "holds")
"""Of the table of targets."""
NOT_MEASURED: Final = "not measured"


@dataclass(frozen=True, slots=True)
class Target:
    """One figure that must hold; ``measured`` is None if this run did not measure it."""

    name: str
    measured: float | None
    at_most: float

    @property
    def holds(self) -> bool | None:
        """Whether it does; None if that is not known."""
        return None if self.measured is None else self.measured <= self.at_most

    def to_json(self) -> dict[str, Any]:
        """The target as JSON."""
        note = {} if self.measured is not None else {"note": NOT_MEASURED}
        return {**asdict(self), "holds": self.holds, **note}

    def row(self) -> dict[str, Any]:
        """The target as a row of a table."""
        known = self.measured is not None
        return {
            "target": self.name,
            "measured": self.measured if known else NOT_MEASURED,
            "at most": self.at_most,
            "holds": ("yes" if self.holds else "NO") if known else None,
        }
