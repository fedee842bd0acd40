"""When a thin client commits its positions to the data plane; without a clock, input or output.

It is what the direct client does (section 4.8 of the protocol): every `commit_ms`, before it says
that it has stopped a queue, and before the first message of a start that follows a reset.
"""

from dataclasses import dataclass
from typing import Final

from fairlead_client.model import Epoch, Position, Progress, Queue
from fairlead_client.session.actions import CommitProgress
from fairlead_client.session.events import CommitFinished
from fairlead_client.thin.thin_words import Start

__all__ = ["ThinCommits"]

RETRY_MS: Final = 200
NEVER_MS: Final = 2**62

Work = tuple[Queue, Epoch]


@dataclass(slots=True)
class _Place:
    start: Start
    offset: int
    committed: int | None
    begins: bool = False
    """Whether its first message waits for a commit."""
    stop_due_ms: int | None = None
    """When it counts as stopped, committed or not; None: it is not stopped."""
    retry_ms: int = NEVER_MS

    @property
    def progress(self) -> Progress:
        start = self.start
        position = Position(start.reset, self.offset)
        return Progress(start.queue, start.epoch, position, identity=start.identity)


class ThinCommits:
    """Decides what is committed, and what waits for it.

    Args:
        commit_ms: how often positions are committed that have changed.
        timeout_ms: how long a commit may take.
    """

    def __init__(self, commit_ms: int, timeout_ms: int) -> None:
        self._commit_ms = commit_ms
        self._timeout_ms = timeout_ms
        self._places: dict[Work, _Place] = {}
        self._next_ms = 0
        self._due: list[Progress] = []

    def begin(self, start: Start, now_ms: int) -> bool:
        """Note a start; return whether its first message waits for a commit."""
        # The former holder has committed where it released.
        committed = start.offset if start.why == "release" and start.reset == 0 else None
        place = _Place(start, start.offset, committed, begins=start.reset > 0)
        self._places[start.queue, start.epoch] = place
        self._next_ms = self._next_ms or now_ms + self._commit_ms
        if place.begins:
            self._commit_reset(place, now_ms)
        return place.begins

    def note(self, work: Work, offset: int) -> None:
        """Note the position of a work."""
        place = self._places.get(work)
        if place is not None:
            place.offset = offset

    def stop(self, work: Work, offset: int | None, now_ms: int) -> bool:
        """Note that a work has stopped; return whether to wait for a commit of its position."""
        place = self._places.get(work)
        if place is None or place.stop_due_ms is not None:
            return place is not None
        if offset is not None:
            place.offset = offset
        if place.committed == place.offset:
            del self._places[work]
            return False
        place.stop_due_ms = now_ms + self._timeout_ms
        self._due.append(place.progress)
        return True

    def waits_to_begin(self, work: Work) -> bool:
        """Return whether the application has not begun this work."""
        place = self._places.get(work)
        return place is not None and place.begins

    def forget(self, work: Work) -> None:
        """Forget a work: it has stopped, or is given up."""
        self._places.pop(work, None)

    def forget_all(self) -> list[Work]:
        """Forget every work; return those that wait for a commit before they begin or stop."""
        places, self._places = self._places, {}
        self._due.clear()
        return [
            work for work, place in places.items() if place.begins or place.stop_due_ms is not None
        ]

    def finish(self, event: CommitFinished, now_ms: int) -> tuple[list[Start], list[Work]]:
        """A commit has ended; return the starts that may begin, and the works that have stopped."""
        begun, stopped = [], []
        for entry in event.entries:
            work = entry.queue, entry.epoch
            place = self._places.get(work)
            if place is None:
                continue
            if event.committed:
                place.committed = entry.position.offset
            if place.stop_due_ms is not None and entry.position.offset == place.offset:
                del self._places[work]
                stopped.append(work)
            elif place.begins and event.committed:
                place.begins, place.retry_ms = False, NEVER_MS
                begun.append(place.start)
            elif place.begins:
                place.retry_ms = now_ms + RETRY_MS
        return begun, stopped

    def pass_time(self, now_ms: int) -> list[Work]:
        """Time has passed; return the works that count as stopped without a commit."""
        late = []
        for work, place in list(self._places.items()):
            if place.stop_due_ms is not None and now_ms >= place.stop_due_ms:
                del self._places[work]
                late.append(work)
            elif place.begins and now_ms >= place.retry_ms:
                self._commit_reset(place, now_ms)
        if self._places and now_ms >= self._next_ms:
            self._next_ms = now_ms + self._commit_ms
            self._due += [
                place.progress
                for place in self._places.values()
                if place.stop_due_ms is None and place.offset != place.committed
            ]
        return late

    def take(self, now_ms: int, lease_until_ms: int) -> CommitProgress | None:
        """Return the commit that is due; None: none is."""
        due, self._due = self._due, []
        if not due:
            return None
        return CommitProgress(tuple(due), min(now_ms + self._timeout_ms, lease_until_ms))

    def next_deadline_ms(self) -> int:
        """Return the latest time for the next `pass_time`."""
        times = [self._next_ms] if self._places else []
        for place in self._places.values():
            times += [place.retry_ms, place.stop_due_ms or NEVER_MS]
        return min(times, default=NEVER_MS)

    def _commit_reset(self, place: _Place, now_ms: int) -> None:
        place.retry_ms = now_ms + self._timeout_ms
        self._due.append(place.progress)
