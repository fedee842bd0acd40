"""The schedule of a retry topic: which messages are due, and which queues wait until when."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from fairlead_client.consume.retry.delay_level import LEVELS, delay_ms
from fairlead_client.consume.retry.redelivery import redelivery_of
from fairlead_client.model import Queue


class Delayed(Protocol):
    """A message as its source returns it."""

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
    """The queues whose next message is not due yet.

    Such a queue waits, and its position stays before the message, so a crash loses none. All other
    queues go on. A message waits at most its level's delay after it was first seen here, so a
    sender's fast clock stops nobody for long.
    """

    def __init__(self) -> None:
        self._parked: dict[Queue, _Parked] = {}

    def follow(self, queues: Iterable[Queue]) -> None:
        """Forget all queues but these."""
        held = set(queues)
        self._parked = {queue: parked for queue, parked in self._parked.items() if queue in held}

    def waits(self, queue: Queue, offset: int, now_ms: int) -> bool:
        """Return whether the queue's message at this offset is not due yet."""
        parked = self._parked.get(queue)
        return parked is not None and parked.offset == offset and parked.until_ms > now_ms

    def next_due_ms(self, now_ms: int) -> int | None:
        """Return when the next waiting queue goes on; None: no queue waits."""
        times = (parked.until_ms for parked in self._parked.values())
        return min((until_ms for until_ms in times if until_ms > now_ms), default=None)

    def due(self, queue: Queue, records: Sequence[Pulled], now_ms: int) -> Sequence[Pulled]:
        """Return the records before the first one that is not due, and park the queue there.

        Args:
            queue: the records' queue.
            records: the records in order.
            now_ms: the time in ms since 1970.
        """
        for number, record in enumerate(records):
            redelivery = redelivery_of(record.headers)
            if redelivery is None or redelivery.due_ms is None or redelivery.due_ms <= now_ms:
                continue
            parked = self._parked.get(queue)
            if parked is not None and parked.offset == record.offset:
                if parked.until_ms <= now_ms:
                    continue
            else:
                level = min(max(redelivery.delay_level or LEVELS, 1), LEVELS)
                until_ms = min(redelivery.due_ms, now_ms + delay_ms(level))
                self._parked[queue] = _Parked(record.offset, until_ms)
            return records[:number]
        self._parked.pop(queue, None)
        return records
