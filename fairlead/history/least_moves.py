"""The fewest queues that must change hands for an even share by number."""

from collections.abc import Mapping

__all__ = ["least_moves"]


def least_moves(held: Mapping[str, int], sharing: int, queues: int) -> int:
    """Return how many of some queues must change hands so that they are shared evenly.

    Args:
        held: of those who share them, how many of these queues each has; no entry: none.
        sharing: how many share them.
        queues: how many there are.

    Subscriptions, pins and weights do not count: with them more may have to move.

    >>> least_moves({"c1": 4, "c2": 4}, 3, 8)
    2
    >>> least_moves({"c1": 3, "c2": 3}, 2, 8)
    2
    """
    if not sharing:
        return 0
    share, more = divmod(queues, sharing)
    counts = sorted(held.values(), reverse=True)
    kept = sum(min(count, share + (place < more)) for place, count in enumerate(counts))
    return queues - kept
