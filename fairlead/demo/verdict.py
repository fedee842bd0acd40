"""What the judge found, as values: one line per requirement, each step, each killed client."""

from dataclasses import dataclass

__all__ = ["Check", "KilledClient", "KilledQueue", "StepOutcome", "Verdict"]


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
    """

    name: str
    moved: int
    converged_ms: float | None
    unowned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KilledQueue:
    """One queue of a killed client.

    Attributes:
        queue: its name.
        progress: the last progress that the engine had read when it granted the queue anew.
        processed: the offset after the last message the client processed.
        granted: where the engine's decision let the successor start; None if there was none.
        read_twice: messages of the client that the successor read again.
    """

    queue: str
    progress: int
    processed: int
    granted: int | None
    read_twice: int

    @property
    def at_most(self) -> int:
        """How many messages may be read twice: those after the last progress."""
        return max(0, self.processed - self.progress)


@dataclass(frozen=True, slots=True)
class KilledClient:
    """What a killed client left behind.

    Attributes:
        client_id: who.
        in_hand: the message it was processing when it died, as queue@offset; None if none.
        queues: what it owned when it died.
    """

    client_id: str
    in_hand: str | None
    queues: tuple[KilledQueue, ...]

    @property
    def read_twice(self) -> int:
        """Messages that were read again after its death."""
        return sum(queue.read_twice for queue in self.queues)

    @property
    def at_most(self) -> int:
        """How many may be."""
        return sum(queue.at_most for queue in self.queues)


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
