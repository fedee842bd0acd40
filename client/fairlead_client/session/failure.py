"""The last error of a client, and its time."""

from typing import NamedTuple, Self

from fairlead_client.session.clock import wall_ms

__all__ = ["Failure"]


class Failure(NamedTuple):
    """An error and its time in ms since 1970."""

    error: Exception
    at_ms: int

    @classmethod
    def now(cls, error: Exception) -> Self:
        """Return an error with the present time."""
        return cls(error, wall_ms())
