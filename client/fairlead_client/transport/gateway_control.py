"""What keeps a member in its group through a gateway, on a thread or a loop (ADR 0200).

It has the face of the session's thread (`ControlThread`).
"""

import logging
import random
from threading import Event
from typing import Final, NamedTuple

from fairlead_client.model import Epoch, Queue
from fairlead_client.session import events
from fairlead_client.session.actions import CommitProgress
from fairlead_client.session.application import Application
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.session.clock import now_ms, wall_ms
from fairlead_client.session.failure import Failure, FailureLog
from fairlead_client.session.observer import Observer
from fairlead_client.session.session import Granted, Ownership
from fairlead_client.session.states import SessionState
from fairlead_client.session.version import __version__
from fairlead_client.session.waiting_log import Waiting, WaitingLog
from fairlead_client.settings.client_settings import Settings
from fairlead_client.thin.thin_commits import ThinCommits
from fairlead_client.thin.thin_member import Reply, ThinMember
from fairlead_client.thin.thin_requests import ThinProfile
from fairlead_client.thin.thin_words import Request
from fairlead_client.transport.control_end import end_control
from fairlead_client.transport.offset_store import Committer, OffsetStore

__all__ = ["Answer", "GatewayControl", "Message"]

logger = logging.getLogger(__name__)

COMMIT_TIMEOUT_MS: Final = 2_000
TURN_SECONDS_MAX: Final = 1.0
NOTHING_SAID: Final = Granted()


class Answer(NamedTuple):
    """The reply to a request."""

    number: int
    reply: Reply


Message = events.Event | Answer | None


class GatewayControl:
    """Keeps one member in its group until it is closed.

    Whoever runs it calls `begin`, then `take` with each message and `turn` after a few of them, and
    `end` when `is_over` is true.

    Attributes:
        joined: set when the client has its first lease, or has ended without one.
        ended: set when the session is closed and its other threads are stopping.
        waiting_for: why the client waits for queues; None: it has all it was promised.
        last_failure: the last error and its time.
        error: the error that closed the client; None if the application did.
    """

    def __init__(
        self,
        settings: Settings,
        identity: ClientIdentity,
        application: Application,
        *,
        store: OffsetStore | None,
        observer: Observer,
    ) -> None:
        self._member = ThinMember(
            _profile_of(settings, identity),
            application,
            None if store is None else ThinCommits(settings.commit_ms, COMMIT_TIMEOUT_MS),
            observer,
            random.random,
        )
        self._application = application
        self._observer = observer
        self._committer = (
            None if store is None else Committer(store, self.report, self._commit_failed)
        )
        self._waiting = WaitingLog(settings.group, identity.client_id)
        self._failures = FailureLog(logger)
        self._abort = False
        self.joined = Event()
        self.ended = Event()
        self.waiting_for: Waiting | None = None
        self.last_failure: Failure | None = None
        self.error: Exception | None = None

    # Whoever runs it has these three.
    def start(self) -> None:
        """Begin to join."""
        raise NotImplementedError

    def _put(self, message: Message) -> None:
        """Hand a message to `take`; any thread may call it."""
        raise NotImplementedError

    def _request(self, request: Request) -> None:
        """Send a request, and give the one before it up; its reply comes as an `Answer`."""
        raise NotImplementedError

    def _close_connections(self) -> None:
        """Close the connections to gateways."""
        raise NotImplementedError

    @property
    def state(self) -> SessionState:
        """The client's state."""
        return self._member.state

    @property
    def counts(self) -> dict[str, int]:
        """Counts of events."""
        return dict(self._member.counts)

    @property
    def ownership(self) -> Ownership:
        """The queues that the application may work on; any thread may read it."""
        return self._member.ownership

    @ownership.setter
    def ownership(self, owned: Ownership) -> None:
        self._member.ownership = owned

    def report(self, event: events.Event) -> None:
        """Send an event to the session; any thread may call it."""
        self._put(event)

    def abort(self) -> None:
        """End without leaving, so that the lease ends by itself; any thread may call it."""
        self._abort = True
        self._put(None)

    @property
    def gated(self) -> bool:
        """Whether a queue may start at any moment, as far as a gateway has said so."""
        return self._member.gated

    def still_mine(self, queue: Queue) -> Epoch | None:
        """Return the queue's epoch while the lease surely runs; any thread may call it.

        It reads the clock itself, so it is right even while whoever runs this is blocked.
        """
        owned = self._member.ownership
        return owned.epochs.get(queue) if now_ms() < owned.until_ms else None

    def granted(self, queue: Queue) -> Granted:
        """Return the grant of a queue that this client works on; any thread may call it."""
        return self._member.ownership.granted.get(queue, NOTHING_SAID)

    @property
    def is_over(self) -> bool:
        """Whether the session is closed, or somebody aborts the client."""
        return self._abort or self.state is SessionState.CLOSED

    def begin(self) -> None:
        """Send the first request."""
        if self._committer is not None:
            self._committer.start()
        self.turn()

    def take(self, message: Message) -> None:
        """Take a message."""
        # Progress made before the message counts before it: the message may be the end of the work.
        for progress in self._application.collect_progress():
            self._member.handle(progress, now_ms())
        if isinstance(message, Answer):
            self._member.reply(message.number, message.reply, now_ms())
        elif message is not None:
            self._member.handle(message, now_ms())

    def turn(self) -> float:
        """Do what is due, and send what is to be sent; return how many seconds may pass."""
        member = self._member
        member.pass_time(now_ms())
        for each in member.take_output():
            if isinstance(each, CommitProgress):
                assert self._committer is not None
                self._committer.commit(each)
            else:
                self._request(each)
        if self.state is SessionState.RUNNING:
            self.joined.set()
        failure, member.failure = member.failure, None
        if failure is not None:
            self._failures.log(str(failure), "%s", failure)
            self._note_failure(failure)
        self.waiting_for = self._waiting.update(member.waiting, now_ms(), wall_ms())
        wait_s = (member.next_deadline_ms() - now_ms()) / 1_000
        return min(max(0.0, wait_s), TURN_SECONDS_MAX)

    def fail(self, error: Exception) -> None:
        """Note the bug that ends the member."""
        logger.error("the session's thread failed; the client stops", exc_info=error)
        self.error = error
        self._note_failure(error)

    def end(self) -> None:
        """Stop all work and all threads."""
        self.error = self.error or self._member.error
        closing = (
            self._close_connections,
            lambda: None if self._committer is None else self._committer.stop(),
        )
        end_control(self, self._application, self._observer, closing, self._note_failure)

    def _note_failure(self, error: Exception) -> None:
        self.last_failure = Failure.now(error)

    def _commit_failed(self, error: Exception) -> None:
        self._note_failure(error)
        self._observer.commit_failed()


def _profile_of(settings: Settings, identity: ClientIdentity) -> ThinProfile:
    """Return what a member says of itself when it joins."""
    begins_at_ms = settings.begins_at_ms(identity.process.start_ms)
    return ThinProfile(
        group=settings.group,
        client_id=identity.client_id,
        fields={
            "consume_from": settings.consume_from,
            "consume_timestamp_ms": begins_at_ms,
            "capacity": settings.capacity,
            "zone": settings.zone,
            "ordered": settings.ordered,
            **({} if settings.consume_type == "push" else {"consume_type": settings.consume_type}),
            "language": "python",
            "version": __version__,
        },
        subscriptions=settings.subscriptions(identity.process.start_ms),
        process=identity.process,
        progress_ms=settings.progress_ms,
        drain_deadline_ms=settings.drain_deadline,
    )
