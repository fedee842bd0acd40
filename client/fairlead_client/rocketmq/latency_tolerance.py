"""Which brokers were slow or failed lately, by the rules of RocketMQ's two lines.

LatencyFaultToleranceImpl. Without a clock: each call says what time it is, in ms of any clock that
does not go back. A broker that nothing is known of is available and reachable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from fairlead_client.produce.java_number import hash_code

DETECT_INTERVAL_MS: Final = 2_000
"""How long after a check a broker is due for the next one (line 5)."""
TABLE_SIZE: Final = 32
"""Of Java's hash table when it is made for 16; its order decides between equal brokers."""


@dataclass(slots=True)
class FaultItem:
    """What is known of one broker: its last latency, and since when it is available again."""

    broker: str
    latency_ms: int = 0
    start_ms: int = 0
    reachable: bool = True
    check_ms: int = 0

    def is_available(self, now_ms: int) -> bool:
        """Tell whether its time of avoidance is over."""
        return now_ms >= self.start_ms

    def rank(self, now_ms: int) -> tuple[bool, int, int]:
        """Return what brokers are sorted by: available ones, fast ones, early ones first."""
        return not self.is_available(now_ms), self.latency_ms, self.start_ms


class LatencyTolerance(Protocol):
    """What selections ask of either line."""

    def is_available(self, broker: str, now_ms: int) -> bool:
        """Tell whether the broker is not avoided now."""

    def is_reachable(self, broker: str) -> bool:
        """Tell whether the broker could be talked to when last tried."""


class _FaultItemTable:
    def __init__(self) -> None:
        self._items: dict[str, FaultItem] = {}
        self._table_size = TABLE_SIZE

    def is_available(self, broker: str, now_ms: int) -> bool:
        """Tell whether the broker is not avoided now."""
        item = self._items.get(broker)
        return item is None or item.is_available(now_ms)

    def is_reachable(self, broker: str) -> bool:
        """Tell whether the broker could be talked to when last tried; always true in line 4."""
        item = self._items.get(broker)
        return item is None or item.reachable

    def remove(self, broker: str) -> None:
        """Forget what is known of a broker."""
        self._items.pop(broker, None)

    def items(self) -> list[FaultItem]:
        """Return what is known, in the order of Java's table; to be read only.

        Brokers that meet in one place of it stand as they came; of 24 and more, Java's may not.
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
        """Note a sending: how long it took, and for how long the broker is avoided from now."""
        item = self._item(broker)
        item.latency_ms = latency_ms
        item.start_ms = now_ms + not_available_ms

    def pick_one_at_least(self, which: int, now_ms: int) -> str | None:
        """Return a broker of the better half, None when nothing is known of any.

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
    """Line 5: a time of avoidance is never shortened; whether a broker is reachable counts."""

    def update(
        self,
        broker: str,
        latency_ms: int,
        not_available_ms: int,
        *,
        reachable: bool,
        now_ms: int,
    ) -> None:
        """Note a sending: its latency, the time to avoid the broker, whether it was reached."""
        item = self._item(broker)
        item.latency_ms = latency_ms
        if not_available_ms > 0:
            item.start_ms = max(item.start_ms, now_ms + not_available_ms)
        item.reachable = reachable

    def pick_one_at_least(self, order: Sequence[int]) -> str | None:
        """Return the first reachable broker in a drawn order, None when there is none.

        RocketMQ's own selection no longer calls it.

        Args:
            order: a permutation of the positions of `items()`; where it comes from is the
                caller's chance.
        """
        items = self.items()
        return next((items[at].broker for at in order if items[at].reachable), None)

    def due(self, now_ms: int) -> list[str]:
        """Return the brokers to be checked now, and note them for the next time in 2,000 ms."""
        found = []
        for item in self.items():
            if now_ms >= item.check_ms:
                item.check_ms = now_ms + DETECT_INTERVAL_MS
                found.append(item.broker)
        return found

    def detected(self, broker: str) -> None:
        """Note that a checked broker answered; one that did not keeps what was known of it."""
        item = self._items.get(broker)
        if item is not None:
            item.reachable = True
