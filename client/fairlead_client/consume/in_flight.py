"""The messages that a Consumer has handed out, and so each queue's progress.

Two threads use it: the session's starts and stops work, the application's takes and finishes
messages. A queue without messages in hand stops at once, on the session's thread. Any other queue
stops when its last message in hand is finished.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition, RLock
from time import monotonic

from fairlead_client.message import Message
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.application import Application
from fairlead_client.session.events import Event, ProgressMade, WorkStopped
from fairlead_client.session.observer import Observer


@dataclass(slots=True)
class QueueWork:
    """One queue under one epoch.

    Attributes:
        epoch: the epoch of the work.
        next_offset: the next offset to hand out.
        in_hand: offsets handed out and not finished, in order, each with the `doubt` of then.
        doubt: a new object each time the application hears that it does not own the queue.
        given_back: the first offset that the application finished after the lease, or after a
            doubt. Nobody knows whether it is processed; if the lease is renewed, it comes again.
        end: the next offset to be written, as the last fetch said.
        stopping_since: when the session stopped the work, in seconds; None: it has not.
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
        """The next offset to read: all messages below it are finished."""
        reached = min([self.next_offset, *(offset for offset, _ in self.in_hand)])
        return reached if self.given_back is None else min(reached, self.given_back)


class InFlight(Application):
    """The messages in hand of all queues.

    Attributes:
        changes: grows when the set of readable queues changes.
        starts: grows when that set gets a queue.
        over: whether the session will start no more work.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        lock = RLock()
        self._changed = Condition(lock)
        # A separate condition: a queue that stops need not wake a thread that waits for a start.
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
        """Set where answers go."""
        self._report = report

    # The session's thread calls these.
    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Hand out messages of the queue from now on."""
        with self._changed:
            self._observer.work_started(queue, epoch, position.offset)
            self._works[queue] = QueueWork(epoch, position.offset)
            self.starts += 1
            self._note_change()
            self._begun.notify_all()

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Hand out no more messages; the work has stopped when none is in hand."""
        with self._changed:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch or work.stopping_since is not None:
                return
            work.stopping_since = monotonic()
            self._note_change()
            if not work.in_hand or self._giving_up:
                self._stopped(queue, work)

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Forget the queue; its messages in hand no longer count."""
        with self._changed:
            work = self._works.get(queue)
            if work is not None and work.epoch == epoch:
                del self._works[queue]
                self._observer.work_stopped(queue, epoch, work.position)
                self._note_change()

    def collect_progress(self) -> list[ProgressMade]:
        """Return the progress of the queues with finished messages since the last call."""
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
        """Wake every thread that waits for messages: none will come."""
        with self._changed:
            self.over = True
            self._works.clear()
            self._note_change()
            self._begun.notify_all()

    # The application's thread calls these.
    def readable(self) -> Mapping[Queue, tuple[Epoch, int]]:
        """Return (epoch, next offset) of each readable queue."""
        with self._changed:
            return {
                queue: (work.epoch, work.next_offset)
                for queue, work in self._works.items()
                if work.stopping_since is None
            }

    def hand_out(self, message: Message, still_mine: Callable[[Queue], Epoch | None]) -> bool:
        """Note that a message is in hand; False if the client does not own its queue and epoch."""
        with self._changed:
            work = self._works.get(message.queue)
            if (
                work is None
                or work.epoch != message.epoch
                # Handed out before: the fetch went back, but the work did not.
                or message.offset < work.next_offset
                or work.stopping_since is not None
                or still_mine(message.queue) != message.epoch
            ):
                return False
            work.in_hand.append((message.offset, work.doubt))
            work.next_offset = message.offset + 1
            return True

    def awaits_lease(self, message: Message) -> bool:
        """Whether the consumer must keep a message because its queue's lease may be renewed."""
        with self._changed:
            work = self._works.get(message.queue)
            return (
                work is not None
                and work.epoch == message.epoch
                and work.stopping_since is None
                and message.offset >= work.next_offset
            )

    def rewind(self, still_mine: Callable[[Queue], Epoch | None]) -> list[Queue]:
        """Go back to the first given-back message of each queue whose lease was renewed.

        Return these queues; they are handed out from there on.
        """
        if not self._given_back:
            return []
        rewound = []
        with self._changed:
            for queue in sorted(self._given_back):
                work = self._works.get(queue)
                if work is None or work.given_back is None or work.stopping_since is not None:
                    self._given_back.discard(queue)
                elif still_mine(queue) == work.epoch:
                    work.next_offset, work.given_back = work.given_back, None
                    self._given_back.discard(queue)
                    rewound.append(queue)
            if rewound:
                self._note_change()
        return rewound

    def note_end(self, queue: Queue, epoch: Epoch, end: int) -> None:
        """Note the next offset to be written, as a fetch said."""
        with self._changed:
            work = self._works.get(queue)
            if work is not None and work.epoch == epoch and work.end != end:
                work.end = end
                self._progress.add(queue)

    def correct(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Continue at this offset, because the queue does not have the one before."""
        with self._changed:
            work = self._works.get(queue)
            if work is not None and work.epoch == epoch:
                work.next_offset = offset
                self._progress.add(queue)

    def skip(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Go on at this offset: nobody wants what lies between it and the last message."""
        with self._changed:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch or work.stopping_since is not None:
                return
            if offset > work.next_offset:
                work.next_offset = offset
                self._progress.add(queue)

    def mark_doubtful(self, queue: Queue) -> None:
        """Note that the application heard it does not own a queue: messages in hand don't count."""
        work = self._works.get(queue)
        if work is not None:
            work.doubt = object()

    def done(self, message: Message, still_mine: Callable[[Queue], Epoch | None]) -> bool:
        """Finish a message; return False if it does not count.

        It does not count after the lease, or after a doubt, even if the lease is renewed: an
        application that asked `still_mine` may have left the message out, and a release behind it
        would skip it for good.
        """
        with self._changed:
            work = self._works.get(message.queue)
            if work is None or work.epoch != message.epoch:
                return False
            held = next((entry for entry in work.in_hand if entry[0] == message.offset), None)
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
        """Stop all stopping queues where they are: nobody will finish the messages in hand."""
        with self._changed:
            self._giving_up = True
            for queue, work in list(self._works.items()):
                if work.stopping_since is not None:
                    self._stopped(queue, work)

    def wait_for_change(self, changes: int, seconds: float) -> None:
        """Wait until the readable queues have changed since this count."""
        with self._changed:
            self._changed.wait_for(lambda: self.changes != changes, timeout=seconds)

    def wait_for_start(self, starts: int, seconds: float) -> None:
        """Wait until a queue has started since this count, or until the end."""
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
