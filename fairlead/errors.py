"""The errors of the application: each says what is wrong and what to do, and has an exit code.

The core does not use them: it raises its own errors, and the edges decide what they mean to a user.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller; the list is docs/exit-codes.md."""

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
        message: what is wrong, naming the field or the thing.
        remedy: what to do about it; empty only where nothing can be done.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def lines(self) -> list[str]:
        """Return the error as a user reads it: what is wrong, then the remedy, indented."""
        return [self.message, *([f"  {self.remedy}"] if self.remedy else [])]

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class UsageError(FairleadError):
    """The command line or a setting is wrong."""


class EnvironmentMissingError(FairleadError):
    """Something outside is missing or unreachable: Java, jars, a broker, a topic."""

    exit_code = ExitCode.ENVIRONMENT


class RefusedError(FairleadError):
    """The program could go on, but must not: going on could make two owners or lose progress."""

    exit_code = ExitCode.REFUSED


class SupersededError(FairleadError):
    """A driver of a higher generation has taken over; never restart on this."""

    exit_code = ExitCode.SUPERSEDED


class QueryDiedError(FairleadError):
    """The streaming query ended by an exception; a supervisor may start it again."""

    exit_code = ExitCode.QUERY_DIED


class VerdictError(FairleadError):
    """A check was carried out, and its answer is no."""

    exit_code = ExitCode.VERDICT_NEGATIVE


class NothingProvedError(FairleadError):
    """A check could not be carried out on what there is: that is no success."""

    exit_code = ExitCode.NOTHING_PROVED
