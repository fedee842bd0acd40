"""What the demo of a producer found."""

from dataclasses import dataclass, field

from fairlead_proof.demo.sending_judge import Phase
from fairlead_proof.demo.verdict import Check


@dataclass(slots=True)
class SendingReport:
    """The outcome: each requirement, and how many messages it rests on."""

    checks: tuple[Check, ...]
    messages: int
    attempts: dict[int, int]
    took_s: float
    phases: list[Phase] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every requirement holds."""
        return all(check.passed for check in self.checks)
