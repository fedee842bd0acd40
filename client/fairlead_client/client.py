"""The client for applications that read their queues themselves, by two callbacks."""

from threading import current_thread
from typing import ClassVar, Unpack

from fairlead_client.consume.callbacks import Callbacks, OnAssigned, OnRevoked
from fairlead_client.consume.member import Member
from fairlead_client.model import Epoch, Queue
from fairlead_client.rocketmq.data_plane import store_of
from fairlead_client.session import events
from fairlead_client.session.application import Application
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword, check_function
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.offset_store import OffsetStore


class Client(Member):
    """Joins a group, and tells the application which queues to start and to stop reading.

    The client calls both callbacks one after another on a thread of their own, so a slow callback
    stops no heartbeat. If on_assigned raises, the client leaves with CallbackError, so that others
    get the queues. If on_revoked raises, the client releases the queue at its processed position.

    Args:
        on_assigned: `f(queue, offset)`: start reading the queue at the offset.
        on_revoked: `f(queue)`: finish the message in hand, stop, and return the next offset to
            read. None stands for the last offset given to `processed`. The client releases the
            queue only after this function has returned.
        offset_store: where to commit positions instead of Kafka's group offsets.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`.

    Raises:
        SettingsError: a setting cannot work.
    """

    HANDS_OVER: ClassVar[bool] = True

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
        super().__init__(chosen, offset_store=store_of(chosen, offset_store), observer=observer)
        self._callbacks = Callbacks(on_assigned, on_revoked, self._observer)

    def processed(
        self, queue: Queue, next_offset: int, epoch: Epoch | None = None, *, end: int | None = None
    ) -> bool:
        """Report that every message of the queue below `next_offset` is processed.

        Any thread may call it.

        Args:
            queue: the queue.
            next_offset: the next offset to read.
            epoch: the epoch under which the application processed the messages, if it keeps one.
                Without it, a late report about an earlier tenure of the queue may count here.
            end: the next offset to be written, if the application knows it (RocketMQ's maxOffset,
                Kafka's high watermark). The engine weighs the group's queues by it.

        Returns:
            Whether the report counts: False if the client does not own the queue.
        """
        self._check_fork()
        return self._callbacks.processed(queue, next_offset, epoch, end)

    def close(self, timeout_ms: int | None = None) -> None:
        """Stop and release every queue, then leave; a call from a callback does not wait."""
        self._check_fork()
        if self._thread is not None and current_thread() is self._callbacks.thread:
            self._closing = True
            # Whoever closes here expects no more calls.
            self._thread.report(events.LeaveRequested())
            return
        super().close(timeout_ms)

    def _application(self) -> Application:
        return self._callbacks

    def _new_thread(self) -> ControlThread:
        thread = super()._new_thread()
        self._callbacks.connect(thread.report, thread.still_mine)
        return thread
