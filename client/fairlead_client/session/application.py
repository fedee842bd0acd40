"""What stands between a session and the application's own code."""

from collections.abc import Iterable
from typing import Protocol

from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import ProgressMade


class Application(Protocol):
    """Takes work and gives it back. Called on the session's thread, so it must never wait.

    For each start it is told once to stop, or that everything stops; it answers with WorkStopped.
    """

    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """The queue may be read from the position on."""

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Finish what is in hand and stop."""

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Too late to stop in an orderly way: deliver nothing more, believe no progress."""

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """The lease is over: stop all of this, at once."""

    def collect_progress(self) -> list[ProgressMade]:
        """Return the progress made since this was asked last."""

    def closed(self) -> None:
        """Nothing will be started any more."""
