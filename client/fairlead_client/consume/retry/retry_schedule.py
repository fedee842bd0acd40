"""Which messages of a retry topic may be consumed now, and which queue waits until when."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from fairlead_client.consume.retry.delay_level import LEVELS, delay_ms
from fairlead_client.consume.retry.redelivery import redelivery_of
from fairlead_client.model import Queue


class Delayed(Protocol):
    """A message as its source has it."""

    @property
    def offset(self) -> int:
        """Its offset."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]:
        """Its headers."""


Pulled = TypeVar("Pulled", bound=Delayed)


class _Parked(NamedTuple):
    offset: int
    until_ms: int


class RetrySchedule:
    """Queues whose next message is not due.

    Such a queue waits: its position does not pass the message, so that a crash loses none. All
    others go on. No message waits longer than the delay of its level after it was seen here first,
    so that a sender's clock that is ahead stops nobody for long.
    """

    def __init__(self) -> None:
        self._parked: dict[Queue, _Parked] = {}

    def follow(self, queues: Iterable[Queue]) -> None:
        """Forget all other queues: whoever gets one back begins anew."""
        held = set(queues)
        self._parked = {queue: one for queue, one in self._parked.items() if queue in held}

    def waits(self, queue: Queue, offset: int, now_ms: int) -> bool:
        """Tell whether there is nothing to pull from this offset on yet."""
        parked = self._parked.get(queue)
        return parked is not None and parked.offset == offset and parked.until_ms > now_ms

    def next_due_ms(self, now_ms: int) -> int | None:
        """Return when the next queue that waits goes on; None: none waits."""
        return min(
            (one.until_ms for one in self._parked.values() if one.until_ms > now_ms), default=None
        )

    def due(self, queue: Queue, records: Sequence[Pulled], now_ms: int) -> Sequence[Pulled]:
        """Return the first of these records, up to one that is not due; park the queue before it.

        Args:
            queue: whose they are.
            records: in order.
            now_ms: the time, in ms since 1970.
        """
        for number, record in enumerate(records):
            told = redelivery_of(record.headers)
            if told is None or told.due_ms is None or told.due_ms <= now_ms:
                continue
            parked = self._parked.get(queue)
            if parked is not None and parked.offset == record.offset:
                if parked.until_ms <= now_ms:
                    continue
            else:
                level = min(max(told.delay_level or LEVELS, 1), LEVELS)
                until_ms = min(told.due_ms, now_ms + delay_ms(level))
                self._parked[queue] = _Parked(record.offset, until_ms)
            return records[:number]
        self._parked.pop(queue, None)
        return records
