"""Queues and groups that clients alone have told of: nobody has confirmed that they exist.

Whoever may write heartbeats or releases can invent both. So only a bounded number is kept, and the
oldest go first. An engine, a bridge or an operator confirms what it names.
"""

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from fairlead.core.model import MessageQueue

__all__ = ["GROUPS_MAX", "QUEUES_MAX", "Unconfirmed"]

GROUPS_MAX: Final = 10_000
"""More than the groups of a cluster that wait for their first decision at once."""
QUEUES_MAX: Final = 200_000
"""More than the queues of groups whose routes and decisions are read later than their clients."""
_SHARE_KEPT: Final = 0.9

_Key = TypeVar("_Key")


class _Bounded(Generic[_Key]):
    """Keys in the order in which they came; if there are too many, the oldest go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys: dict[_Key, None] = {}

    def __contains__(self, key: _Key) -> bool:
        return key in self._keys

    def add(self, key: _Key, is_known: Callable[[_Key], bool]) -> list[_Key]:
        """Add a key; return the keys that go. Those confirmed by now are just let go."""
        self._keys[key] = None
        if len(self._keys) <= self._most:
            return []
        kept = [each for each in self._keys if not is_known(each)]
        # More go than must, so that the next search is not due at once.
        over = len(kept) - int(self._most * _SHARE_KEPT) if len(kept) > self._most else 0
        self._keys = dict.fromkeys(kept[over:])
        return kept[:over]

    def discard(self, key: _Key) -> None:
        """Forget a key, if it is there."""
        self._keys.pop(key, None)


class Unconfirmed:
    """The queues and groups that clients alone have told of."""

    def __init__(self, groups_max: int = GROUPS_MAX, queues_max: int = QUEUES_MAX) -> None:
        self._groups: _Bounded[str] = _Bounded(groups_max)
        self._queues: _Bounded[tuple[str, MessageQueue]] = _Bounded(queues_max)

    def meet_group(self, name: str) -> list[str]:
        """Note a new group that a client names; return the groups to forget."""
        return self._groups.add(name, lambda _: False)

    def confirm(self, name: str) -> None:
        """Note that an engine, a bridge or an operator names this group."""
        self._groups.discard(name)

    def meet_queue(
        self, group: str, queue: MessageQueue, is_known: Callable[[str, MessageQueue], bool]
    ) -> Iterator[tuple[str, MessageQueue]]:
        """Note a queue that a client tells of; yield the queues of groups to forget.

        ``is_known``: whether anybody but clients tells of this queue of this group.
        """
        key = group, queue
        if key not in self._queues and not is_known(*key):
            yield from self._queues.add(key, lambda each: is_known(*each))
