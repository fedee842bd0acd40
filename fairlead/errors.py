"""The errors of the application: each has a message, a remedy and an exit code.

The core raises its own errors, and its callers turn them into these.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

__all__ = [
    "EnvironmentMissingError",
    "ExitCode",
    "FairleadError",
    "NothingProvedError",
    "QueryDiedError",
    "RefusedError",
    "SupersededError",
    "UsageError",
    "VerdictError",
    "Way",
    "Words",
    "in_commands",
    "over_http",
    "sentence",
]


class Way(NamedTuple):
    """How the user does something, or what something is called, in each interface."""

    command: str
    http: str


Words = str | Way | Sequence["Words"]
"""A text whose parts may differ from interface to interface."""


def in_commands(words: Words) -> str:
    """Return a text as the command line says it."""
    return _told(words, 0)


def over_http(words: Words) -> str:
    """Return a text as an answer over HTTP says it."""
    return _told(words, 1)


def _told(words: Words, place: int) -> str:
    if isinstance(words, str):
        return words
    if isinstance(words, Way):
        return words[place]
    return "".join(_told(each, place) for each in words)


def sentence(words: str) -> str:
    """Return the words of a core error as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."


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
        field: the field of a request over HTTP that is at fault, if it is one.
        kind: the short name of what is wrong; programs compare it.

    Attributes:
        message: what is wrong, as the command line says it.
        remedy: the remedy, as the command line says it.
        field: as above.
        kind: as above; "": nobody needs to tell it from others.
    """

    exit_code = ExitCode.USAGE

    def __init__(
        self, message: Words, *, remedy: Words = "", field: str = "", kind: str = ""
    ) -> None:
        super().__init__(in_commands(message))
        self.message = in_commands(message)
        self.remedy = in_commands(remedy)
        self.field = field
        self.kind = kind
        self._words = message, remedy

    @property
    def over_http(self) -> tuple[str, str]:
        """The message and the remedy, as an answer over HTTP says them."""
        message, remedy = self._words
        return over_http(message), over_http(remedy)

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
