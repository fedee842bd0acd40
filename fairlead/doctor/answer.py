"""The answer of a check: ok, a warning, a failure, or unknown."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Answer", "Status", "fail", "ok", "unknown", "warn"]


class Status(StrEnum):
    """The status of an answer; only FAIL makes the doctor's verdict negative."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a check.

    Attributes:
        status: ok, warn, FAIL or unknown.
        says: what the check found, with names and figures.
        remedy: how to repair it; empty if there is nothing to repair.
    """

    status: Status
    says: str
    remedy: str = ""


def ok(says: str) -> Answer:
    """Return the answer that something is right."""
    return Answer(Status.OK, says)


def warn(says: str, remedy: str) -> Answer:
    """Return the answer that something works with a risk."""
    return Answer(Status.WARN, says, remedy)


def fail(says: str, remedy: str) -> Answer:
    """Return the answer that something is wrong."""
    return Answer(Status.FAIL, says, remedy)


def unknown(says: str, remedy: str = "") -> Answer:
    """Return the answer that a check cannot find something out, and what would help."""
    return Answer(Status.UNKNOWN, says, remedy)
