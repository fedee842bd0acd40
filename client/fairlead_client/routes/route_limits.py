"""How many queues one topic may have."""

from collections.abc import Iterable
from typing import Final

from fairlead_client.errors import RouteError

QUEUES_MAX: Final = 100_000
"""As in Fairlead's own route record; RocketMQ has no limit but its memory."""


def check_queues(field: str, counts: Iterable[int]) -> None:
    """Refuse more queues in all than a topic may have; a negative count is none.

    Raises:
        RouteError: there are more; its code is `too_many_queues`.
    """
    if sum(max(count, 0) for count in counts) > QUEUES_MAX:
        raise RouteError(
            field,
            f"the topic has more than {QUEUES_MAX} queues in all",
            "share the load over several topics",
            code="too_many_queues",
        )
