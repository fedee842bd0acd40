"""What a session of a broadcasting member has to do with its work: nothing but its end."""

from collections.abc import Callable, Iterable

from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import ProgressMade


class PassiveApplication:
    """An application that is granted nothing: the engine shows such a member and gives it no queue.

    Args:
        ended: called when the session has ended.
    """

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Take no queue: all are read already."""

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Nothing was started."""

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Nothing was started."""

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Go on: no queue of this member is anybody else's."""

    def collect_progress(self) -> list[ProgressMade]:
        """Return nothing: the offsets are the member's own."""
        return []

    def closed(self) -> None:
        """The client has left, or another process has its id."""
        self._ended()
