"""The lifecycle of one client, for its application: start, close, ownership, errors."""

import logging
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from types import TracebackType
from typing import ClassVar, Self

from fairlead_client.consume.leave_signals import leaving_on_signals
from fairlead_client.errors import (
    ClientClosedError,
    ClientStartedError,
    ForkedClientError,
    StartFailedError,
)
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session import events
from fairlead_client.session.application import Application
from fairlead_client.session.client_identity import ClientIdentity, new_client_identity
from fairlead_client.session.failure import Failure
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.observer import Observer
from fairlead_client.session.session import Granted, Session
from fairlead_client.session.states import SessionState
from fairlead_client.session.version import __version__
from fairlead_client.session.waiting_log import Waiting
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.encoding import Encoder, describe
from fairlead_client.transport.gateway_thread import GatewayThread
from fairlead_client.transport.offset_store import KafkaOffsetStore, OffsetStore
from fairlead_client.transport.session_thread import SessionThread

logger = logging.getLogger(__name__)


class Member:
    """One member of a group, and the base of every kind of client.

    A member joins once; to join again, create a new one. It does not survive a fork: threads,
    connections and ownership stay in the parent. In the child every method raises
    ForkedClientError, `assigned` is empty, and other properties (`client_id`, `state`, counts)
    stay as they were at the fork.
    """

    MESSAGE_MODEL: ClassVar[str] = "clustering"
    """The message model in this member's heartbeats."""
    HANDS_OVER: ClassVar[bool] = False
    """Whether the application works on while this member leaves."""

    def __init__(
        self,
        settings: Settings,
        *,
        offset_store: OffsetStore | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._settings = settings
        self._identity = new_client_identity(settings.client_id)
        self._observer = observer or Observer()
        self._store = offset_store
        self._pid = os.getpid()
        self._lock = Lock()
        self._started = False
        self._closing = False
        self._stopping = False
        self._thread: ControlThread | None = None
        self._failure: Failure | None = None
        self._subscribed = settings.subscriptions(self._identity.process.start_ms)

    def _application(self) -> Application:
        """Return the application's side of the session; called once, at the start."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return the client's names and state, without secrets."""
        return f"<{type(self).__name__} {self.client_id} of {self._settings.group}: {self.state}>"

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    @property
    def client_id(self) -> str:
        """This client's id, unique in its group."""
        return self._identity.client_id

    @property
    def state(self) -> str:
        """`new`, `starting`, `running`, `leaving`, `fenced` or `closed`."""
        if self._thread is not None:
            if self._thread.ended.is_set():
                return SessionState.CLOSED.value
            # Between start() and the first heartbeat the session is still new.
            known = self._thread.state
            return (SessionState.STARTING if known is SessionState.NEW else known).value
        return (SessionState.CLOSED if self._closing else SessionState.NEW).value

    @property
    def last_error(self) -> Exception | None:
        """The last error in any thread of the client; it stays after the trouble is over."""
        last = self._last_failure
        return None if last is None else last.error

    @property
    def last_error_ms(self) -> int | None:
        """When the last error happened, in ms since 1970; each failed retry updates it."""
        last = self._last_failure
        return None if last is None else last.at_ms

    @property
    def _last_failure(self) -> Failure | None:
        return self._failure or (None if self._thread is None else self._thread.last_failure)

    @property
    def waiting_for(self) -> Waiting | None:
        """Why the client waits for queues; None: it has all it was promised, or does not run."""
        return None if self._thread is None or self._forked else self._thread.waiting_for

    @property
    def assigned(self) -> Mapping[Queue, Epoch]:
        """The queues that the client works on now, each with its epoch."""
        if self._thread is None or self._forked:
            return {}
        mine = self._thread.ownership.epochs
        return {queue: epoch for queue, epoch in mine.items() if self.still_mine(queue) == epoch}

    @property
    def counts(self) -> Mapping[str, int]:
        """Counts of events: `starts`, `revocations`, `forced_releases`, and more."""
        return {} if self._thread is None else self._thread.counts

    def still_mine(self, queue: Queue) -> Epoch | None:
        """Return the queue's epoch while this client may work on it, else None.

        Ask before each side effect, and store the epoch with the result. A queue's epoch only
        grows, so a write with a lower one comes too late. Any thread may call it; it never waits.

        After None, the queue's messages in hand do not count as processed: they come again, even
        if the lease is renewed.

        Raises:
            ForkedClientError: the process forked; the child owns nothing.
        """
        self._check_fork()
        mine = self._epoch_of(queue)
        if mine is None:
            self._mark_doubtful(queue)
        return mine

    def _epoch_of(self, queue: Queue) -> Epoch | None:
        """Return what `still_mine` returns, for the client's own use."""
        if self._thread is None or self._forked:
            return None
        return self._thread.still_mine(queue)

    def _granted(self, queue: Queue) -> Granted:
        """Return the grant of a queue that this client works on."""
        return Granted() if self._thread is None else self._thread.granted(queue)

    def _mark_doubtful(self, queue: Queue) -> None:
        """Note that the application heard it does not own a queue, and skips messages in hand."""

    def start(self) -> None:
        """Join the group; return when a broker has acknowledged the first heartbeat.

        Raises:
            ClientStartedError: the client was started before.
            ClientClosedError: the client is closed, or its start failed.
            StartFailedError: not joined within `start_timeout_ms`; `__cause__` is the last error.
        """
        self._check_fork()
        with self._lock:
            if self._closing or self._failure is not None:
                raise ClientClosedError("this client is closed; create a new one")
            if self._started:
                raise ClientStartedError("this client was started before; create a new one")
            self._started = True
        try:
            self._thread = self._new_thread()
        except Exception as error:
            self._fail(error)
            raise StartFailedError(f"cannot start: {error}") from error
        self._thread.start()
        try:
            self._await_first_lease(self._thread)
        except BaseException:
            # It may have joined: leave, so that nobody waits for its lease.
            self._thread.report(events.LeaveRequested())
            raise

    def _connect(self, thread: ControlThread, deadline: float) -> None:
        """Connect to what the application's side needs, while the client joins."""

    def _await_first_lease(self, thread: ControlThread) -> None:
        deadline = time.monotonic() + self._settings.start_timeout_ms / 1_000
        cause: Exception | None = None
        try:
            self._connect(thread, deadline)
        except Exception as error:  # noqa: BLE001 - whatever it was, the start has failed
            cause = error
        else:
            joined = thread.joined.wait(max(0.0, deadline - time.monotonic()))
            if joined and not thread.ended.is_set():
                return
        if self._stopping and thread.error is None:
            # The application has called stop() meanwhile, which is no failure.
            return
        last = thread.last_failure
        cause = thread.error or cause or (None if last is None else last.error)
        failure = StartFailedError(
            f"client {self.client_id} could not join group {self._settings.group!r}"
            f" within {self._settings.start_timeout_ms} ms: {cause or 'no answer'}"
        )
        self._fail(failure)
        if thread.state is SessionState.RUNNING:
            thread.report(events.LeaveRequested())
            thread.ended.wait(self._settings.close_timeout_ms / 1_000)
        thread.abort()
        thread.ended.wait()
        raise failure from cause

    def close(self, timeout_ms: int | None = None) -> None:
        """Hand every queue over, and leave the group; a second close does nothing.

        Where the application works on threads of this client, it works on for `hand_over_ms`, until
        the engine has named who goes on: no queue waits for that decision.

        Args:
            timeout_ms: how long an orderly leave may take; None: `close_timeout_ms`. Queues not
                released by then stay blocked until the lease has ended.
        """
        self._check_fork()
        with self._lock:
            self._closing = True
            thread = self._thread
        if thread is None:
            return
        limit_ms = self._settings.close_timeout_ms if timeout_ms is None else timeout_ms
        thread.report(self._leave(limit_ms))
        if not thread.ended.wait(limit_ms / 1_000):
            logger.warning("%s did not leave within %d ms", self.client_id, limit_ms)
            thread.abort()
            thread.ended.wait()

    def stop(self) -> None:
        """Begin to leave; where the application iterates, idle queues are released at once.

        `wait` returns when the client has left, and an iteration ends at its next turn. Any thread
        and a signal handler may call it.
        """
        self._check_fork()
        # No lock here: a signal handler may have interrupted the thread that holds it.
        self._stopping = True
        if self._thread is not None:
            self._thread.report(self._leave(self._settings.close_timeout_ms))

    def _leave(self, limit_ms: int) -> events.LeaveRequested:
        """Return the request to leave; half of a short limit is kept for the releases."""
        hand_over_ms = min(self._settings.hand_over_ms, limit_ms // 2)
        return events.LeaveRequested(hand_over_ms if self.HANDS_OVER else 0)

    @property
    def stopping(self) -> bool:
        """Whether the client leaves or is closed; a loop that polls should end then."""
        ended = self._thread is not None and self._thread.ended.is_set()
        return self._stopping or self._closing or ended

    def signals(self) -> AbstractContextManager[None]:
        """Leave at SIGINT or SIGTERM, during a `with` block on the main thread.

        The first signal calls `stop()`: the client finishes the message in hand and releases every
        queue, and nothing is raised. A second signal kills the process. At the end of the block the
        former handlers are back. Enter it before the client, so that it also covers the close.

        Raises:
            LifecycleError: the block is not entered on the main thread.
        """
        self._check_fork()
        return leaving_on_signals(self.stop)

    def wait(self, timeout_ms: int | None = None) -> bool:
        """Wait until the client is closed; return whether it is.

        Args:
            timeout_ms: the longest wait; None: without limit.

        Raises:
            FairleadClientError: the error that closed the client, such as DuplicateClientIdError.
        """
        self._check_fork()
        if self._thread is None:
            return self._closing
        ended = self._thread.ended.wait(None if timeout_ms is None else timeout_ms / 1_000)
        if ended and self._thread.error is not None:
            raise self._thread.error
        return ended

    def subscribe(self, topics: Sequence[str | Subscription]) -> None:
        """Change the subscription; the client tells the engine at once.

        Each call gets a greater version than the one before, even if the clock was set back, since
        the engine ignores older versions.

        Raises:
            SettingsError: as for the setting `topics`.
            ClientClosedError: the client does not run.
        """
        self._check_fork()
        with self._lock:
            last = max(subscription.sub_version for subscription in self._subscribed)
            now_ms = time.time_ns() // 1_000_000
            wanted = self._settings.subscribing(topics, max(last + 1, now_ms))
            if self._thread is None or self._thread.ended.is_set():
                raise ClientClosedError("this client is not running")
            self._subscribed = wanted
            self._thread.report(events.SubscriptionChanged(wanted))

    @property
    def _forked(self) -> bool:
        return os.getpid() != self._pid

    def _check_fork(self) -> None:
        if self._forked:
            raise ForkedClientError(
                "the process forked; create the client in the process that uses it"
            )

    def _fail(self, error: Exception) -> None:
        with self._lock:
            self._failure = Failure.now(error)
            self._closing = True

    def _new_thread(self) -> ControlThread:
        settings, identity = self._settings, self._identity
        store = self._store
        if store is None and settings.commit_offsets:
            store = KafkaOffsetStore(settings, identity.client_id)
        if settings.gateways:
            return self._gateway_thread(store)
        session = Session(_session_settings(settings, identity, commits=store is not None))
        return SessionThread(
            session,
            settings,
            identity.client_id,
            Encoder(describe(settings, identity, __version__)),
            self._application(),
            store=store,
            observer=self._observer,
        )

    def _gateway_thread(self, store: OffsetStore | None) -> ControlThread:
        return GatewayThread(
            self._settings,
            self._identity,
            self._application(),
            store=store,
            observer=self._observer,
        )


def _session_settings(
    settings: Settings, identity: ClientIdentity, *, commits: bool
) -> SessionSettings:
    return SessionSettings(
        group=settings.group,
        client_id=identity.client_id,
        process=identity.process,
        subscriptions=settings.subscriptions(identity.process.start_ms),
        heartbeat_ms=settings.heartbeat_ms,
        lease_ms=settings.lease_ms,
        progress_ms=settings.progress_ms,
        commit_ms=settings.commit_ms,
        drain_deadline_ms=settings.drain_deadline,
        commits=commits,
        commit_timeout_ms=min(2_000, settings.lease_ms // 4),
    )
