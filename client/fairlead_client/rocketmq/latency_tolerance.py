"""Tracks slow and failed brokers by the rules of RocketMQ's two lines (LatencyFaultToleranceImpl).

It has no clock: each call gives the time, in ms of any clock that does not go back. An unknown
broker is available and reachable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from fairlead_client.produce.java_number import hash_code

DETECT_INTERVAL_MS: Final = 2_000
"""The time between two checks of a broker (line 5)."""
TABLE_SIZE: Final = 32
"""The size of a Java hash table made for 16; its order decides between equal brokers."""


@dataclass(slots=True)
class FaultItem:
    """The state of one broker: its last latency, and from when on it is available."""

    broker: str
    latency_ms: int = 0
    start_ms: int = 0
    reachable: bool = True
    check_ms: int = 0

    def is_available(self, now_ms: int) -> bool:
        """Return whether the broker is no longer avoided."""
        return now_ms >= self.start_ms

    def rank(self, now_ms: int) -> tuple[bool, int, int]:
        """Return the sort key of brokers: available, fast and early ones come first."""
        return not self.is_available(now_ms), self.latency_ms, self.start_ms


class LatencyTolerance(Protocol):
    """The interface of both lines for selections."""

    def is_available(self, broker: str, now_ms: int) -> bool:
        """Return whether the broker is not avoided now."""

    def is_reachable(self, broker: str) -> bool:
        """Return whether the last attempt reached the broker."""


class _FaultItemTable:
    def __init__(self) -> None:
        self._items: dict[str, FaultItem] = {}
        self._table_size = TABLE_SIZE

    def is_available(self, broker: str, now_ms: int) -> bool:
        """Return whether the broker is not avoided now."""
        item = self._items.get(broker)
        return item is None or item.is_available(now_ms)

    def is_reachable(self, broker: str) -> bool:
        """Return whether the last attempt reached the broker; always true in line 4."""
        item = self._items.get(broker)
        return item is None or item.reachable

    def remove(self, broker: str) -> None:
        """Forget a broker."""
        self._items.pop(broker, None)

    def items(self) -> list[FaultItem]:
        """Return the known brokers in the order of Java's hash table; do not change them.

        Brokers in one bucket keep their order of arrival; from 24 brokers on, Java's may differ.
        """
        return sorted(self._items.values(), key=lambda item: self._table_place(item.broker))

    def ranked(self, now_ms: int) -> list[FaultItem]:
        """Return the brokers from the best to the worst (FaultItem#compareTo)."""
        return sorted(self.items(), key=lambda item: item.rank(now_ms))

    def _item(self, broker: str) -> FaultItem:
        item = self._items.get(broker)
        if item is None:
            item = self._items[broker] = FaultItem(broker)
            while len(self._items) >= self._table_size * 3 // 4:
                self._table_size *= 2
        return item

    def _table_place(self, broker: str) -> int:
        code = hash_code(broker) & 0xFFFFFFFF
        return (code ^ (code >> 16)) & (self._table_size - 1)


class LatencyTolerance4(_FaultItemTable):
    """Line 4: each update overwrites, so one fast success frees a broker at once."""

    def update(self, broker: str, latency_ms: int, not_available_ms: int, *, now_ms: int) -> None:
        """Note a sending's latency, and for how long the broker is avoided from now."""
        item = self._item(broker)
        item.latency_ms = latency_ms
        item.start_ms = now_ms + not_available_ms

    def pick_one_at_least(self, which: int, now_ms: int) -> str | None:
        """Return a broker of the better half, or None if no broker is known.

        Args:
            which: chooses within the half; RocketMQ's `whichItemWorst`, not negative.
            now_ms: the present time.
        """
        ranked = self.ranked(now_ms)
        if not ranked:
            return None
        half = len(ranked) // 2
        return ranked[which % half if half else 0].broker


class LatencyTolerance5(_FaultItemTable):
    """Line 5: an update never shortens the time of avoidance; reachability counts too."""

    def update(
        self,
        broker: str,
        latency_ms: int,
        not_available_ms: int,
        *,
        reachable: bool,
        now_ms: int,
    ) -> None:
        """Note a sending's latency, how long to avoid the broker, and whether it was reached."""
        item = self._item(broker)
        item.latency_ms = latency_ms
        if not_available_ms > 0:
            item.start_ms = max(item.start_ms, now_ms + not_available_ms)
        item.reachable = reachable

    def pick_one_at_least(self, order: Sequence[int]) -> str | None:
        """Return the first reachable broker in a random order, or None if there is none.

        RocketMQ's own selection no longer calls it.

        Args:
            order: a permutation of the positions of `items()`, drawn by the caller.
        """
        items = self.items()
        return next((items[at].broker for at in order if items[at].reachable), None)

    def due(self, now_ms: int) -> list[str]:
        """Return the brokers to check now; each is due again in 2,000 ms."""
        due = []
        for item in self.items():
            if now_ms >= item.check_ms:
                item.check_ms = now_ms + DETECT_INTERVAL_MS
                due.append(item.broker)
        return due

    def detected(self, broker: str) -> None:
        """Note that a checked broker answered; without an answer its state stays."""
        item = self._items.get(broker)
        if item is not None:
            item.reachable = True
