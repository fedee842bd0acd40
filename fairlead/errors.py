"""The errors of the application: each has a message, a remedy and an exit code.

The core raises its own errors, and its callers turn them into these.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of all processes; docs/exit-codes.md lists them."""

    OK = 0
    VERDICT_NEGATIVE = 1
    USAGE = 2
    ENVIRONMENT = 3
    REFUSED = 4
    SUPERSEDED = 5
    QUERY_DIED = 6
    DUPLICATE_CLIENT = 7
    CRASH_LOOP = 8
    NOTHING_PROVED = 9
    DEFECT = 70
    INTERRUPTED = 130


class FairleadError(Exception):
    """A failure that a user can act on.

    Args:
        message: what is wrong, naming the setting or the thing.
        remedy: what to do about it; empty only if nothing can be done.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def lines(self) -> list[str]:
        """Return the error for a user: the message, then the indented remedy."""
        return [self.message, *([f"  {self.remedy}"] if self.remedy else [])]

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class UsageError(FairleadError):
    """The command line or a setting is wrong."""


class EnvironmentMissingError(FairleadError):
    """Something that the program needs is missing or unreachable: Java, jars, a broker, a topic."""

    exit_code = ExitCode.ENVIRONMENT


class RefusedError(FairleadError):
    """The program refuses to go on: a queue could get two owners, or progress could be lost."""

    exit_code = ExitCode.REFUSED


class SupersededError(FairleadError):
    """A driver of a newer generation has taken over; never restart after this."""

    exit_code = ExitCode.SUPERSEDED


class QueryDiedError(FairleadError):
    """An exception ended the streaming query; a supervisor may restart the driver."""

    exit_code = ExitCode.QUERY_DIED


class VerdictError(FairleadError):
    """A check has failed."""

    exit_code = ExitCode.VERDICT_NEGATIVE


class NothingProvedError(FairleadError):
    """A check had nothing to check, which is no success."""

    exit_code = ExitCode.NOTHING_PROVED
