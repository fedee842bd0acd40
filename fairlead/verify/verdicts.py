"""The verdicts: what the judges tested and found, invariant by invariant."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from fairlead.verify.invariants import INVARIANTS
from fairlead.wire.raw import RawRecord

__all__ = ["Evidence", "Finding", "Outcome", "Ruling", "Verdicts", "evidence_of", "single"]

Outcome = Literal["held", "broken", "not_judged"]
_REST: Final = re.compile(r",| (?:of|with|that|behind|in|at|under|beyond)\b")
"""What follows the noun that is counted."""
_ENDINGS: Final = (("ies", "y"), ("tches", "tch"), ("sses", "ss"), ("s", ""))
"""The end of a noun in the plural, and of the same noun for one thing."""
_FINDINGS_MAX: Final = 5
"""The verdict on an invariant keeps this many findings, and counts the others."""


class Evidence(NamedTuple):
    """One record or line that proves something: its place, and what it says."""

    place: str
    says: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach of an invariant, and the fewest records that show it."""

    text: str
    slice: tuple[Evidence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {"says": self.text, "slice": [each._asdict() for each in self.slice]}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on one invariant.

    Attributes:
        number: S1 to S15, L1 to L4.
        outcome: held, broken, or not judged.
        looked_at: how many things the judge tested, in words.
        reason: why the invariant, or a part of it, was not judged.
        findings: the shortest first.
        found: how many findings there are in all.
    """

    number: str
    outcome: Outcome
    looked_at: str
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    found: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON."""
        return {
            "number": self.number,
            "title": INVARIANTS[self.number].title,
            "outcome": self.outcome,
            "looked_at": self.looked_at,
            "reason": self.reason,
            "findings": [each.to_json() for each in self.findings],
            "findings_in_all": self.found,
        }


@dataclass(slots=True)
class Verdicts:
    """Collects what the judges test and find."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    totals: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, list[str]] = field(default_factory=dict)

    def count(self, number: str, what: str, times: int = 1) -> None:
        """Count tested things by what they are (in the plural)."""
        self.counts[number, what] += times

    def clear(self, number: str) -> None:
        """Forget the counts of an invariant that cannot be judged."""
        for key in [key for key in self.counts if key[0] == number]:
            del self.counts[key]

    def add_finding(self, number: str, text: str, *evidence: Evidence) -> None:
        """Add a finding; the findings with the shortest slices stay."""
        self.totals[number] += 1
        kept = self.findings.setdefault(number, [])
        kept.append(Finding(text, evidence))
        kept.sort(key=lambda finding: len(finding.slice) or _FINDINGS_MAX)
        del kept[_FINDINGS_MAX:]

    def excuse(self, number: str, reason: str) -> None:
        """Add a reason why an invariant, or a part of it, is not judged."""
        reasons = self.reasons.setdefault(number, [])
        if reason not in reasons:
            reasons.append(reason)

    def rulings(self) -> tuple[Ruling, ...]:
        """Return the verdicts, in the order of the invariants."""
        return tuple(self._ruling(number) for number in INVARIANTS)

    def _ruling(self, number: str) -> Ruling:
        looked = [
            f"{times:,} {what if times > 1 else single(what)}"
            for (of, what), times in sorted(self.counts.items())
            if of == number and times
        ]
        outcome: Outcome = "held" if looked else "not_judged"
        if self.totals[number]:
            outcome = "broken"
        reasons = self.reasons.get(number, [])
        if outcome == "not_judged" and not reasons:
            reasons = ["nothing of the kind happened"]
        return Ruling(
            number,
            outcome,
            ", ".join(looked),
            "; ".join(reasons),
            tuple(self.findings.get(number, ())),
            self.totals[number],
        )


def single(things: str) -> str:
    """Return words in the plural as words for one thing: the noun before the rest is another.

    >>> single("entries of sets"), single("unsafe grants"), single("batches with a decision")
    ('entry of sets', 'unsafe grant', 'batch with a decision')
    """
    rest = _REST.search(things)
    end = len(things) if rest is None else rest.start()
    head = things[:end]
    for ending, one in _ENDINGS:
        if head.endswith(ending):
            return head.removesuffix(ending) + one + things[end:]
    return things


def evidence_of(row: RawRecord, says: str) -> Evidence:
    """Return a record as evidence."""
    return Evidence(f"{row.topic}/{row.partition}@{row.offset}", says)
