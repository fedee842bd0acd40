"""Which groups records have told of, for those who look only at what may have changed."""

from collections.abc import Collection
from dataclasses import dataclass, field

__all__ = ["Touched"]


@dataclass(slots=True)
class Touched:
    """The groups that records have told of since somebody took this.

    Attributes:
        changed: who is in them, who has what, or a rule may be another.
        measured: only how far they are may be another.
        heard: a member was heard, and said nothing new.
        everything: something that all groups share is another: a route, a rule, a generation.
    """

    changed: set[str] = field(default_factory=set)
    measured: set[str] = field(default_factory=set)
    heard: set[str] = field(default_factory=set)
    everything: bool = False

    def __bool__(self) -> bool:
        return bool(self.everything or self.changed or self.measured or self.heard)

    def add(self, other: "Touched") -> None:
        """Add what another one has."""
        self.changed |= other.changed
        self.measured |= other.measured
        self.heard |= other.heard
        self.everything = self.everything or other.everything

    def only(self, names: Collection[str]) -> "Touched":
        """Return what concerns these groups."""
        return Touched(
            self.changed.intersection(names),
            self.measured.intersection(names),
            self.heard.intersection(names),
            everything=self.everything,
        )
