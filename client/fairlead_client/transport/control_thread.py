"""The face of whatever keeps a member in its group: a session over Kafka, or over a gateway."""

from collections.abc import Mapping
from threading import Event
from typing import Protocol

from fairlead_client.model import Epoch, Queue
from fairlead_client.session.events import Event as SessionEvent
from fairlead_client.session.failure import Failure
from fairlead_client.session.session import Granted, Ownership
from fairlead_client.session.states import SessionState
from fairlead_client.session.waiting_log import Waiting

__all__ = ["ControlThread"]


class ControlThread(Protocol):
    """Keeps one member in its group until it is closed.

    Attributes:
        joined: set when the client has its first lease, or has ended without one.
        ended: set when the session is closed and its other threads are stopping.
        ownership: the queues that the application may work on; any thread may read it.
        waiting_for: why the client waits for queues; None: it has all it was promised.
        last_failure: the last error and its time.
        error: the error that closed the client; None if the application did.
    """

    joined: Event
    ended: Event
    ownership: Ownership
    waiting_for: Waiting | None
    last_failure: Failure | None
    error: Exception | None

    def start(self) -> None:
        """Begin to join."""

    @property
    def state(self) -> SessionState:
        """The client's state."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Counts of events."""

    def report(self, event: SessionEvent) -> None:
        """Send an event to the session; any thread may call it."""

    def abort(self) -> None:
        """End without leaving, so that the lease ends by itself; any thread may call it."""

    @property
    def gated(self) -> bool:
        """Whether a queue may start at any moment; any thread may read it."""

    def still_mine(self, queue: Queue) -> Epoch | None:
        """Return the queue's epoch while the lease surely runs; any thread may call it."""

    def granted(self, queue: Queue) -> Granted:
        """Return the grant of a queue that this client works on; any thread may call it."""
