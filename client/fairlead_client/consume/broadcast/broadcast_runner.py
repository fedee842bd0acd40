"""The thread of a broadcasting member: it follows the routes and keeps the member's offsets."""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf
from threading import Condition, Thread
from time import monotonic
from typing import Final

from kafka.errors import KafkaError

from fairlead_client.consume.broadcast.local_offsets import LocalOffset, LocalOffsets
from fairlead_client.consume.broadcast.offset_file import OffsetFile
from fairlead_client.consume.broadcast.queue_bounds import QueueBounds
from fairlead_client.consume.broadcast.queue_plan import QueuePlan, QueuePlanner, QueueStart
from fairlead_client.consume.broadcast.start_offset import start_offset
from fairlead_client.errors import FairleadClientError
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.routes.topic_route import TopicRoute
from fairlead_client.session.application import Application
from fairlead_client.session.events import Event, WorkStopped
from fairlead_client.session.failure import Failure, FailureLog
from fairlead_client.session.observer import Observer
from fairlead_client.session.rebalance_log import RebalanceLog
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.route_reader import RouteReader

logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 1.0
"""When to look up the offsets of a queue again; without them the queue does not begin."""
TURN_SECONDS: Final = 0.1


@dataclass(slots=True)
class _Tenure:
    epoch: Epoch
    identity: str | None
    stopping: bool = False


class BroadcastRunner(Thread):
    """Starts and stops every queue of the topics, and writes the member's offsets to its file.

    There is no handover and no lease, because nobody else's work depends on these queues. The
    epochs only distinguish one tenure of a queue from the next.

    Args:
        settings: the client's settings.
        client_id: the member's id.
        application: the application's side, which reads the queues; this thread calls it.
        offset_file: the open file.
        local: the content of the file.
        observer: receives the number of queues.
    """

    def __init__(
        self,
        settings: Settings,
        client_id: str,
        application: Application,
        *,
        offset_file: OffsetFile,
        local: LocalOffsets,
        observer: Observer,
    ) -> None:
        super().__init__(name="fairlead-broadcast", daemon=True)
        self._settings = settings
        self._application = application
        self._file = offset_file
        self._planner = QueuePlanner(local.offsets)
        self._offsets = dict(local.offsets)
        self._written = dict(local.offsets)
        self._local = local
        self._observer = observer
        self._rebalances = RebalanceLog(settings.group, client_id)
        self._topics = [entry.topic for entry in settings.subscriptions(0)]
        self._routes: dict[str, TopicRoute] = {}
        self._tenures: dict[Queue, _Tenure] = {}
        self._reader = RouteReader(settings, client_id, self._route_read)
        self._bounds = QueueBounds(settings, client_id)
        self._changed = Condition()
        self._routes_changed = True
        self._again_at = inf
        self._stopping = False
        self._numbers = count(1)
        self._failures = FailureLog(logger)
        self.last_failure: Failure | None = None

    # Any thread calls these.
    def subscribe(self, topics: Sequence[str]) -> None:
        """Read these topics from now on."""
        with self._changed:
            self._topics = list(topics)
            self._wake()

    def epoch_of(self, queue: Queue) -> Epoch | None:
        """Return the epoch of a queue that the member reads, else None."""
        tenure = self._tenures.get(queue)
        return None if tenure is None else tenure.epoch

    @property
    def epochs(self) -> Mapping[Queue, Epoch]:
        """The queues that the member reads."""
        with self._changed:
            return {
                queue: tenure.epoch
                for queue, tenure in self._tenures.items()
                if not tenure.stopping
            }

    def report(self, event: Event) -> None:
        """Note an event of the application's work."""
        if isinstance(event, WorkStopped):
            with self._changed:
                self._note(event.queue, event.epoch, event.offset)
                tenure = self._tenures.get(event.queue)
                if tenure is not None and tenure.epoch == event.epoch:
                    del self._tenures[event.queue]
                self._wake()

    def stop(self) -> None:
        """Stop every queue, write the offsets, and end soon."""
        with self._changed:
            self._stopping = True
            self._wake()

    # Its own thread does the rest.
    def run(self) -> None:
        """Serve until stopped; after an error, try again."""
        self._reader.start()
        next_write = monotonic() + self._settings.commit_ms / 1_000
        try:
            while not self._stopping:
                if self._is_due():
                    self._follow()
                    self._report_queues()
                self._take_progress()
                if monotonic() >= next_write:
                    next_write = monotonic() + self._settings.commit_ms / 1_000
                    self._write()
                with self._changed:
                    self._changed.wait_for(lambda: self._is_due() or self._stopping, TURN_SECONDS)
        finally:
            self._end()

    def _is_due(self) -> bool:
        """Whether the routes are known, and have changed or left queues to start again."""
        if not self._reader.ready.is_set():
            return False
        return self._routes_changed or monotonic() >= self._again_at

    def _follow(self) -> None:
        """Start and stop queues as the routes say; try again what fails."""
        self._again_at = inf
        with self._changed:
            self._routes_changed = False
            held = {queue: tenure.identity for queue, tenure in self._tenures.items()}
            try:
                plan = self._planner.plan(self._topics, self._routes, held, self._offsets)
            except FairleadClientError as error:
                self._report_failure(error)
                return
        self._stop_queues(plan)
        by_topic: dict[str, list[QueueStart]] = defaultdict(list)
        with self._changed:
            for start in plan.start:
                # A queue that still stops begins again afterwards.
                if start.queue not in self._tenures:
                    by_topic[start.queue.topic].append(start)
        for starts in by_topic.values():
            try:
                self._start_queues(starts)
            except KafkaError as error:
                self._report_failure(error)
                self._again_at = monotonic() + RETRY_SECONDS

    def _report_queues(self) -> None:
        queues = self.epochs
        self._observer.owned(len(queues))
        self._rebalances.log_all(queues)

    def _stop_queues(self, plan: QueuePlan) -> None:
        with self._changed:
            abandoned = [(queue, self._tenures.pop(queue, None)) for queue in plan.abandon]
            stopped = [
                (queue, tenure)
                for queue in plan.stop
                if (tenure := self._tenures.get(queue)) is not None and not tenure.stopping
            ]
        for queue, former in abandoned:
            if former is not None:
                # Its messages are gone with its former topic.
                self._application.abandon_work(queue, former.epoch)
        for queue, tenure in stopped:
            tenure.stopping = True
            self._application.stop_work(queue, tenure.epoch)

    def _start_queues(self, starts: Sequence[QueueStart]) -> None:
        bounds = self._bounds.look_up([start.queue for start in starts])
        for start in starts:
            offset = start_offset(
                bounds[start.queue], start.stored, self._settings.consume_from, late=start.late
            )
            if start.stored is not None and offset != start.stored:
                logger.warning(
                    "%s no longer has offset %d; reading from %d",
                    start.queue,
                    start.stored,
                    offset,
                )
            self._offsets[start.queue] = LocalOffset(offset, start.identity)
        # Before the first message: after a kill, the member must not start at a newer end.
        self._write()
        for start in starts:
            epoch = Epoch(0, next(self._numbers))
            with self._changed:
                self._tenures[start.queue] = _Tenure(epoch, start.identity)
            offset = self._offsets[start.queue].offset
            self._application.start_work(start.queue, epoch, Position(0, offset))

    def _take_progress(self) -> None:
        for made in self._application.collect_progress():
            with self._changed:
                self._note(made.queue, made.epoch, made.offset)

    def _note(self, queue: Queue, epoch: Epoch, offset: int | None) -> None:
        tenure = self._tenures.get(queue)
        if offset is not None and tenure is not None and tenure.epoch == epoch:
            self._offsets[queue] = LocalOffset(offset, tenure.identity)

    def _write(self) -> None:
        with self._changed:
            offsets = dict(self._offsets)
        if offsets == self._written:
            return
        try:
            self._file.write(LocalOffsets(self._local.group, self._local.client_id, offsets))
        except OSError as error:
            self._report_failure(error)
            self._observer.commit_failed()
            return
        self._written = offsets

    def _end(self) -> None:
        """Wait for messages in hand, write the offsets, and close everything."""
        for queue, tenure in list(self._tenures.items()):
            self._application.stop_work(queue, tenure.epoch)
        limit = self._settings.close_timeout_ms / 1_000
        with self._changed:
            if not self._changed.wait_for(lambda: not self._tenures, limit):
                logger.warning("%d queues were not finished in time", len(self._tenures))
        self._observer.owned(0)
        self._take_progress()
        self._write()
        self._application.closed()
        self._reader.stop()
        self._bounds.close()
        self._file.close()

    def _route_read(self, topic: str, route: TopicRoute | None) -> None:
        with self._changed:
            if route is None:
                self._routes.pop(topic, None)
            else:
                self._routes[topic] = route
            if topic in self._topics:
                self._wake()

    def _wake(self) -> None:
        self._routes_changed = True
        self._changed.notify_all()

    def _report_failure(self, error: Exception) -> None:
        self._failures.log(repr(error), "broadcasting failed: %s: %s", type(error).__name__, error)
        self.last_failure = Failure.now(error)
