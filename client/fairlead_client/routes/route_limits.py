"""The limit of a topic's queues."""

from collections.abc import Iterable
from typing import Final

from fairlead_client.errors import RouteError

QUEUES_MAX: Final = 100_000
"""The limit of Fairlead's own route record; RocketMQ has none but its memory."""


def check_queues(field: str, counts: Iterable[int]) -> None:
    """Check the total number of a topic's queues; a negative count counts as 0.

    Raises:
        RouteError: there are too many (`too_many_queues`).
    """
    if sum(max(count, 0) for count in counts) > QUEUES_MAX:
        raise RouteError(
            field,
            f"the topic has more than {QUEUES_MAX} queues in all",
            "share the load over several topics",
            code="too_many_queues",
        )
