"""The pull service: one thread that pulls all queues of a client, fairly.

Each queue has one pull request, due now or later. In each turn the service takes all due requests,
holds back some of them, and asks the source for the rest at once.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import pairwise
from threading import Condition, Thread
from typing import Final

from fairlead_client.consume.pull.flow_control import FlowControl
from fairlead_client.consume.pull.message_source import MessageSource, PullResult, PullStatus
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.pull_schedule import PullSchedule
from fairlead_client.errors import ClientClosedError, LifecycleError
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.clock import now_ms
from fairlead_client.session.failure import FailureLog
from fairlead_client.session.observer import Observer
from fairlead_client.transport.offset_correction import report_correction

logger = logging.getLogger(__name__)

FLOW_CONTROL_MS: Final = 50
SUSPENDED_MS: Final = 1_000
EXCEPTION_MS: Final = 1_000
WAIT_MS: Final = 100
"""The longest pull. It cannot be woken, so an added queue may wait this long."""
IDLE_WAIT_MS: Final = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class DirectPull:
    """One pull that the application asked for; its messages are not cached."""

    work: ProcessQueue
    offset: int
    most: int
    wait_ms: int
    answer: Future[PullResult]


class PullService(Thread):
    """Pulls until it is stopped.

    Args:
        source: where messages come from; only this thread uses it, except for `check`.
        flow: the flow control.
        still_mine: returns the epoch under which the client owns a queue now.
        is_locked: whether the client may pull a queue: it owns it, and has not unlocked it.
        on_messages: called with a queue that got messages, and their number.
        touched: called with a queue whose position may have moved.
        failed: called with each error.
        observer: receives corrected and skipped offsets.
        ahead: whether the service pulls queues before the application asks, see `pull_ahead`.
    """

    def __init__(
        self,
        source: MessageSource,
        flow: FlowControl,
        *,
        still_mine: Callable[[Queue], Epoch | None],
        is_locked: Callable[[Queue], bool],
        on_messages: Callable[[ProcessQueue, int], None],
        touched: Callable[[ProcessQueue], None],
        failed: Callable[[Exception], None],
        observer: Observer,
        ahead: bool = True,
    ) -> None:
        super().__init__(name="fairlead-pull", daemon=True)
        self._source = source
        self._flow = flow
        self._still_mine = still_mine
        self._is_locked = is_locked
        self._on_messages = on_messages
        self._touched = touched
        self._failed = failed
        self._observer = observer
        self._changed = Condition()
        self._schedule: PullSchedule[ProcessQueue] = PullSchedule()
        self._held: dict[Queue, ProcessQueue] = {}
        self._added: list[ProcessQueue] = []
        self._direct: list[DirectPull] = []
        self._subscriptions: tuple[Subscription, ...] | None = None
        self._suspended = False
        self._ahead = ahead
        self._pull_now = False
        self._followed = True
        self._over = False
        self._failures = FailureLog(logger)
        self._queue_failures: dict[Queue, FailureLog] = {}
        self.counts: Counter[str] = Counter()

    @property
    def suspended(self) -> bool:
        """Whether the service pulls nothing until `resume`."""
        return self._suspended

    # Any thread calls these.
    def add(self, work: ProcessQueue) -> None:
        """Pull this queue from now on, until it is dropped or stops."""
        with self._changed:
            self._added.append(work)
            self._changed.notify()

    def pull(self, request: DirectPull) -> None:
        """Do one pull; the request's future gets the result."""
        with self._changed:
            if self._over:
                request.answer.set_exception(ClientClosedError("this consumer is closed"))
                return
            self._direct.append(request)
            self._changed.notify()

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Check that the source can evaluate these filters.

        Raises:
            SettingsError: the source cannot evaluate a filter.
        """
        self._source.check(subscriptions)

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Use these filters from the next pull on."""
        with self._changed:
            self._subscriptions = tuple(subscriptions)
            self._changed.notify()

    def pull_ahead(self) -> None:
        """Pull queues ahead from now on."""
        if not self._ahead:
            with self._changed:
                self._ahead = self._pull_now = True
                self._changed.notify()

    def suspend(self) -> None:
        """Pull nothing until `resume`."""
        self._suspended = True

    def resume(self) -> None:
        """Pull again, at once."""
        with self._changed:
            self._suspended = False
            self._pull_now = True
            self._changed.notify()

    def stop(self) -> None:
        """End after the pull under way."""
        with self._changed:
            self._over = True
            self._changed.notify()

    # Its own thread does the rest.
    def run(self) -> None:
        """Pull until stopped; after an error, try again."""
        try:
            self._connect()
            while not self._over:
                try:
                    self._turn()
                except Exception as error:  # noqa: BLE001 - the thread must go on
                    self._report_failure(error)
                    self._pause()
                    # The failed turn has removed the due requests from the schedule.
                    for work in self._held.values():
                        self._schedule.now(work)
        finally:
            with self._changed:
                self._over = True
                unanswered, self._direct = self._direct, []
            for request in unanswered:
                request.answer.set_exception(ClientClosedError("this consumer is closed"))
            self._source.close()

    def _connect(self) -> None:
        while not self._over:
            try:
                self._source.connect()
            except Exception as error:  # noqa: BLE001 - any error is reported and tried again
                self._report_failure(error)
                self._pause()
            else:
                return

    def _pause(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._over, EXCEPTION_MS / 1_000)

    def _turn(self) -> None:
        self._apply_changes()
        for request in self._take_direct_pulls():
            self._answer(request)
        at_ms = now_ms()
        asked: dict[ProcessQueue, int] = {}
        for work in self._schedule.pop_due(at_ms):
            if self._admit(work, at_ms):
                asked[work] = work.next_offset
        due_ms = self._schedule.next_due_ms()
        left_ms = IDLE_WAIT_MS if due_ms is None else max(0, due_ms - at_ms)
        if asked:
            self._pull(asked, min(left_ms, WAIT_MS))
            return
        with self._changed:
            if not (self._added or self._direct or self._pull_now or self._over):
                self._changed.wait(left_ms / 1_000)

    def _apply_changes(self) -> None:
        with self._changed:
            added, self._added = self._added, []
            pull_now, self._pull_now = self._pull_now, False
            subscriptions, self._subscriptions = self._subscriptions, None
        if subscriptions is not None:
            self._subscribe(subscriptions)
        gone = [queue for queue, work in self._held.items() if work.stopping or work.dropped]
        for queue in gone:
            del self._held[queue]
            self._queue_failures.pop(queue, None)
        for work in added:
            self._held[work.queue] = work
            self._schedule.now(work)
        if gone or added:
            self._flow.share_out(self._held)
            self._followed = False
        if not self._followed:
            self._source.follow(self._held.keys())
            self._followed = True
        if pull_now:
            self._schedule.make_all_due()

    def _subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        try:
            self._source.subscribe(subscriptions)
        except Exception as error:  # noqa: BLE001 - the source may be the application's own
            self._report_failure(error)

    def _take_direct_pulls(self) -> list[DirectPull]:
        if not self._direct:
            return []
        with self._changed:
            taken, self._direct = self._direct, []
        return taken

    def _admit(self, work: ProcessQueue, at_ms: int) -> bool:
        """Return whether to pull a queue in this turn; if not, it is due later or gone."""
        if not self._holds(work):
            return False
        if not self._ahead:
            self._schedule.later(work, at_ms + SUSPENDED_MS)
            return False
        work.last_pull_ms = at_ms
        if self._suspended:
            self._schedule.later(work, at_ms + SUSPENDED_MS)
            return False
        if self._flow.hold_back(work, locked=self._is_locked(work.queue)) is not None:
            self._schedule.later(work, at_ms + FLOW_CONTROL_MS)
            return False
        if self._still_mine(work.queue) != work.epoch:
            # The lease is over, or the session will stop the queue soon.
            self._schedule.later(work, at_ms + EXCEPTION_MS)
            return False
        return True

    def _holds(self, work: ProcessQueue) -> bool:
        return not (work.stopping or work.dropped) and self._held.get(work.queue) is work

    def _pull(self, asked: dict[ProcessQueue, int], wait_ms: int) -> None:
        try:
            results = self._source.pull(
                {work.queue: offset for work, offset in asked.items()}, wait_ms
            )
        except Exception as error:  # noqa: BLE001 - any error is reported and tried again
            self._report_failure(error)
            due_ms = now_ms() + EXCEPTION_MS
            for work in asked:
                self._schedule.later(work, due_ms)
            return
        self._failures.clear()
        for work, offset in asked.items():
            result = results.get(work.queue)
            if result is not None and result.error is not None:
                failures = self._queue_failures.setdefault(work.queue, FailureLog(logger))
                self._report_failure(result.error, failures)
                self._schedule.later(work, now_ms() + EXCEPTION_MS)
                continue
            if result is not None:
                self._queue_failures.pop(work.queue, None)
                self._store_result(work, offset, result)
            self._schedule.now(work)

    def _store_result(self, work: ProcessQueue, offset: int, result: PullResult) -> None:
        if result.status is PullStatus.OFFSET_ILLEGAL:
            self._correct(work, offset, result.next_offset)
        elif result.status is PullStatus.NO_MATCHED_MSG:
            self.counts["no_matched"] += 1
        moved = result.next_offset != offset
        if result.end is not None and result.end != work.end:
            work.end = result.end
            moved = True
        if result.records or moved:
            self._report_gaps(work, offset, result)
            if not work.put(result.records, offset, result.next_offset):
                return
            if result.records:
                self._on_messages(work, len(result.records))
        if moved:
            self._touched(work)

    def _report_gaps(self, work: ProcessQueue, offset: int, result: PullResult) -> None:
        """Report the offsets that the source skipped, because nobody wants their messages."""
        if result.status is PullStatus.OFFSET_ILLEGAL:
            return
        for begin, end in pairwise(
            [offset - 1, *(record.offset for record in result.records), result.next_offset]
        ):
            if begin + 1 < end:
                self._observer.passed(work.queue, work.epoch, begin + 1, end, "filtered")

    def _correct(self, work: ProcessQueue, offset: int, corrected: int) -> None:
        self.counts["offsets_illegal"] += 1
        report_correction(self._observer, work.queue, work.epoch, offset, corrected)

    def _answer(self, request: DirectPull) -> None:
        work = request.work
        if not self._holds(work) or self._still_mine(work.queue) != work.epoch:
            lost = ClientClosedError(f"this client does not own {work.queue}")
            request.answer.set_exception(lost)
            return
        if not self._is_locked(work.queue):
            request.answer.set_exception(LifecycleError(f"{work.queue} was unlocked meanwhile"))
            return
        work.last_pull_ms = now_ms()
        try:
            results = self._source.pull({work.queue: request.offset}, request.wait_ms, request.most)
            result = results.get(work.queue, PullResult(PullStatus.NO_NEW_MSG, request.offset))
            if result.status is PullStatus.OFFSET_ILLEGAL:
                self._correct(work, request.offset, result.next_offset)
        except Exception as error:  # noqa: BLE001 - the application gets any error
            request.answer.set_exception(error)
            return
        if result.error is not None:
            request.answer.set_exception(result.error)
            return
        request.answer.set_result(result)

    def _report_failure(self, error: Exception, failures: FailureLog | None = None) -> None:
        """Report an error, of one queue if its log is given."""
        (failures or self._failures).log(repr(error), "pulling failed: %r", error)
        self.counts["failed_pulls"] += 1
        self._failed(error)
