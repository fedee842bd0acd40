"""What a Consumer reads of a data plane that has a MessageSource: the next pull of each queue."""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise
from time import monotonic
from typing import Final

from fairlead_client.consume.in_flight import InFlight
from fairlead_client.consume.pull.message_source import MessageSource, PullResult, PullStatus
from fairlead_client.consume.reading import Ownership, Taken
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.clock import now_ms
from fairlead_client.session.failure import FailureLog
from fairlead_client.session.observer import Observer
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.offset_correction import report_correction

__all__ = ["SourceReading"]

logger = logging.getLogger(__name__)

SLICE_SECONDS: Final = 0.05
"""The longest pull. Only a message ends it early, so a new queue and stop() may wait this long."""
RETRY_SECONDS: Final = 0.2
EXCEPTION_MS: Final = 1_000


class SourceReading:
    """A Reading that pulls from a source, and asks for more when all of it is handed out.

    Args:
        source: the messages.
        in_flight: the work on the consumer's queues.
        ownership: what it may read.
        observer: receives events.
        failed: called with each error of a queue.
    """

    def __init__(
        self,
        source: MessageSource,
        in_flight: InFlight,
        ownership: Ownership,
        observer: Observer,
        failed: Callable[[Exception], None],
    ) -> None:
        self._source = source
        self._in_flight = in_flight
        self._ownership = ownership
        self._observer = observer
        self._failed = failed
        self._seen_changes = -1
        self._places: dict[Queue, tuple[Epoch, int]] = {}
        self._due_ms: dict[Queue, int] = {}
        self._taken: deque[Taken] = deque()
        self._subscriptions: tuple[Subscription, ...] | None = None
        self._failures: dict[Queue, FailureLog] = {}

    def connect(self, thread: ControlThread, deadline: float) -> None:
        """Connect to the source before the engine grants the first queue."""
        while True:
            try:
                self._source.connect()
            except Exception:
                if thread.ended.wait(RETRY_SECONDS) or monotonic() > deadline:
                    raise
            else:
                return

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Use these filters from the next pull on."""
        self._subscriptions = tuple(subscriptions)

    def again(self, queue: Queue) -> None:
        """Read a queue again from where its work stands."""
        self._places.pop(queue, None)

    def follow(self) -> None:
        """Read the queues that may be read, from where each goes on."""
        changes = self._in_flight.changes
        if changes == self._seen_changes:
            return
        readable = self._in_flight.readable()
        begun = {
            queue
            for queue, (epoch, _) in readable.items()
            if self._places.get(queue, (None,))[0] != epoch
        }
        # What was pulled for an earlier tenure would leave a gap before the new start.
        self._taken = deque(
            each for each in self._taken if each.queue in readable and each.queue not in begun
        )
        self._places = {
            queue: place if queue in begun else self._places[queue]
            for queue, place in readable.items()
        }
        self._due_ms = {queue: at_ms for queue, at_ms in self._due_ms.items() if queue in readable}
        self._source.follow(readable.keys())
        for queue in begun:
            self._observer.reading(queue, *readable[queue])
        self._seen_changes = changes

    def take(self) -> Taken | None:
        """Return the next thing that is pulled already; None: nothing is."""
        return self._taken.popleft() if self._taken else None

    def put_back(self, taken: Taken) -> None:
        """Take this again next time."""
        self._taken.appendleft(taken)

    def fetch(self, seconds: float) -> None:
        """Pull, and wait for the first message, for at most this long."""
        if self._subscriptions is not None:
            wanted, self._subscriptions = self._subscriptions, None
            self._source.subscribe(wanted)
        seconds = min(seconds, SLICE_SECONDS)
        now = now_ms()
        due = {
            queue: offset
            for queue, (epoch, offset) in self._places.items()
            if self._ownership.epoch_of(queue) == epoch and self._due_ms.get(queue, now) <= now
        }
        if not due:
            self._in_flight.wait_for_change(self._seen_changes, seconds)
            return
        for queue, result in self._source.pull(due, int(seconds * 1_000)).items():
            self._store(queue, due[queue], result)

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _store(self, queue: Queue, offset: int, result: PullResult) -> None:
        epoch = self._places[queue][0]
        if result.error is not None:
            failures = self._failures.setdefault(queue, FailureLog(logger))
            failures.log(
                repr(result.error), "cannot read %s: %r; trying again", queue, result.error
            )
            self._failed(result.error)
            self._due_ms[queue] = now_ms() + EXCEPTION_MS
            return
        self._failures.pop(queue, None)
        self._due_ms.pop(queue, None)
        self._places[queue] = epoch, result.next_offset
        if result.end is not None:
            self._in_flight.note_end(queue, epoch, result.end)
        if result.status is PullStatus.OFFSET_ILLEGAL:
            report_correction(self._observer, queue, epoch, offset, result.next_offset)
            self._in_flight.correct(queue, epoch, result.next_offset)
            return
        read = [each.offset for each in result.records]
        for begin, end in pairwise([offset - 1, *read, result.next_offset]):
            if begin + 1 < end:
                self._observer.passed(queue, epoch, begin + 1, end, "filtered")
        self._taken.extend(Taken(queue, epoch, record) for record in result.records)
        if result.next_offset > (read[-1] + 1 if read else offset):
            self._taken.append(Taken(queue, epoch, None, result.next_offset))
