"""The application's side of a broadcasting member's session, which grants no work."""

from collections.abc import Callable, Iterable

from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import ProgressMade


class PassiveApplication:
    """Ignores all work: the engine shows a broadcasting member, but gives it no queues.

    Args:
        ended: called when the session has ended.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Ignore it: the member reads all queues anyway."""

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Ignore it: the session started nothing."""

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Ignore it: the session started nothing."""

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Ignore it: a broadcasting member needs no lease for its queues."""

    def collect_progress(self) -> list[ProgressMade]:
        """Return nothing: the member keeps its own offsets."""
        return []

    def closed(self) -> None:
        """Report the end of the session."""
        self._ended()
