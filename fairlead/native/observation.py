"""One look with what follows from it: what is wrong, and what changes would move."""

from dataclasses import dataclass
from typing import Any

from fairlead.native.group_look import GroupLook
from fairlead.native.look_findings import look_findings
from fairlead.native.what_if import WhatIf, what_if
from fairlead.observed.finding import Finding

__all__ = ["ObservedLook", "observed"]


@dataclass(frozen=True, slots=True)
class ObservedLook:
    """A look, its findings, and its plans; ``moves`` None: there is nothing to plan."""

    look: GroupLook
    findings: tuple[Finding, ...]
    moves: WhatIf | None

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            **self.look.to_json(),
            "what_if": None if self.moves is None else self.moves.to_json(),
            "problem_list": [each.to_json() for each in self.findings],
        }


def observed(look: GroupLook) -> ObservedLook:
    """Return what follows from a look."""
    return ObservedLook(look, tuple(look_findings(look)), what_if(look))
