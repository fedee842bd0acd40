"""Consumes pulled messages: threads call the listener, concurrently or in order."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread, current_thread
from time import monotonic
from typing import Final, TypedDict, Unpack

from fairlead_client.consume.pull.failed_messages import BY_ATTEMPT, DEAD_LETTER, FailedMessages
from fairlead_client.consume.pull.listener import (
    ACK_ALL,
    SUSPEND_MS,
    ConsumeContext,
    ConsumeResult,
    Listener,
)
from fairlead_client.consume.pull.messages import Messages
from fairlead_client.consume.pull.process_queue import UNDECIDED_MS, Batch, ProcessQueue
from fairlead_client.message import Message, Record
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.observer import Observer
from fairlead_client.session.timer import Timer

logger = logging.getLogger(__name__)

AGAIN_MS: Final = 5_000
"""When a message that could not be sent back is consumed again."""
SUSPEND_LEAST_MS: Final = 10
SUSPEND_MOST_MS: Final = 30_000
TURN_MESSAGES: Final = 256
"""How many messages of one queue a thread consumes before another queue has its turn."""
TURN_SECONDS: Final = 0.05
"""A turn begins no further batch after this time, so a slow listener has one batch a turn."""
DEFAULTS: Final = {"ack_index": ACK_ALL, "delay": BY_ATTEMPT, "suspend_ms": SUSPEND_MS}


class Workers:
    """Threads that serve one queue of tasks, first come first served.

    Args:
        count: how many threads.
    """

    def __init__(self, count: int) -> None:
        self._tasks: SimpleQueue[tuple[Callable[..., object], tuple[object, ...]] | None]
        self._tasks = SimpleQueue()
        self.threads = [
            Thread(target=self._serve, name=f"fairlead-consume-{number}", daemon=True)
            for number in range(count)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self.threads:
            thread.start()

    def submit(self, function: Callable[..., object], *arguments: object) -> None:
        """Let a thread call a function."""
        self._tasks.put((function, arguments))

    def stop(self) -> None:
        """End the threads after all submitted tasks."""
        for _ in self.threads:
            self._tasks.put(None)

    @property
    def mine(self) -> bool:
        """Whether the caller is one of these threads."""
        return current_thread() in self.threads

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            function, arguments = task
            try:
                function(*arguments)
            except Exception:
                logger.exception("consuming failed")


class ConsumeArguments(TypedDict):
    """The keyword arguments of ConsumeService."""

    batch_max_size: int
    workers: Workers
    timer: Timer
    still_mine: Callable[[Queue], Epoch | None]
    batch_ended: Callable[[ProcessQueue], None]
    failed_messages: FailedMessages | None
    observer: Observer


class ConsumeService:
    """Hands pulled messages to the listener; the base of the concurrent and the orderly way.

    Args:
        listener: the application's function.
        batch_max_size: the most messages in one batch.
        workers: the threads that call the listener.
        timer: schedules batches that come again here.
        still_mine: returns the epoch under which the client owns a queue now.
        batch_ended: called with a queue when one of its batches is no longer in hand.
        failed_messages: keeps failed messages; None: they are consumed again here.
        observer: receives each message that was sent back.
    """

    def __init__(self, listener: Listener, **common: Unpack[ConsumeArguments]) -> None:
        self._listener = listener
        self._size = common["batch_max_size"]
        self._workers = common["workers"]
        self._timer = common["timer"]
        self._still_mine = common["still_mine"]
        self._batch_ended = common["batch_ended"]
        self._failed_messages = common["failed_messages"]
        self._observer = common["observer"]
        self.counts: Counter[str] = Counter()

    def deliver(self, work: ProcessQueue, count: int) -> None:
        """Let threads consume a queue that just got `count` messages."""
        raise NotImplementedError

    def _consume(self, batch: Batch) -> bool:
        """Consume a batch; return whether its queue goes on with the next one."""
        raise NotImplementedError

    def _run(self, work: ProcessQueue) -> None:
        left, until = TURN_MESSAGES, monotonic() + TURN_SECONDS
        while True:
            if not self._mine(work) and self._is_undecided(work):
                self._when_decided(work, self._run, work)
                return
            batch = work.hand_out(self._size)
            if batch is None:
                if work.end_turn():
                    return
                continue
            left -= len(batch.records)
            if not self._consume(batch):
                return
            if left <= 0 or monotonic() >= until:
                break
        self._workers.submit(self._run, work)

    def _consume_again(self, batch: Batch) -> None:
        """Consume a put-back batch once more, unless its queue has moved."""
        raise NotImplementedError

    def _mine(self, work: ProcessQueue) -> bool:
        return self._still_mine(work.queue) == work.epoch

    def _is_undecided(self, work: ProcessQueue) -> bool:
        """Whether a queue's lease ran out, and the session has not yet stopped its work."""
        return not (self._mine(work) or work.stopping or work.dropped)

    def _when_decided(
        self, work: ProcessQueue, function: Callable[..., object], *arguments: object
    ) -> None:
        """Let a worker call a function once the client owns a queue again, or has lost it."""
        if self._is_undecided(work):
            again = partial(self._when_decided, work, function, *arguments)
            self._timer.after(UNDECIDED_MS, again)
        else:
            self._workers.submit(function, *arguments)

    def _put_back(self, batch: Batch) -> None:
        """Consume a batch again that does not count because its lease ran out meanwhile.

        An application that asked `still_mine` has left it out. Nothing has failed, so it stays the
        same attempt.
        """
        if batch.work.put_back(batch):
            batch.attempt -= 1
            self._when_decided(batch.work, self._consume_again, batch)

    def _call(self, batch: Batch, context: ConsumeContext) -> ConsumeResult:
        work = batch.work
        messages = Messages(work.queue, work.epoch, batch.records)
        try:
            result = self._listener(messages, context)
        except BaseException:
            # This includes SystemExit and CancelledError: the listener must not end this thread.
            logger.exception("the listener raised for %r", messages)
            self.counts["listener_errors"] += 1
            result = ConsumeResult.RECONSUME_LATER
        if not type(context.ack_index) is type(context.delay) is type(context.suspend_ms) is int:
            _reset_bad_fields(context, messages)
        if isinstance(result, ConsumeResult):
            return result
        logger.warning("the listener returned %r for %r, which fails", result, messages)
        return ConsumeResult.RECONSUME_LATER

    def _send_back(self, message: Message, attempt: int, delay: int) -> bool:
        if self._failed_messages is None:
            return False
        try:
            self._failed_messages.send_back(message, attempt, delay)
        except Exception:
            logger.exception("%s at %d could not be sent back", message.queue, message.offset)
            self.counts["not_sent_back"] += 1
            return False
        self.counts["sent_back"] += 1
        end = message.offset + 1
        self._observer.passed(message.queue, message.epoch, message.offset, end, "sent_back")
        return True


class ConcurrentConsumeService(ConsumeService):
    """Consumes several batches of a queue at a time, handed out in the order of their offsets.

    It sends a failed message back, or consumes it again after 5 s if it cannot be sent back.
    """

    def deliver(self, work: ProcessQueue, count: int) -> None:
        """Let one more thread serve the queue for each batch, up to all threads."""
        threads = len(self._workers.threads)
        for _ in range(min(-(-count // self._size), threads)):
            if not work.begin_turn(threads):
                return
            self._workers.submit(self._run, work)

    def _consume_again(self, batch: Batch) -> None:
        work = batch.work
        if self._is_undecided(work):
            self._when_decided(work, self._consume_again, batch)
        elif work.hand_out_again(batch):
            self._consume(batch)

    def _consume(self, batch: Batch) -> bool:
        work = batch.work
        context = ConsumeContext(work.queue, batch.attempt)
        result = self._call(batch, context)
        consumed = context.ack_index + 1 if result is ConsumeResult.CONSUME_SUCCESS else 0
        if batch.doubtful or not self._mine(work):
            self._put_back(batch)
        elif consumed >= len(batch.records):
            work.finish(batch)
        else:
            self._fail(batch, batch.records[max(0, consumed) :], context.delay)
        self._batch_ended(work)
        return True

    def _fail(self, batch: Batch, records: Sequence[Record], delay: int) -> None:
        work = batch.work
        self.counts["failed"] += len(records)
        failed = Messages(work.queue, work.epoch, records)
        remaining = [
            record
            for record, message in zip(records, failed, strict=True)
            if not self._send_back(message, batch.attempt, delay)
        ]
        if not remaining:
            work.finish(batch)
        elif work.put_back(batch, remaining):
            self._timer.after(AGAIN_MS, lambda: self._workers.submit(self._consume_again, batch))


class OrderlyConsumeService(ConsumeService):
    """Runs each queue on one thread at a time; a failed batch comes again before any later one.

    Args:
        max_reconsume_times: how often a batch is consumed again before its messages go to the
            dead-letter topic; None: without limit.
        common: as for ConsumeService.
    """

    def __init__(
        self,
        listener: Listener,
        *,
        max_reconsume_times: int | None,
        **common: Unpack[ConsumeArguments],
    ) -> None:
        super().__init__(listener, **common)
        self._max_reconsume_times = max_reconsume_times

    def deliver(self, work: ProcessQueue, count: int) -> None:
        """Let a thread run the queue, unless one does."""
        del count
        if work.begin_turn():
            self._workers.submit(self._run, work)

    def _consume_again(self, batch: Batch) -> None:
        work = batch.work
        if self._is_undecided(work):
            self._when_decided(work, self._consume_again, batch)
        elif work.hand_out_again(batch) and self._consume(batch):
            self._run(work)

    def _consume(self, batch: Batch) -> bool:
        work = batch.work
        context = ConsumeContext(work.queue, batch.attempt)
        result = self._call(batch, context)
        goes_on = False
        if batch.doubtful or not self._mine(work):
            self._put_back(batch)
        elif result is ConsumeResult.CONSUME_SUCCESS or self._in_dead_letters(batch):
            goes_on = work.finish(batch)
        elif work.put_back(batch):
            self.counts["suspended"] += 1
            suspend_ms = min(max(context.suspend_ms, SUSPEND_LEAST_MS), SUSPEND_MOST_MS)
            self._timer.after(suspend_ms, lambda: self._workers.submit(self._consume_again, batch))
        self._batch_ended(work)
        return goes_on

    def _in_dead_letters(self, batch: Batch) -> bool:
        """Send a batch that failed too often to the dead-letter topic; return whether all is."""
        if self._max_reconsume_times is None or batch.attempt <= self._max_reconsume_times:
            return False
        work = batch.work
        messages = Messages(work.queue, work.epoch, batch.records)
        return all(self._send_back(message, batch.attempt, DEAD_LETTER) for message in messages)


def _reset_bad_fields(context: ConsumeContext, messages: Messages) -> None:
    for name, default in DEFAULTS.items():
        value = getattr(context, name)
        if not isinstance(value, int):
            problem = "context.%s is %r after %r, which is no int; using %d"
            logger.warning(problem, name, value, messages, default)
            setattr(context, name, default)
