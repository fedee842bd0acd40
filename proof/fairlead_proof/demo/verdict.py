"""What the judge found, as values: one line per requirement, each step, each killed client."""

from dataclasses import dataclass

from fairlead.verify.killed_clients import KilledClient

__all__ = ["Check", "StepOutcome", "Verdict"]


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement and what was measured.

    Attributes:
        name: what it is about.
        measured: the figure found.
        required: the figure demanded, in words.
        passed: whether it holds.
        findings: what a person needs to understand a failure, or to believe a success.
    """

    name: str
    measured: str
    required: str
    passed: bool
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What one step of the script did to the owners, by the journals.

    Attributes:
        name: the step.
        moved: queues that got another owner in it.
        converged_ms: from the event to the last start of a moved queue; None if nothing moved.
        unowned: queues that had no owner when the step was over.
        moved_by_avg: queues that RocketMQ's AVG gives to another client between the members and
            queues at the end of the step before and those at the end of this one.
    """

    name: str
    moved: int
    converged_ms: float | None
    unowned: tuple[str, ...]
    moved_by_avg: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, and what it rests on. ``memory_mib`` is None where it could not be measured."""

    checks: tuple[Check, ...]
    steps: tuple[StepOutcome, ...]
    killed: tuple[KilledClient, ...]
    messages: int
    queues: int
    memory_mib: int | None

    @property
    def passed(self) -> bool:
        """True if every requirement holds."""
        return all(check.passed for check in self.checks)

    def failed(self) -> tuple[str, ...]:
        """The names of the requirements that do not hold."""
        return tuple(check.name for check in self.checks if not check.passed)
