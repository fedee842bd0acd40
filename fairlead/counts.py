"""Numbers of things, and lists of names, in words."""

from collections.abc import Sequence
from typing import Final

__all__ = ["counted", "listed"]

_SHOWN: Final = 3


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "queue"), counted(2, "queue")
    ('1 queue', '2 queues')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], divider: str = ", ", shown_max: int = _SHOWN) -> str:
    """Return the first few names and the number of the others.

    >>> listed(["c1", "c2"]), listed(["c1", "c2", "c3", "c4", "c5"])
    ('c1, c2', 'c1, c2, c3 and 2 more')
    """
    more = len(names) - shown_max
    shown = divider.join(names[:shown_max])
    return f"{shown} and {more} more" if more > 0 else shown
