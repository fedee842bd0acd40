"""What was pulled of one queue and is not consumed yet (RocketMQ's ProcessQueue).

Accounts are kept by the batch: one pulled list is put in, slices of it are taken in the order of
their offsets and finished in any order. The position is the lowest offset not consumed.
"""

from collections import deque
from collections.abc import Sequence
from threading import Lock
from typing import Final

from fairlead_client.message import Record
from fairlead_client.model import Epoch, Queue

UNDECIDED_MS: Final = 100
"""How often the client checks what became of a queue whose lease ran out."""


class Batch:
    """Messages that are consumed together: those of one queue, one after another.

    Attributes:
        attempt: how often they were handed out here, the present time included; a time that did not
            count is left out.
    """

    __slots__ = ("attempt", "doubt", "finished", "in_hand", "records", "size_bytes", "work")

    def __init__(self, work: "ProcessQueue", records: Sequence[Record]) -> None:
        self.work = work
        self.records = records
        self.size_bytes = body_bytes(records)
        self.attempt = 1
        self.doubt = work.doubt
        self.in_hand = True
        self.finished = False

    @property
    def doubtful(self) -> bool:
        """Whether the application heard meanwhile that the queue is not its, and left it out."""
        return self.doubt is not self.work.doubt


def body_bytes(records: Sequence[Record]) -> int:
    """Return how many bytes the bodies of these records have."""
    return sum([len(record.value or b"") for record in records])


class ProcessQueue:
    """The book of one queue under one epoch. From any thread; no call waits.

    A dropped queue hands out nothing and counts nothing any more. A stopping one hands out
    nothing, and counts what is in hand until it is finished.

    Args:
        queue: the queue.
        epoch: the fencing token of this tenure.
        offset: where it begins: never what an earlier tenure knew.
    """

    def __init__(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        self.queue = queue
        self.epoch = epoch
        self.end: int | None = None
        self.last_pull_ms: int | None = None
        self.stopping_since: float | None = None
        # Another one after each answer to the application that the queue is not its.
        self.doubt = object()
        self._lock = Lock()
        self._next_offset = offset
        self._taken: deque[Batch] = deque()
        self._waiting: deque[Sequence[Record]] = deque()
        self._count = 0
        self._bytes = 0
        self._in_hand = 0
        self._stopping = False
        self._dropped = False
        self._turns = 0
        self._noted = False

    @property
    def next_offset(self) -> int:
        """The offset that is pulled next."""
        return self._next_offset

    @property
    def count(self) -> int:
        """How many messages are pulled and not consumed."""
        return self._count

    @property
    def size_bytes(self) -> int:
        """How many bytes the bodies of these have."""
        return self._bytes

    @property
    def stopping(self) -> bool:
        """Whether nothing more is pulled and handed out."""
        return self._stopping

    @property
    def dropped(self) -> bool:
        """Whether nothing counts any more."""
        return self._dropped

    @property
    def position(self) -> int:
        """The lowest offset not consumed: the first remaining, or where pulling goes on."""
        with self._lock:
            return self._position()

    @property
    def span(self) -> int:
        """How far the first and the last message that are not consumed lie apart."""
        with self._lock:
            if not self._count:
                return 0
            taken = self._taken
            last = self._waiting[-1] if self._waiting else taken[-1].records
            first = taken[0].records if taken else self._waiting[0]
            return last[-1].offset - first[0].offset

    def put(self, records: Sequence[Record], asked: int, next_offset: int) -> bool:
        """Take in what was pulled; False when it is not wanted any more: stopped, or sought away.

        Args:
            records: in order, none below `asked`; none: only the offset moves.
            asked: the offset from which they were pulled.
            next_offset: where to pull next, behind all of them.
        """
        size = body_bytes(records)
        with self._lock:
            if self._stopping or self._dropped or asked != self._next_offset:
                return False
            if records:
                self._waiting.append(records)
                self._count += len(records)
                self._bytes += size
            self._next_offset = next_offset
            return True

    def seek(self, offset: int) -> None:
        """Go on from another offset: what is cached or in hand is forgotten, and counts no more."""
        with self._lock:
            for batch in self._taken:
                batch.in_hand, batch.finished = False, True
            self._taken.clear()
            self._waiting.clear()
            self._count = self._bytes = self._in_hand = 0
            self._next_offset = offset

    def hand_out(self, most: int) -> Batch | None:
        """Hand out the next messages; None when there are none, or not any more."""
        with self._lock:
            if not self._waiting or self._stopping or self._dropped:
                return None
            records = self._waiting[0]
            if len(records) > most:
                self._waiting[0] = records[most:]
                records = records[:most]
            else:
                self._waiting.popleft()
            batch = Batch(self, records)
            self._taken.append(batch)
            self._in_hand += 1
            return batch

    def hand_out_again(self, batch: Batch) -> bool:
        """Hand out once more what was put back; False when it is not to be consumed any more."""
        with self._lock:
            if self._stopping or self._dropped or batch.in_hand or batch.finished:
                return False
            batch.in_hand = True
            batch.doubt = self.doubt
            batch.attempt += 1
            self._in_hand += 1
            return True

    def finish(self, batch: Batch) -> bool:
        """This batch is consumed; False when that does not count: dropped, or not in hand."""
        with self._lock:
            if not batch.in_hand:
                return False
            batch.in_hand = False
            self._in_hand -= 1
            if self._dropped:
                return False
            batch.finished = True
            self._count -= len(batch.records)
            self._bytes -= batch.size_bytes
            taken = self._taken
            while taken and taken[0].finished:
                taken.popleft()
            while taken and taken[-1].finished:
                taken.pop()
            return True

    def put_back(self, batch: Batch, remaining: Sequence[Record] | None = None) -> bool:
        """Of a batch only these are not consumed; None: all of it. False as for `finish`."""
        with self._lock:
            if not batch.in_hand:
                return False
            batch.in_hand = False
            self._in_hand -= 1
            if self._dropped:
                return False
            if remaining is not None:
                size = body_bytes(remaining)
                self._count -= len(batch.records) - len(remaining)
                self._bytes -= batch.size_bytes - size
                batch.records, batch.size_bytes = remaining, size
            return True

    def recall(self) -> None:
        """Take back all that is in hand and was put back: it is handed out again, in its order."""
        with self._lock:
            for batch in reversed(self._taken):
                if not batch.finished:
                    self._waiting.appendleft(batch.records)
                batch.in_hand, batch.finished = False, True
            self._taken.clear()
            self._in_hand = 0
            if self._stopping or self._dropped:
                self._discard_waiting()

    def stop(self) -> bool:
        """Hand out nothing more; return whether nothing is in hand."""
        with self._lock:
            self._stopping = True
            self._discard_waiting()
            return self._in_hand == 0

    def drop(self) -> None:
        """Nothing counts any more: what is finished from now on is consumed again elsewhere."""
        with self._lock:
            self._dropped = True
            self._discard_waiting()

    @property
    def idle(self) -> bool:
        """Whether nothing is in hand."""
        return self._in_hand == 0

    def begin_turn(self, most: int = 1) -> bool:
        """Begin to serve the queue; False when so many do already, or there is nothing."""
        with self._lock:
            if self._turns >= most or not self._waiting or self._stopping or self._dropped:
                return False
            self._turns += 1
            return True

    def end_turn(self) -> bool:
        """End serving the queue; False when more came meanwhile: the turn goes on."""
        with self._lock:
            if self._waiting and not (self._stopping or self._dropped):
                return False
            self._turns -= 1
            return True

    def mark_touched(self) -> bool:
        """Note that something changed; whether nobody did since `noted` was asked."""
        noted, self._noted = self._noted, True
        return not noted

    def report_position(self) -> int:
        """Return the position, and let changes be noted anew."""
        with self._lock:
            self._noted = False
            return self._position()

    def _position(self) -> int:
        if self._taken:
            return self._taken[0].records[0].offset
        return self._waiting[0][0].offset if self._waiting else self._next_offset

    def _discard_waiting(self) -> None:
        if not self._waiting:
            return
        self._next_offset = self._waiting[0][0].offset
        for records in self._waiting:
            self._count -= len(records)
            self._bytes -= body_bytes(records)
        self._waiting.clear()
