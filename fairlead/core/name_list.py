"""Names in a sentence: the first few of them, and how many more there are."""

from collections.abc import Sequence
from typing import Final

__all__ = ["listed"]

_NAMED_MAX: Final = 3


def listed(names: Sequence[str]) -> str:
    """Return the names for people: ``a, b, c and 2 more``."""
    more = len(names) - _NAMED_MAX
    return ", ".join(names[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")
