"""What clients alone have told of: queues and groups that nobody else names.

Whoever may write heartbeats or releases may invent both. So of either a bounded number is kept, and
of more the oldest is forgotten. What an engine, a bridge or an operator tells of is no stranger.
"""

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from fairlead.core.model import MessageQueue

__all__ = ["GROUPS_MAX", "QUEUES_MAX", "Unconfirmed"]

GROUPS_MAX: Final = 10_000
"""More than the groups of a cluster that wait for their first decision at once."""
QUEUES_MAX: Final = 200_000
"""More than the queues of groups of which routes and decisions are read later than their words."""
_SHARE_KEPT: Final = 0.9

_Key = TypeVar("_Key")


class _Bounded(Generic[_Key]):
    """Keys in the order in which they came; of more than a number the oldest go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._keys: dict[_Key, None] = {}

    def __contains__(self, key: _Key) -> bool:
        return key in self._keys

    def add(self, key: _Key, is_known: Callable[[_Key], bool]) -> list[_Key]:
        """Take a key in; return which go. Those that are known by now are no strangers any more."""
        self._keys[key] = None
        if len(self._keys) <= self._most:
            return []
        kept = [each for each in self._keys if not is_known(each)]
        # Some more than must go: the next look is not due at once.
        over = len(kept) - int(self._most * _SHARE_KEPT) if len(kept) > self._most else 0
        self._keys = dict.fromkeys(kept[over:])
        return kept[:over]

    def discard(self, key: _Key) -> None:
        """Forget a key, if it is there."""
        self._keys.pop(key, None)


class Unconfirmed:
    """The queues and the groups that clients alone have told of."""

    def __init__(self, groups_max: int = GROUPS_MAX, queues_max: int = QUEUES_MAX) -> None:
        self._groups: _Bounded[str] = _Bounded(groups_max)
        self._queues: _Bounded[tuple[str, MessageQueue]] = _Bounded(queues_max)

    def meet_group(self, name: str) -> list[str]:
        """A client names a group that was not known; return which are to be forgotten."""
        return self._groups.add(name, lambda _: False)

    def confirm(self, name: str) -> None:
        """Somebody else than a client names this group."""
        self._groups.discard(name)

    def meet_queue(
        self, group: str, queue: MessageQueue, is_known: Callable[[str, MessageQueue], bool]
    ) -> Iterator[tuple[str, MessageQueue]]:
        """A client tells of a queue; yield the queues of groups that are to be forgotten.

        ``is_known``: whether somebody else than clients tells of this queue of this group.
        """
        key = group, queue
        if key not in self._queues and not is_known(*key):
            yield from self._queues.add(key, lambda each: is_known(*each))
