"""What went wrong, and when: it is told for as long as nothing else goes wrong."""

from typing import NamedTuple, Self

from fairlead_client.session.clock import wall_ms

__all__ = ["Failure"]


class Failure(NamedTuple):
    """An error, and when it came, in ms since 1970."""

    error: Exception
    at_ms: int

    @classmethod
    def now(cls, error: Exception) -> Self:
        """Return an error that has just come."""
        return cls(error, wall_ms())
