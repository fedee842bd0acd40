"""The client for applications that read their queues themselves: two callbacks."""

from threading import current_thread
from typing import Unpack

from fairlead_client.consume.callbacks import Callbacks, OnAssigned, OnRevoked
from fairlead_client.consume.member import Member
from fairlead_client.model import Epoch, Queue
from fairlead_client.session import events
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword, check_function
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.session_thread import SessionThread


class Client(Member):
    """Joins a group, and says which queues to read from where and which to stop reading.

    Args:
        on_assigned: `f(queue, offset)`: start reading the queue at the offset.
        on_revoked: `f(queue)`: finish what is in hand, stop, return the next offset to read (or
            None: what was said with `processed`). The queue is released only after it returned.
        offset_store: where positions are committed instead of Kafka's group offsets.
        observer: told what happens, such as a ClientMetrics.
        settings: see `Settings`.

    Both callbacks are called one after another on one thread of their own; a slow one stops no
    heartbeat. If on_assigned raises, the client leaves with CallbackError, so that others get the
    queues; if on_revoked raises, the queue is released where it was processed to.

    Raises:
        SettingsError: a setting that cannot work.
    """

    @by_keyword("topics", "group", "bootstrap", "on_assigned", "on_revoked")
    def __init__(
        self,
        *,
        on_assigned: OnAssigned,
        on_revoked: OnRevoked,
        offset_store: OffsetStore | None = None,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        chosen = Settings.of(type(self), settings)
        check_function(type(self), "on_assigned", on_assigned, "f(queue, offset)")
        check_function(type(self), "on_revoked", on_revoked, "f(queue)")
        super().__init__(chosen, offset_store=offset_store, observer=observer)
        self._callbacks = Callbacks(on_assigned, on_revoked, self._observer)

    def processed(
        self, queue: Queue, next_offset: int, epoch: Epoch | None = None, *, end: int | None = None
    ) -> bool:
        """Everything of the queue below `next_offset` is processed; from any thread.

        Args:
            queue: the queue.
            next_offset: the next offset to read.
            epoch: the epoch under which it was processed, if the application keeps it; without, a
                late report about an earlier tenure of the queue may be taken for this one's.
            end: the next offset to be written, if the application knows it (RocketMQ's maxOffset,
                Kafka's high watermark): what the group's queues weigh is measured by it.

        Returns:
            Whether it counts: False when the queue is not, or no longer, this client's.
        """
        self._check_fork()
        return self._callbacks.processed(queue, next_offset, epoch, end)

    def close(self, timeout_ms: int | None = None) -> None:
        """Stop every queue, release each, leave; from a callback it returns without waiting."""
        self._check_fork()
        if self._thread is not None and current_thread() is self._callbacks.thread:
            self._closing = True
            self._thread.report(events.LeaveRequested())
            return
        super().close(timeout_ms)

    def _application(self) -> Application:
        return self._callbacks

    def _new_thread(self) -> SessionThread:
        thread = super()._new_thread()
        self._callbacks.connect(thread.report, thread.still_mine)
        return thread
