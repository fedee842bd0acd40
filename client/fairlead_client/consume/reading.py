"""What a Consumer reads its queues with: the interface of both data planes."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from fairlead_client.message import Record
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.session import Granted
from fairlead_client.transport.control_thread import ControlThread

__all__ = ["Ownership", "Reading", "Taken"]


class Ownership(NamedTuple):
    """What a consumer may read.

    Attributes:
        epoch_of: returns the epoch under which the client owns a queue now, or None.
        granted: returns the grant of a queue.
    """

    epoch_of: Callable[[Queue], Epoch | None]
    granted: Callable[[Queue], Granted]


class Taken(NamedTuple):
    """The next thing that was read of a queue.

    Attributes:
        queue: the queue.
        epoch: the epoch under which it was read.
        record: a message; None: the queue goes on at `after`, for nobody wants what lies before.
        after: where it goes on without a message.
    """

    queue: Queue
    epoch: Epoch
    record: Record | None
    after: int = 0


class Reading(Protocol):
    """Reads the queues of one consumer; the thread that polls calls it."""

    def connect(self, thread: ControlThread, deadline: float) -> None:
        """Connect before the engine grants the first queue.

        Args:
            thread: if it ends, nobody waits any longer.
            deadline: the time on the monotonic clock until which errors are tried again.

        Raises:
            Exception: there is no connection until then.
        """

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Use these filters from now on; any thread may call it."""

    def again(self, queue: Queue) -> None:
        """Read a queue again from where its work stands."""

    def follow(self) -> None:
        """Read the queues that may be read, from where each goes on."""

    def take(self) -> Taken | None:
        """Return the next thing that is read already; None: nothing is."""

    def put_back(self, taken: Taken) -> None:
        """Take this again next time."""

    def fetch(self, seconds: float) -> None:
        """Read, and wait for the first of it, for at most this long."""

    def close(self) -> None:
        """Close the connections."""
