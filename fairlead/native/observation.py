"""One look with what follows from it: what is wrong, what is unusual, what changes would move."""

from dataclasses import dataclass
from typing import Any, Literal

from fairlead.native.group_look import GroupLook
from fairlead.native.look_findings import look_findings
from fairlead.native.look_notes import look_notes
from fairlead.native.what_if import WhatIf, what_if
from fairlead.observed.finding import Finding

__all__ = ["ObservedLook", "observed"]


@dataclass(frozen=True, slots=True)
class ObservedLook:
    """A look, and what follows from it.

    Attributes:
        look: the group.
        problems: what is wrong.
        notes: what is unusual.
        moves: what changes would move; None: nobody asked, or there is nothing to move.
    """

    look: GroupLook
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    moves: WhatIf | None = None

    @property
    def verdict(self) -> Literal["problems", "nobody", "safe"]:
        """`nobody`: no member is there, and nothing waits for one."""
        if self.problems:
            return "problems"
        return "safe" if self.look.members else "nobody"

    def summary(self) -> dict[str, Any]:
        """Return JSON values without members, queues and moves."""
        return {
            **self.look.summary(),
            "verdict": self.verdict,
            "problem_list": [each.to_json() for each in self.problems],
            "note_list": [each.to_json() for each in self.notes],
        }

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            **self.look.to_json(),
            **self.summary(),
            "what_if": None if self.moves is None else self.moves.to_json(),
        }


def observed(look: GroupLook, *, planned: bool = False) -> ObservedLook:
    """Return what follows from a look; ``planned``: also what changes would move."""
    moves = what_if(look) if planned else None
    return ObservedLook(look, look_findings(look), look_notes(look), moves)
