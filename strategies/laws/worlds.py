"""Small worlds for testing laws: the same at each call, with odd names and owners."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order

__all__ = ["worlds"]

_QUEUES: Final = (1, 2, 5, 8, 17)
_MEMBERS: Final = (1, 2, 3, 5, 8)
# By UTF-16 units the third sorts before the second; by code points it sorts behind it.
_NAMES: Final = ("client-{}", "\uffee-{}", "\U0001f600-{}", "é{}", "中@{}")
_SUBSCRIBED: Final = (
    (frozenset({"orders"}),),
    (frozenset({"orders", "bills"}),),
    (frozenset({"orders", "bills"}), frozenset({"orders"}), frozenset({"bills", "unknown"})),
)
"""The members' subscriptions, in turn."""

_OWNERS: Final = ("nobody", "one", "by turns", "gone")


def worlds(options: Mapping[str, Any] | None = None) -> Iterator[AllocationRequest]:
    """Yield some hundred requests such as the engine makes, all with the same options."""
    shapes = product(_MEMBERS, _QUEUES, _SUBSCRIBED, _OWNERS)
    for number, (members, count, subscribed, owners) in enumerate(shapes):
        candidates = _candidates(members, subscribed, odd=number % 2 == 1)
        topics = sorted(frozenset().union(*(each.topics for each in candidates)) - {"unknown"})
        queues = {topic: _queues(topic, count + place) for place, topic in enumerate(topics)}
        every = [queue for held in queues.values() for queue in held]
        yield AllocationRequest(
            "group",
            candidates,
            queues,
            _owned(owners, every, candidates),
            "group" if number % 7 == 0 else "subscribers",
            dict(options or {}),
            {queue: ("east", "west")[queue.queue_id % 2] for queue in every},
        )


def _candidates(
    count: int, subscribed: tuple[frozenset[str], ...], *, odd: bool
) -> tuple[Candidate, ...]:
    forms = _NAMES if odd else _NAMES[:1]
    names = (forms[number % len(forms)].format(number) for number in range(count))
    return tuple(
        Candidate(name, subscribed[place % len(subscribed)], ("east", "west")[place % 2])
        for place, name in enumerate(sorted(names, key=java_order))
    )


def _queues(topic: str, count: int) -> tuple[MessageQueue, ...]:
    spread = (MessageQueue(topic, f"broker-{number % 2}", number // 2) for number in range(count))
    return tuple(sorted(spread, key=queue_order))


def _owned(
    kind: str, queues: list[MessageQueue], candidates: tuple[Candidate, ...]
) -> dict[MessageQueue, str]:
    match kind:
        case "one":
            names = [candidates[-1].client_id]
        case "by turns":
            names = [each.client_id for each in candidates]
        case "gone":
            names = ["gone", candidates[0].client_id]
        case _:
            return {}
    return {queue: names[place % len(names)] for place, queue in enumerate(queues)}
