"""Our own selection of a queue: round robin that stays fair when some brokers are passed over.

A round robin that skips what it may not take gives the load of a skipped broker to its neighbour.
Here the queues that may be taken stand in a list of their own and take turns in it, so that they
share that load evenly.

ADR 0133 gives the reasons.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final

from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.produce.target import Target

LISTS_MAX: Final = 256
"""So many combinations of passed-over brokers are remembered."""
_NOTHING: Final[frozenset[str]] = frozenset()
_Key = tuple[frozenset[str], frozenset[str], frozenset[str], str | None]


class _Turns:
    """Queues that take turns, from one of them on."""

    __slots__ = ("_positions", "_targets")

    def __init__(self, targets: Sequence[Target], start: int) -> None:
        self._targets = targets
        self._positions: Iterator[int] = count(start)

    def next(self) -> Target:
        targets = self._targets
        return targets[next(self._positions) % len(targets)]


class FairRoundRobin:
    """The queues of one topic's route, taking turns. Not thread safe: its selector holds a lock.

    Args:
        targets: the queues to write to, in their order.
        start: where the first turn begins; any whole number, drawn at random by who makes this.
        zone: the producer's own: its queues are preferred while one of them may be taken.
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

        Of the queues that somebody leads, in this order of preference: of a broker that is neither
        avoided nor tried, in the own zone, then in any; of one that is reachable and not tried; of
        one not tried; of one other than the last tried. Only then any queue.

        Args:
            avoided: brokers that are slow or failed.
            unreachable: brokers that gave no answer lately.
            tried: where this message failed already, in order.

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
        # Its first turn is that of the queue after the one chosen last, in the order of all.
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
