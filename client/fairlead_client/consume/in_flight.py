"""What a Consumer has handed out, and so how far each queue is processed and when it may stop.

Between two threads: the session's, which starts and stops work, and the application's, which takes
messages and finishes them. A queue with nothing in hand stops at once, on the session's thread; one
with messages in hand stops when the last of them is finished.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Condition, RLock
from time import monotonic

from fairlead_client.message import Message
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import Event, ProgressMade, WorkStopped
from fairlead_client.session.observer import Observer


@dataclass(slots=True)
class QueueWork:
    """One queue under one epoch; `in_hand` are offsets handed out and not finished, in order.

    Each with the `doubt` of that time: there is another one after each answer to the application
    that the queue is not its. `given_back` is the first offset that came out of hand after the
    lease, or under another doubt: nobody knows whether it was processed, and it is handed out again
    if the lease is renewed after all. `end` is the next offset to be written, as the last fetch
    said.
    """

    epoch: Epoch
    next_offset: int
    in_hand: list[tuple[int, object]] = field(default_factory=list)
    doubt: object = field(default_factory=object)
    given_back: int | None = None
    end: int | None = None
    stopping_since: float | None = None

    @property
    def position(self) -> int:
        """Everything below is finished."""
        reached = min([self.next_offset, *(offset for offset, _ in self.in_hand)])
        return reached if self.given_back is None else min(reached, self.given_back)


class InFlight:
    """The book of what is in hand.

    Attributes:
        changes: grows when the set of queues that may be read changes.
        starts: grows when a queue is added to it.
        over: whether nothing will be started any more.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        lock = RLock()
        self._changed = Condition(lock)
        # Apart from that: who waits for a start need not be woken for each queue that stops.
        self._begun = Condition(lock)
        self._works: dict[Queue, QueueWork] = {}
        self._progress: set[Queue] = set()
        self._given_back: set[Queue] = set()
        self._report: Callable[[Event], None] = lambda _event: None
        self._giving_up = False
        self.changes = 0
        self.starts = 0
        self.over = False

    def connect(self, report: Callable[[Event], None]) -> None:
        """Say where answers go."""
        self._report = report

    # What the session's thread calls.
    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Messages of the queue may be handed out."""
        with self._changed:
            self._observer.work_started(queue, epoch, position.offset)
            self._works[queue] = QueueWork(epoch, position.offset)
            self.starts += 1
            self._note_change()
            self._begun.notify_all()

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Hand out nothing more; the work has stopped when nothing is in hand."""
        with self._changed:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch or work.stopping_since is not None:
                return
            work.stopping_since = monotonic()
            self._note_change()
            if not work.in_hand or self._giving_up:
                self._stopped(queue, work)

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Forget the queue; what is in hand of it does not count any more."""
        with self._changed:
            work = self._works.get(queue)
            if work is not None and work.epoch == epoch:
                del self._works[queue]
                self._observer.work_stopped(queue, epoch, work.position)
                self._note_change()

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Stop each; one that has stopped before has said so."""
        for queue, epoch in work:
            self.stop_work(queue, epoch)

    def collect_progress(self) -> list[ProgressMade]:
        """Return how far the queues are in which something was finished since the last time."""
        if not self._progress:
            return []
        with self._changed:
            queues, self._progress = self._progress, set()
            return [
                ProgressMade(queue, work.epoch, work.position, work.end)
                for queue in sorted(queues)
                if (work := self._works.get(queue)) is not None
            ]

    def closed(self) -> None:
        """Whoever waits for messages shall stop waiting."""
        with self._changed:
            self.over = True
            self._works.clear()
            self._note_change()
            self._begun.notify_all()

    # What the application's thread calls.
    def readable(self) -> Mapping[Queue, tuple[Epoch, int]]:
        """Return (epoch, next offset) of each queue of which messages may be handed out."""
        with self._changed:
            return {
                queue: (work.epoch, work.next_offset)
                for queue, work in self._works.items()
                if work.stopping_since is None
            }

    def hand_out(self, message: Message, still_mine: Callable[[Queue], Epoch | None]) -> bool:
        """Take a message in hand; False when its queue is not this client's under its epoch."""
        with self._changed:
            work = self._works.get(message.queue)
            if (
                work is None
                or work.epoch != message.epoch
                # Handed out before: the fetch has gone back, but its work has not.
                or message.offset < work.next_offset
                or work.stopping_since is not None
                or still_mine(message.queue) != message.epoch
            ):
                return False
            work.in_hand.append((message.offset, work.doubt))
            work.next_offset = message.offset + 1
            return True

    def awaits_lease(self, message: Message) -> bool:
        """Whether a message that was not handed out waits for what becomes of its lease.

        A lease that has run out may be renewed all the same; then the message must be there still.
        """
        with self._changed:
            work = self._works.get(message.queue)
            return (
                work is not None
                and work.epoch == message.epoch
                and work.stopping_since is None
                and message.offset >= work.next_offset
            )

    def rewind(self, still_mine: Callable[[Queue], Epoch | None]) -> list[Queue]:
        """Go back in the queues where something came out of hand while their lease had run out.

        Return those of them whose lease was renewed: they are handed out from there on.
        """
        if not self._given_back:
            return []
        taken = []
        with self._changed:
            for queue in sorted(self._given_back):
                work = self._works.get(queue)
                if work is None or work.given_back is None or work.stopping_since is not None:
                    self._given_back.discard(queue)
                elif still_mine(queue) == work.epoch:
                    work.next_offset, work.given_back = work.given_back, None
                    self._given_back.discard(queue)
                    taken.append(queue)
            if taken:
                self._note_change()
        return taken

    def note_end(self, queue: Queue, epoch: Epoch, end: int) -> None:
        """A fetch said which offset of the queue is written next."""
        with self._changed:
            work = self._works.get(queue)
            if work is not None and work.epoch == epoch and work.end != end:
                work.end = end
                self._progress.add(queue)

    def correct(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Go on from this offset: the one before is not in the queue, or not any more."""
        with self._changed:
            work = self._works.get(queue)
            if work is not None and work.epoch == epoch:
                work.next_offset = offset
                self._progress.add(queue)

    def doubt(self, queue: Queue) -> None:
        """The application heard that a queue is not its: what is in hand of it does not count."""
        work = self._works.get(queue)
        if work is not None:
            work.doubt = object()

    def done(self, message: Message, still_mine: Callable[[Queue], Epoch | None]) -> bool:
        """Finish a message; False when its queue is not this client's any more, or was in doubt.

        After the lease the message does not count: an application that asked `still_mine` before
        its side effect has left it out, and a release behind it would skip it for good. Nor if the
        lease was renewed after the application was told so.
        """
        with self._changed:
            work = self._works.get(message.queue)
            if work is None or work.epoch != message.epoch:
                return False
            held = next((one for one in work.in_hand if one[0] == message.offset), None)
            if held is None:
                return False
            mine = held[1] is work.doubt and still_mine(message.queue) == message.epoch
            if not mine:
                known = work.given_back
                work.given_back = message.offset if known is None else min(known, message.offset)
                self._given_back.add(message.queue)
            work.in_hand.remove(held)
            self._progress.add(message.queue)
            if work.stopping_since is not None and not work.in_hand:
                self._stopped(message.queue, work)
            return mine

    def give_up(self) -> None:
        """Nothing in hand will be finished: whatever stops, stops where it is."""
        with self._changed:
            self._giving_up = True
            for queue, work in list(self._works.items()):
                if work.stopping_since is not None:
                    self._stopped(queue, work)

    def wait_for_change(self, changes: int, seconds: float) -> None:
        """Wait until the readable queues are not those of this count any more."""
        with self._changed:
            self._changed.wait_for(lambda: self.changes != changes, timeout=seconds)

    def wait_for_start(self, starts: int, seconds: float) -> None:
        """Wait until more queues were started than this count, or everything is over."""
        with self._changed:
            self._begun.wait_for(lambda: self.starts != starts or self.over, timeout=seconds)

    def _stopped(self, queue: Queue, work: QueueWork) -> None:
        del self._works[queue]
        if work.stopping_since is not None:
            self._observer.revoke_took(monotonic() - work.stopping_since)
        self._observer.work_stopped(queue, work.epoch, work.position)
        self._report(WorkStopped(queue, work.epoch, work.position, work.end))

    def _note_change(self) -> None:
        self.changes += 1
        self._changed.notify_all()
