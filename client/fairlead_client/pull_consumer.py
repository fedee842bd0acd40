"""The client that asks for messages itself: it polls the queues that it is given."""

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from types import TracebackType
from typing import Final, Unpack

from fairlead_client.consume.pull.flow_control import FlowLimits
from fairlead_client.consume.pull.listener import QueueListener
from fairlead_client.consume.pull.message_source import MessageSource, PullResult, PullStatus
from fairlead_client.consume.pull.messages import Messages
from fairlead_client.consume.pull.process_queue import UNDECIDED_MS, Batch, ProcessQueue
from fairlead_client.consume.pull.pull_member import PullMember
from fairlead_client.consume.pull.pull_service import DirectPull
from fairlead_client.errors import ClientClosedError, LifecycleError, SettingsError
from fairlead_client.message import Message
from fairlead_client.model import Queue
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.tags import TAG_HEADER

POLL_MESSAGES: Final = 500
PULL_MESSAGES: Final = 32
MARGIN_MS: Final = 5_000
"""So much longer than its own wait a pull may take: others are under way."""


class PullConsumer(PullMember):
    """Joins a group; the application polls, or pulls from offsets of its own, the queues it has.

    From the first `poll` on the queues are pulled ahead. `pull` needs no poll: whoever uses it
    alone says with `update_offset` how far it is. Calls are for one thread; `close`, `suspend`,
    `resume`, `still_mine` may come from any.

    Args:
        auto_commit: whether asking for the next messages says that those before are processed;
            otherwise `commit` says it.
        flow_limits, message_queue_changed, tag_header, message_source, offset_store, observer: as
            for `PushConsumer`.
        settings: see `Settings`.

    Raises:
        SettingsError: a setting that cannot work.
    """

    @by_keyword("topics", "group", "bootstrap")
    def __init__(
        self,
        *,
        auto_commit: bool = True,
        flow_limits: FlowLimits | None = None,
        message_queue_changed: QueueListener | None = None,
        tag_header: str = TAG_HEADER,
        message_source: MessageSource | None = None,
        offset_store: OffsetStore | None = None,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        super().__init__(
            Settings.of(type(self), settings, consume_type="pull"),
            ahead=False,
            flow_limits=flow_limits,
            message_source=message_source,
            tag_header=tag_header,
            message_queue_changed=message_queue_changed,
            offset_store=offset_store,
            observer=observer,
        )
        self._auto_commit = auto_commit
        self._ready: SimpleQueue[ProcessQueue | None] = SimpleQueue()
        self._in_hand: list[Batch] = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close; without an exception what was polled counts as processed, with auto_commit."""
        if kind is None and self._auto_commit:
            self.commit()
        super().__exit__(kind, error, traceback)

    def poll(self, timeout_ms: int = 1_000, max_messages: int = POLL_MESSAGES) -> Sequence[Message]:
        """Return the next messages of one queue, none when there are none within the time.

        Queues take turns.

        Raises:
            SettingsError: `max_messages` is below 1.
            ClientClosedError: the consumer was never started.
            FairleadClientError: what closed the client, such as DuplicateClientIdError.
        """
        self._check_fork()
        _check_most(max_messages)
        if self._thread is None:
            raise ClientClosedError("this consumer is not started; use `with`, or start()")
        self._observer.polled()
        if self._auto_commit:
            self.commit()
        self._service.pull_ahead()
        deadline = monotonic() + timeout_ms / 1_000
        while not self._queue_table.over:
            try:
                work = self._ready.get(timeout=max(0.0, deadline - monotonic()))
            except Empty:
                return ()
            if work is None:
                continue
            if not (self._mine(work) or work.stopping or work.dropped):
                # Its lease ran out, and nobody has said yet what becomes of it.
                self._timer.after(UNDECIDED_MS, partial(self._ready.put, work))
                continue
            batch = work.hand_out(max_messages)
            if batch is not None:
                self._ready.put(work)
                self._in_hand.append(batch)
                return Messages(work.queue, work.epoch, batch.records)
            if not work.end_turn():
                self._ready.put(work)
        self.wait()
        return ()

    def commit(self) -> None:
        """All that was polled is processed; of a queue taken away meanwhile it does not count.

        Nor of one whose lease ran out, or of which `still_mine` was None meanwhile; if the queue
        turns out to be this client's still, it is polled again.
        """
        self._check_fork()
        batches, self._in_hand = self._in_hand, []
        mine = {batch.work: self._mine(batch.work) for batch in batches}
        again = set()
        for batch in batches:
            if batch.doubtful or not mine[batch.work]:
                again.add(batch.work)
            else:
                batch.work.finish(batch)
        for work in mine:
            if work in again:
                work.recall()
                self._on_messages(work, 0)
            self._queue_table.settle(work)

    def pull(
        self,
        queue: Queue,
        offset: int,
        max_messages: int = PULL_MESSAGES,
        timeout_ms: int = 1_000,
    ) -> tuple[PullStatus, int, Sequence[Message]]:
        """Pull messages of a queue from an offset on; nothing of it is cached or committed.

        It is the application's own: while suspended it is done, of an unlocked queue it is not.

        Returns:
            How it ended, the offset to pull next, the messages.

        Raises:
            SettingsError: `max_messages` is below 1.
            ClientClosedError: the queue is not this client's, was taken away before the answer
                came, or the client is closed.
            LifecycleError: the queue is unlocked, or was before the answer came; see `lock`.
            TimeoutError: no answer; the source is asked again at the next pull.
        """
        self._check_fork()
        _check_most(max_messages)
        work = self._own(queue)
        self._check_locked(queue)
        answer: Future[PullResult] = Future()
        self._service.pull(DirectPull(work, offset, max_messages, timeout_ms, answer))
        result = answer.result((timeout_ms + MARGIN_MS) / 1_000)
        if self._own(queue) is not work:
            raise ClientClosedError(f"{queue} was taken away and came back; pull it again")
        self._check_locked(queue)
        return result.status, result.next_offset, Messages(queue, work.epoch, result.records)

    def seek(self, queue: Queue, offset: int) -> None:
        """Poll the queue from an offset on; what was polled of it before counts no more.

        What was committed does not go back: after a seek to a lower offset the group's position
        stays until it is passed. The operator's `offsets reset` moves it.

        Raises:
            ClientClosedError: the queue is not this client's.
        """
        self._check_fork()
        self._own(queue).seek(offset)

    def update_offset(self, queue: Queue, next_offset: int) -> None:
        """Everything of the queue below `next_offset`, which `pull` brought, is processed.

        Raises:
            ClientClosedError: the queue is not this client's.
        """
        self._check_fork()
        work = self._own(queue)
        work.seek(next_offset)
        self._queue_table.touch(work)

    def close(self, timeout_ms: int | None = None) -> None:
        """Leave; what was polled and not committed is read again by its next owner."""
        self._check_fork()
        self._queue_table.give_up()
        super().close(timeout_ms)

    def _mine(self, work: ProcessQueue) -> bool:
        return self._epoch_of(work.queue) == work.epoch

    def _own(self, queue: Queue) -> ProcessQueue:
        work = self._queue_table.work(queue)
        if work is None or not self._mine(work):
            raise ClientClosedError(f"{queue} is not this client's now; see assignment()")
        return work

    def _check_locked(self, queue: Queue) -> None:
        if queue in self._unlocked:
            raise LifecycleError(f"{queue} is unlocked; lock() it, then pull")

    def _on_messages(self, work: ProcessQueue, count: int) -> None:
        del count
        if work.begin_turn():
            self._ready.put(work)

    def _ended(self) -> None:
        super()._ended()
        self._ready.put(None)


def _check_most(max_messages: int) -> None:
    if max_messages < 1:
        raise SettingsError("max_messages", f"{max_messages} is too few", "1 or more")
