"""The interface between a session and the application's code."""

from collections.abc import Iterable
from typing import Protocol

from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import ProgressMade


class Application(Protocol):
    """Starts and stops work on queues. The session's thread calls it, so no method may wait.

    For each start the session later calls `stop_work` or `stop_everything` once; the application
    answers with WorkStopped.
    """

    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Start to read the queue at the position."""

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Finish the messages in hand and stop."""

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Deliver no more messages and ignore progress: it is too late for an orderly stop."""

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Stop all this work at once: the lease is over."""
        for queue, epoch in work:
            self.stop_work(queue, epoch)

    def collect_progress(self) -> list[ProgressMade]:
        """Return the progress since the last call."""

    def closed(self) -> None:
        """Note that the session will start no more work."""
