"""The client whose application polls or pulls the messages of its queues."""

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
from fairlead_client.rocketmq.data_plane import source_of, store_of
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.tags import TAG_HEADER

POLL_MESSAGES: Final = 500
PULL_MESSAGES: Final = 32
MARGIN_MS: Final = 5_000
"""How much longer than its own wait a pull may take, because others may be under way."""


class PullConsumer(PullMember):
    """Joins a group; the application polls its queues, or pulls them from its own offsets.

    From the first `poll` on, the consumer pulls its queues ahead. `pull` needs no `poll`; an
    application that uses `pull` alone reports its position with `update_offset`. One thread makes
    the calls; any thread may call `close`, `suspend`, `resume` and `still_mine`.

    Args:
        auto_commit: whether the messages of one poll count as processed at the next poll;
            otherwise only `commit` counts.
        flow_limits, message_queue_changed, tag_header, message_source, offset_store, observer: as
            for `PushConsumer`.
        settings: see `Settings`.

    Raises:
        SettingsError: a setting cannot work.
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
        chosen = Settings.of(type(self), settings, consume_type="pull")
        super().__init__(
            chosen,
            ahead=False,
            flow_limits=flow_limits,
            message_source=source_of(chosen, message_source, tag_header, self._granted),
            tag_header=tag_header,
            message_queue_changed=message_queue_changed,
            offset_store=store_of(chosen, offset_store),
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
        """Close; with auto_commit polled messages count as processed, unless the block raised."""
        if kind is None and self._auto_commit:
            self.commit()
        super().__exit__(kind, error, traceback)

    def poll(self, timeout_ms: int = 1_000, max_messages: int = POLL_MESSAGES) -> Sequence[Message]:
        """Return the next messages of one queue, or none if none come within `timeout_ms`.

        Queues take turns.

        Raises:
            SettingsError: `max_messages` is below 1.
            ClientClosedError: nobody has started the consumer.
            FairleadClientError: the error that closed the client, such as DuplicateClientIdError.
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
                # Its lease ran out; the session has not yet decided whether the queue is lost.
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
        """Report that all polled messages are processed.

        Messages of a queue do not count if the queue has moved, if its lease ran out, or if
        `still_mine` returned None for it meanwhile. If the client still owns the queue, a later
        poll returns them again.
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
            self._queue_table.batch_ended(work)

    def pull(
        self,
        queue: Queue,
        offset: int,
        max_messages: int = PULL_MESSAGES,
        timeout_ms: int = 1_000,
    ) -> tuple[PullStatus, int, Sequence[Message]]:
        """Pull messages of a queue from an offset on, without caching or committing them.

        It works while the consumer is suspended, but not for an unlocked queue.

        Returns:
            The status, the offset to pull next, and the messages.

        Raises:
            SettingsError: `max_messages` is below 1.
            ClientClosedError: the client does not own the queue, lost it before the answer came,
                or is closed.
            LifecycleError: the queue is unlocked, or became so before the answer came; see `lock`.
            TimeoutError: no answer came in time; call `pull` again.
        """
        self._check_fork()
        _check_most(max_messages)
        work = self._own(queue)
        self._check_locked(queue)
        answer: Future[PullResult] = Future()
        self._service.pull(DirectPull(work, offset, max_messages, timeout_ms, answer))
        result = answer.result((timeout_ms + MARGIN_MS) / 1_000)
        if self._own(queue) is not work:
            raise ClientClosedError(f"{queue} moved away and came back; pull it again")
        self._check_locked(queue)
        return result.status, result.next_offset, Messages(queue, work.epoch, result.records)

    def seek(self, queue: Queue, offset: int) -> None:
        """Poll the queue from this offset on; messages polled before no longer count.

        The group's position does not go back: after a seek to a lower offset it stays until the
        work passes it. Only the operator's `offsets reset` moves it back.

        Raises:
            ClientClosedError: the client does not own the queue.
        """
        self._check_fork()
        self._own(queue).seek(offset)

    def update_offset(self, queue: Queue, next_offset: int) -> None:
        """Report that all messages of the queue below `next_offset` are processed, after `pull`.

        Raises:
            ClientClosedError: the client does not own the queue.
        """
        self._check_fork()
        work = self._own(queue)
        work.seek(next_offset)
        self._queue_table.touch(work)

    def close(self, timeout_ms: int | None = None) -> None:
        """Leave; the next owner reads messages again that were polled and not committed."""
        self._check_fork()
        self._queue_table.give_up()
        super().close(timeout_ms)

    def _mine(self, work: ProcessQueue) -> bool:
        return self._epoch_of(work.queue) == work.epoch

    def _own(self, queue: Queue) -> ProcessQueue:
        work = self._queue_table.find(queue)
        if work is None or not self._mine(work):
            raise ClientClosedError(f"this client does not own {queue} now; see assignment()")
        return work

    def _check_locked(self, queue: Queue) -> None:
        if queue in self._unlocked:
            raise LifecycleError(f"{queue} is unlocked; call lock(), then pull")

    def _on_messages(self, work: ProcessQueue, count: int) -> None:
        del count
        if work.begin_turn():
            self._ready.put(work)

    def _ended(self) -> None:
        super()._ended()
        self._ready.put(None)


def _check_most(max_messages: int) -> None:
    if max_messages < 1:
        raise SettingsError("max_messages", f"{max_messages} is too few", "give 1 or more")
