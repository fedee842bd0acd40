"""Fairlead's own selection of a queue: round robin that stays fair if brokers are skipped.

A plain round robin gives the load of a skipped broker to its neighbour. Here the allowed queues
have their own list and take turns in it, so they share that load evenly (ADR 0133).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final

from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.produce.target import Target

LISTS_MAX: Final = 256
"""How many combinations of skipped brokers are remembered."""
_NOTHING: Final[frozenset[str]] = frozenset()
_Key = tuple[frozenset[str], frozenset[str], frozenset[str], str | None]


class _Turns:
    """Queues that take turns, starting at one of them."""

    __slots__ = ("_positions", "_targets")

    def __init__(self, targets: Sequence[Target], start: int) -> None:
        self._targets = targets
        self._positions: Iterator[int] = count(start)

    def next(self) -> Target:
        targets = self._targets
        return targets[next(self._positions) % len(targets)]


class FairRoundRobin:
    """Round robin over the queues of one topic's route. Not thread safe: its selector holds a lock.

    Args:
        targets: the queues to write to, in order.
        start: where the first turn begins; any whole number, which the caller draws at random.
        zone: the producer's zone; its queues come first while one of them is allowed.
    """

    def __init__(self, targets: Sequence[Target], start: int, zone: str | None = None) -> None:
        self.targets = tuple(targets)
        self._zone = zone
        self._indexes = {target.queue: place for place, target in enumerate(self.targets)}
        self._last_index = start - 1
        self._lists: dict[_Key, _Turns] = {}

    def select(
        self,
        avoided: frozenset[str] = _NOTHING,
        unreachable: frozenset[str] = _NOTHING,
        tried: Sequence[str] = (),
    ) -> Target:
        """Return the next queue.

        Among the queues with a leader, it prefers a broker neither avoided nor tried, in the own
        zone, then in any zone; then a reachable broker not tried; then one not tried; then one
        other than the last tried. Only then it takes any queue.

        Args:
            avoided: brokers that are slow or failed.
            unreachable: brokers that gave no answer lately.
            tried: brokers where this message has failed, in order.

        Raises:
            NoQueueError: there are no queues.
        """
        last = tried[-1] if tried else None
        key = (avoided, unreachable, frozenset(tried) if tried else _NOTHING, last)
        turns = self._lists.get(key)
        if turns is None:
            turns = self._new_turns(key)
        target = turns.next()
        self._last_index = self._indexes[target.queue]
        return target

    def _new_turns(self, key: _Key) -> _Turns:
        allowed = self._allowed(key)
        if not allowed:
            raise NoQueueError(self._last_index)
        # The first turn belongs to the queue after the last chosen one, in the order of all.
        following = self._last_index + 1
        count_all = len(self.targets)
        first = min(
            range(len(allowed)),
            key=lambda at: (self._indexes[allowed[at].queue] - following) % count_all,
        )
        if len(self._lists) >= LISTS_MAX:
            self._lists.clear()
        turns = self._lists[key] = _Turns(allowed, first)
        return turns

    def _allowed(self, key: _Key) -> list[Target]:
        avoided, unreachable, tried, last = key
        led = [target for target in self.targets if target.broker is not None]
        passes: tuple[Callable[[Target], bool], ...] = (
            lambda target: (
                target.broker not in avoided
                and target.broker not in tried
                and self._zone in (None, target.zone)
            ),
            lambda target: target.broker not in avoided and target.broker not in tried,
            lambda target: target.broker not in unreachable and target.broker not in tried,
            lambda target: target.broker not in tried,
            lambda target: target.broker != last,
            lambda _: True,
        )
        for passing in passes:
            allowed = [target for target in led if passing(target)]
            if allowed:
                return allowed
        return list(self.targets)
