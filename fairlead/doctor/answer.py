"""What a check found: as it must be, worth a thought, wrong, or not to be known."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Answer", "Status", "fail", "ok", "unknown", "warn"]


class Status(StrEnum):
    """How it is; only FAIL makes the doctor's verdict negative."""

    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that was found.

    Attributes:
        status: how it is.
        says: what was found, with the names and figures.
        remedy: how to mend it; empty where there is nothing to mend.
    """

    status: Status
    says: str
    remedy: str = ""


def ok(says: str) -> Answer:
    """Return that something is as it must be."""
    return Answer(Status.OK, says)


def warn(says: str, remedy: str) -> Answer:
    """Return that something works, and is worth a thought."""
    return Answer(Status.WARN, says, remedy)


def fail(says: str, remedy: str) -> Answer:
    """Return that something is wrong."""
    return Answer(Status.FAIL, says, remedy)


def unknown(says: str, remedy: str = "") -> Answer:
    """Return that something could not be found out, and what would help."""
    return Answer(Status.UNKNOWN, says, remedy)
