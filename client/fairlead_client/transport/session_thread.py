"""The thread that owns the session: it takes events from one inbox and does the actions.

It waits neither for brokers nor for the application, so neither can delay heartbeats.
"""

import logging
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Thread
from uuid import uuid4

from kafka.errors import KafkaError

from fairlead_client.errors import NoticeError
from fairlead_client.model import Epoch, Queue
from fairlead_client.session import actions, events
from fairlead_client.session.application import Application
from fairlead_client.session.clock import now_ms, wall_ms
from fairlead_client.session.failure import Failure
from fairlead_client.session.observer import Observer
from fairlead_client.session.rebalance_log import RebalanceLog
from fairlead_client.session.records import Assignment
from fairlead_client.session.session import Granted, Session
from fairlead_client.session.states import SessionState
from fairlead_client.session.waiting_log import Waiting, WaitingLog
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.control_end import NOTHING, end_control
from fairlead_client.transport.control_reader import CaughtUp, ControlReader
from fairlead_client.transport.control_writer import ControlWriter
from fairlead_client.transport.encoding import Encoder
from fairlead_client.transport.offset_store import Committer, OffsetStore

logger = logging.getLogger(__name__)

EVENTS_PER_TURN_MAX = 1_000
NOTHING_SAID = Granted()


class SessionThread(Thread):
    """Runs one session until it is closed.

    Attributes:
        joined: set when the client has its first lease, or has ended without one.
        ended: set when the session is closed and its other threads are stopping.
        ownership: the queues that the application may work on; any thread may read it.
        waiting_for: why the client waits for queues; None: it has all it was promised.
        last_failure: the last error and its time.
        error: the error that closed the client; None if the application did.
    """

    def __init__(
        self,
        session: Session,
        settings: Settings,
        client_id: str,
        encoder: Encoder,
        application: Application,
        *,
        store: OffsetStore | None,
        observer: Observer,
    ) -> None:
        super().__init__(name="fairlead-session", daemon=True)
        self._session = session
        self._settings = settings
        self._client_id = client_id
        self._encoder = encoder
        self._application = application
        self._observer = observer
        self._rebalances = RebalanceLog(settings.group, client_id)
        self._inbox: SimpleQueue[events.Event | CaughtUp | None] = SimpleQueue()
        self._reader = ControlReader(
            settings, client_id, self._inbox.put, self._note_failure, observer
        )
        self._committer = (
            None if store is None else Committer(store, self._inbox.put, self._commit_failed)
        )
        self._writer: ControlWriter | None = None
        self._first_writer: Future[ControlWriter] | None = Future()
        self._abort = False
        self.joined = Event()
        self.ended = Event()
        self.ownership = NOTHING
        self._waiting = WaitingLog(settings.group, client_id)
        self.waiting_for: Waiting | None = None
        self.last_failure: Failure | None = None
        self.error: Exception | None = None

    @property
    def state(self) -> SessionState:
        """The client's state."""
        return self._session.state

    @property
    def counts(self) -> dict[str, int]:
        """Counts of events, with those of unreadable records."""
        return dict(self._session.counts) | {
            "records_malformed": self._reader.malformed,
            "batches_passed_over": self._reader.passed_over,
        }

    def report(self, event: events.Event) -> None:
        """Send an event to the session; any thread may call it."""
        self._inbox.put(event)

    def abort(self) -> None:
        """End without leaving, so that the lease ends by itself; any thread may call it."""
        self._abort = True
        self._inbox.put(None)

    @property
    def gated(self) -> bool:
        """Whether a queue may start at any moment; any thread may read it."""
        return self.ownership.gated

    def still_mine(self, queue: Queue) -> Epoch | None:
        """Return the queue's epoch while the lease surely runs; any thread may call it.

        It reads the clock itself, so it is right even while this thread is blocked.
        """
        owned = self.ownership
        return owned.epochs.get(queue) if now_ms() < owned.until_ms else None

    def granted(self, queue: Queue) -> Granted:
        """Return the grant of a queue that this client works on; any thread may call it."""
        return self.ownership.granted.get(queue, NOTHING_SAID)

    def run(self) -> None:
        """Serve until the session is closed, somebody aborts the client, or a bug ends it."""
        Thread(
            target=self._make_writer,
            args=(self._first_writer,),
            name="fairlead-writer-start",
            daemon=True,
        ).start()
        self._reader.start()
        if self._committer is not None:
            self._committer.start()
        try:
            while self.state is not SessionState.CLOSED and not self._abort:
                self._turn()
        except Exception as error:
            logger.exception("the session's thread failed; the client stops")
            self.error = error
            self._note_failure(error)
        finally:
            self._end()

    def _turn(self) -> None:
        wait_ms = self._session.next_deadline_ms() - now_ms()
        try:
            first = self._inbox.get(timeout=max(0, wait_ms) / 1_000)
        except Empty:
            first = None
        self._handle_message(first)
        for _ in range(EVENTS_PER_TURN_MAX):
            try:
                self._handle_message(self._inbox.get_nowait())
            except Empty:
                break
        self._handle(events.TimePassed())
        self.waiting_for = self._waiting.update(self._session.waiting, now_ms(), wall_ms())

    def _handle_message(self, message: events.Event | CaughtUp | None) -> None:
        # Progress made before the message counts before it: the message may be the end of the work,
        # or cause claims with its position.
        for progress in self._application.collect_progress():
            self._handle(progress)
        if isinstance(message, CaughtUp):
            self._begin_incarnation(message.generation)
        elif message is not None:
            if isinstance(message, events.AssignmentRead):
                self._observer.assignment_read()
            self._handle(message)

    def _handle(self, event: events.Event) -> None:
        done = self._session.handle(event, now_ms())
        if done or isinstance(event, events.HeartbeatAppended | events.AssignmentRead):
            # Before the actions: a started queue must be ours by then, a released one must not.
            before = len(self.ownership.epochs)
            self.ownership = self._session.ownership
            if len(self.ownership.epochs) != before:
                self._observer.owned(len(self.ownership.epochs))
        if self.state is SessionState.RUNNING:
            self.joined.set()
        if isinstance(event, events.AssignmentRead):
            self._log_share(event.record)
        for action in done:
            self._do_action(action)

    def _log_share(self, record: Assignment) -> None:
        """Log the client's share, unless the record is old and no longer counts."""
        joining = self.state in (SessionState.STARTING, SessionState.RUNNING)
        if joining and record.generation == self._session.generation:
            self._rebalances.log_share(self._session.share, record.epoch)

    def _do_action(self, action: actions.Action) -> None:
        application = self._application
        match action:
            case actions.StartWork(queue, epoch, position):
                application.start_work(queue, epoch, position)
            case actions.StopWork(queue, epoch):
                self._observer.revoked()
                application.stop_work(queue, epoch)
            case actions.AbandonWork(queue, epoch):
                logger.warning("%s took too long to stop; released it anyway", queue)
                application.abandon_work(queue, epoch)
            case actions.StopEverything(reason, work):
                logger.warning("stopped everything: %s", reason)
                self._rebalances.forget()
                application.stop_everything(work)
            case actions.CommitProgress():
                assert self._committer is not None
                self._committer.commit(action)
            case actions.NewIncarnationNeeded(reason):
                logger.info("new incarnation: %s", reason)
                self._close_writer()
                self._reader.catch_up()
            case actions.ReportNotice(code, message):
                self._note_failure(NoticeError(code, message))
                logger.warning("notice from the engine: %s: %s", code, message)
            case actions.Stopped(error):
                self.error = error
                if error is not None:
                    self._note_failure(error)
            case actions.Follow() | actions.Freeze() | actions.StopFollowing():
                raise AssertionError("no application of this library stands by")
            case _:
                # All other actions send a record, and an incarnation has a writer.
                assert self._writer is not None
                self._writer.send(action)

    def _begin_incarnation(self, generation: int) -> None:
        if self.state not in (SessionState.NEW, SessionState.FENCED):
            return
        try:
            made, self._first_writer = self._first_writer, None
            self._writer = self._new_writer() if made is None else made.result()
        except KafkaError as error:
            # Without a lease to keep, this thread was allowed to wait.
            self._note_failure(error)
            self._reader.catch_up()
            return
        self._handle(events.Started(str(uuid4()), generation))

    def _make_writer(self, made: Future[ControlWriter]) -> None:
        """Connect while the reader catches up, to save time."""
        try:
            made.set_result(self._new_writer())
        except Exception as error:  # noqa: BLE001 - `_begin_incarnation` gets the error
            made.set_exception(error)

    def _new_writer(self) -> ControlWriter:
        return ControlWriter(self._settings, self._client_id, self._encoder, self.report)

    def _close_writer(self) -> None:
        if self._writer is not None:
            # The last releases of the old incarnation may still reach the log.
            self._writer.close(self._settings.lease_ms // 2)
            self._writer = None

    def _note_failure(self, error: Exception) -> None:
        self.last_failure = Failure.now(error)

    def _commit_failed(self, error: Exception) -> None:
        self._note_failure(error)
        self._observer.commit_failed()

    def _end(self) -> None:
        closing = (self._stop_connections,)
        end_control(self, self._application, self._observer, closing, self._note_failure)

    def _stop_connections(self) -> None:
        self._reader.stop()
        if self._committer is not None:
            self._committer.stop()
        self._close_writer()
        if self._first_writer is not None:
            self._first_writer.add_done_callback(_close_unused)


def _close_unused(made: Future[ControlWriter]) -> None:
    """Close a writer that nobody uses."""
    if made.exception() is None:
        made.result().close(0)
