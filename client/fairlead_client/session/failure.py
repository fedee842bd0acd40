"""The last error of a client with its time, and the log of errors that repeat."""

import logging
from typing import NamedTuple, Self

from fairlead_client.session.clock import wall_ms

__all__ = ["Failure", "FailureLog"]


class Failure(NamedTuple):
    """An error and its time in ms since 1970."""

    error: Exception
    at_ms: int

    @classmethod
    def now(cls, error: Exception) -> Self:
        """Return an error with the present time."""
        return cls(error, wall_ms())


class FailureLog:
    """Logs an error as a warning, and its repetitions at level DEBUG.

    Args:
        logger: where the errors go.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._last = ""

    def log(self, error: str, message: str, *arguments: object) -> None:
        """Log a message about an error, which its text identifies."""
        level = logging.DEBUG if error == self._last else logging.WARNING
        self._last = error
        self._logger.log(level, message, *arguments)

    def clear(self) -> None:
        """Forget the last error after a success."""
        self._last = ""
