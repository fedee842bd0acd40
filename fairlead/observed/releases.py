"""The releases of one group: which grants its members have given up, and when."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.bounds import MANY

__all__ = ["Releases"]


class _Given(NamedTuple):
    epoch: Epoch
    member: MemberKey


@dataclass(slots=True)
class Releases:
    """The newest releases of each queue.

    ``kept_max``: how many to keep of each queue.
    """

    kept_max: int = MANY.releases
    _of: dict[MessageQueue, dict[_Given, int]] = field(default_factory=dict)

    def __contains__(self, queue: MessageQueue) -> bool:
        """Tell whether any release of a queue is kept."""
        return queue in self._of

    def __len__(self) -> int:
        """Return how many queues have releases that are kept."""
        return len(self._of)

    def add(self, queue: MessageQueue, member: MemberKey, epoch: Epoch, append_ms: int) -> bool:
        """Add a release; return False if it is kept already."""
        given, known = _Given(epoch, member), self._of.get(queue, {})
        if given in known:
            return False
        self._of[queue] = dict(sorted({**known, given: append_ms}.items())[-self.kept_max :])
        return True

    def has(self, queue: MessageQueue, member: MemberKey, epoch: Epoch) -> bool:
        """Tell whether a member has released its grant of a queue."""
        return _Given(epoch, member) in self._of.get(queue, ())

    def at_ms(self, queue: MessageQueue, client_id: str, epoch: Epoch) -> int | None:
        """Return when a grant was released; None: no release of it is kept."""
        return next(
            (
                append_ms
                for given, append_ms in self._of.get(queue, {}).items()
                if given.epoch == epoch and given.member.client_id == client_id
            ),
            None,
        )

    def __iter__(self) -> Iterator[MessageQueue]:
        """Yield the queues that have releases that are kept."""
        return iter(self._of)

    def of(self, queue: MessageQueue) -> Mapping[_Given, int] | None:
        """Return the releases of a queue that are kept, and when they were appended."""
        return self._of.get(queue)

    def copy(self) -> "Releases":
        """Return what is kept now; later releases do not change it."""
        return Releases(self.kept_max, dict(self._of))

    def differ(self, before: "Releases") -> list[MessageQueue]:
        """Return the queues whose kept releases are others than in a copy."""
        queues = {*self, *before}
        return [each for each in queues if self.of(each) is not before.of(each)]

    def forget(self, queue: MessageQueue) -> None:
        """Forget the releases of a queue."""
        self._of.pop(queue, None)

    def forget_before(self, oldest_ms: int, is_kept: Callable[[str], bool]) -> None:
        """Forget the releases before a time, of topics that are not kept."""
        for queue, times in list(self._of.items()):
            if not is_kept(queue.topic) and max(times.values()) < oldest_ms:
                del self._of[queue]
