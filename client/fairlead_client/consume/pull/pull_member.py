"""The common part of push and pull consumers: the pull service and its queues."""

import logging
from collections.abc import Sequence
from threading import current_thread
from typing import Final

from fairlead_client.consume.member import Member
from fairlead_client.consume.pull.flow_control import FlowControl, FlowLimits
from fairlead_client.consume.pull.kafka_source import KafkaSource
from fairlead_client.consume.pull.listener import QueueListener
from fairlead_client.consume.pull.message_source import MessageSource
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.process_queue_table import ProcessQueueTable
from fairlead_client.consume.pull.pull_service import PullService
from fairlead_client.consume.pull.queue_changes import QueueChanges
from fairlead_client.errors import RouteError, SettingsError
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.routes.subscribe_info import subscribe_info
from fairlead_client.routes.topic_route import TopicRoute
from fairlead_client.session.application import Application
from fairlead_client.session.clock import now_ms
from fairlead_client.session.events import DecisionWanted
from fairlead_client.session.failure import Failure
from fairlead_client.session.observer import Observer
from fairlead_client.session.timer import Timer
from fairlead_client.settings.client_settings import Settings
from fairlead_client.settings.keywords import check_function
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.route_reader import RouteReader
from fairlead_client.transport.tags import TAG_HEADER

logger = logging.getLogger(__name__)

JOIN_SECONDS: Final = 2.0
ROUTES_SECONDS: Final = 2.0
"""How long the first change of queues waits for the routes."""


class PullMember(Member):
    """A member with a pull service; the base of `PushConsumer` and `PullConsumer`.

    Args:
        settings: see `Settings`.
        ahead: whether the client pulls queues before the application asks.
        flow_limits: how much the client pulls ahead of one queue.
        message_source: where messages come from instead of Kafka.
        tag_header: the Kafka header that holds a message's tag.
        message_queue_changed: `f(topic, all, mine)`, called once per topic whose queues changed.
        offset_store: where to commit positions instead of Kafka's group offsets.
        observer: receives events.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        ahead: bool,
        flow_limits: FlowLimits | None,
        message_source: MessageSource | None,
        tag_header: str = TAG_HEADER,
        message_queue_changed: QueueListener | None,
        offset_store: OffsetStore | None,
        observer: Observer | None,
    ) -> None:
        if message_queue_changed is not None:
            call = "f(topic, all, mine)"
            check_function(type(self), "message_queue_changed", message_queue_changed, call)
            if settings.gateway:
                problem = "it needs every queue of a topic, which a gateway does not tell"
                raise SettingsError("message_queue_changed", problem, "leave it out")
        super().__init__(settings, offset_store=offset_store, observer=observer)
        self._flow = FlowControl(flow_limits or FlowLimits(), ordered=settings.ordered)
        self._timer = Timer("fairlead-consume-timer")
        self._unlocked: set[Queue] = set()
        self._pull_failure: Failure | None = None
        self._service = PullService(
            message_source
            or KafkaSource(settings, self.client_id, tag_header=tag_header, granted=self._granted),
            self._flow,
            still_mine=self._epoch_of,
            is_locked=self._is_locked,
            on_messages=self._on_messages,
            touched=self._touched,
            failed=self._pull_failed,
            observer=self._observer,
            ahead=ahead,
        )
        self._changes: QueueChanges | None = None
        self._routes: RouteReader | None = None
        self._readable: dict[str, Sequence[Queue]] = {}
        if message_queue_changed is not None:
            self._changes = QueueChanges(
                message_queue_changed, self._timer, self._every, self._mine_of
            )
            self._routes = RouteReader(settings, self.client_id, self._route_read)
        self._queue_table = ProcessQueueTable(self._observer, self._begun, self._changed)

    @property
    def _last_failure(self) -> Failure | None:
        # An error of pulling counts only if nothing else went wrong.
        return super()._last_failure or self._pull_failure

    @property
    def flow_controlled(self) -> dict[str, int]:
        """How often each limit held a pull back: `messages`, `size`, `span`, `lock`."""
        return dict(self._flow.counts)

    @property
    def pull_counts(self) -> dict[str, int]:
        """Counts of pulls: `offsets_illegal`, `no_matched`, `failed_pulls`."""
        return dict(self._service.counts)

    @property
    def pull_idle_ms(self) -> dict[Queue, int]:
        """How long ago the client last tried to pull each queue, in ms.

        A pull that a limit held back counts too.
        """
        at_ms = now_ms()
        return {
            work.queue: at_ms - work.last_pull_ms
            for work in self._queue_table.working()
            if work.last_pull_ms is not None
        }

    def assignment(self) -> Sequence[Queue]:
        """Return the queues whose messages may be handed out, in order."""
        self._check_fork()
        return [work.queue for work in self._queue_table.working()]

    def suspend(self) -> None:
        """Pull nothing until `resume`; queues, lease and cached messages stay."""
        self._check_fork()
        self._service.suspend()

    def resume(self) -> None:
        """Pull again, and ask the engine to decide at once.

        A group's `settle_ms` and `pause` still apply.
        """
        self._check_fork()
        self._service.resume()
        if self._thread is not None and not self._thread.ended.is_set():
            self._thread.report(DecisionWanted())

    def subscribe(self, topics: Sequence[str | Subscription]) -> None:
        """Change the subscription and its filters; the client tells the engine at once.

        Raises:
            SettingsError: as for the setting `topics`, or the message source cannot evaluate a
                filter; the old subscription stays.
        """
        self._check_fork()
        self._service.check(self._settings.subscribing(topics, 0))
        super().subscribe(topics)
        self._service.subscribe(self._subscribed)

    def lock(self, queue: Queue) -> bool:
        """Return whether this client has the queue's lock, which is its lease of the queue.

        The client asks nobody: the lease came with the queue, and heartbeats renew it. After an
        `unlock`, this call lets the client pull the queue again.
        """
        self._check_fork()
        self._unlocked.discard(queue)
        return self.is_locked(queue)

    def unlock(self, queue: Queue) -> None:
        """Stop pulling the queue until `lock`; cached messages are still handed out.

        The client stays the queue's owner. The effect ends when the queue moves away.
        """
        self._check_fork()
        self._unlocked.add(queue)

    def is_locked(self, queue: Queue) -> bool:
        """Return whether this client may consume the queue now, and nobody else may."""
        return self.still_mine(queue) is not None and queue not in self._unlocked

    def _is_locked(self, queue: Queue) -> bool:
        return self._epoch_of(queue) is not None and queue not in self._unlocked

    def _mark_doubtful(self, queue: Queue) -> None:
        self._queue_table.mark_doubtful(queue)

    def close(self, timeout_ms: int | None = None) -> None:
        """Leave the group as `Member.close` does, and end the pull service."""
        super().close(timeout_ms)
        for thread in (self._service, self._routes):
            if thread is not None and thread.is_alive() and thread is not current_thread():
                thread.join(JOIN_SECONDS)

    def _application(self) -> Application:
        return self._queue_table

    def _new_thread(self) -> ControlThread:
        thread = super()._new_thread()
        self._queue_table.connect(thread.report, self._ended)
        self._timer.start()
        self._service.start()
        if self._routes is not None:
            self._routes.start()
        return thread

    def _ended(self) -> None:
        self._service.stop()
        self._timer.stop()
        if self._routes is not None:
            self._routes.stop()

    def _begun(self, work: ProcessQueue) -> None:
        # A queue that comes back comes with its lock.
        self._unlocked.discard(work.queue)
        self._service.add(work)

    def _on_messages(self, work: ProcessQueue, count: int) -> None:
        raise NotImplementedError

    def _touched(self, work: ProcessQueue) -> None:
        self._queue_table.touch(work)

    def _pull_failed(self, error: Exception) -> None:
        self._pull_failure = Failure.now(error)

    def _changed(self, topic: str) -> None:
        if self._changes is not None:
            self._changes.changed(topic)

    def _route_read(self, topic: str, route: TopicRoute | None) -> None:
        try:
            self._readable[topic] = () if route is None else subscribe_info(topic, route)
        except RouteError as error:
            logger.warning("cannot use the route of %s: %s", topic, error)

    def _every(self, topic: str) -> Sequence[Queue]:
        """Return the readable queues of a topic, and always those of this client."""
        mine = [queue for queue, _ in self._mine_of(topic)]
        if self._routes is None or not self._routes.ready.wait(ROUTES_SECONDS):
            return mine
        return sorted({*self._readable.get(topic, ()), *mine})

    def _mine_of(self, topic: str) -> Sequence[tuple[Queue, Epoch]]:
        works = self._queue_table.working()
        return [(work.queue, work.epoch) for work in works if work.queue.topic == topic]
