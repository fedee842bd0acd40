"""The pulled messages of one queue that are not consumed yet (RocketMQ's ProcessQueue).

It counts by batches: it takes pulled lists, and hands out slices of them in the order of their
offsets, which may finish in any order. The position is the lowest offset not consumed.
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
    """Consecutive messages of one queue that are consumed together.

    Attributes:
        attempt: how often they were handed out here, including the present time. A time that did
            not count is left out.
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
        """Whether the application heard meanwhile that it does not own the queue."""
        return self.doubt is not self.work.doubt


def body_bytes(records: Sequence[Record]) -> int:
    """Return the total size of the records' bodies in bytes."""
    return sum([len(record.value or b"") for record in records])


class ProcessQueue:
    """One queue under one epoch. Any thread may call it; no call waits.

    A stopping queue hands out no more batches, but counts those in hand until they are finished. A
    dropped queue hands out nothing, and nothing counts.

    Args:
        queue: the queue.
        epoch: the fencing token of this tenure.
        offset: where it begins; nothing of an earlier tenure is used.
    """

    def __init__(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        self.queue = queue
        self.epoch = epoch
        self.end: int | None = None
        self.last_pull_ms: int | None = None
        self.stopping_since: float | None = None
        # A new object each time the application hears that it does not own the queue.
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
        self._touched = False

    @property
    def next_offset(self) -> int:
        """The next offset to pull."""
        return self._next_offset

    @property
    def count(self) -> int:
        """The number of messages pulled and not consumed."""
        return self._count

    @property
    def size_bytes(self) -> int:
        """The size of their bodies in bytes."""
        return self._bytes

    @property
    def stopping(self) -> bool:
        """Whether the queue is no longer pulled and handed out."""
        return self._stopping

    @property
    def dropped(self) -> bool:
        """Whether nothing counts any more."""
        return self._dropped

    @property
    def position(self) -> int:
        """The lowest offset not consumed, or the next one to pull."""
        with self._lock:
            return self._position()

    @property
    def span(self) -> int:
        """The distance from the first to the last message that is not consumed, in offsets."""
        with self._lock:
            if not self._count:
                return 0
            taken = self._taken
            last = self._waiting[-1] if self._waiting else taken[-1].records
            first = taken[0].records if taken else self._waiting[0]
            return last[-1].offset - first[0].offset

    def put(self, records: Sequence[Record], asked: int, next_offset: int) -> bool:
        """Store pulled records; False if the queue has stopped, or has moved to another offset.

        Args:
            records: the records in order, none below `asked`; empty: only the offset moves.
            asked: the offset they were pulled from.
            next_offset: the next offset to pull, behind all of them.
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
        """Continue at another offset; cached messages and those in hand no longer count."""
        with self._lock:
            for batch in self._taken:
                batch.in_hand, batch.finished = False, True
            self._taken.clear()
            self._waiting.clear()
            self._count = self._bytes = self._in_hand = 0
            self._next_offset = offset

    def hand_out(self, most: int) -> Batch | None:
        """Hand out the next messages; None if there are none, or the queue has stopped."""
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
        """Hand out a put-back batch once more; False if nobody may consume it any more."""
        with self._lock:
            if self._stopping or self._dropped or batch.in_hand or batch.finished:
                return False
            batch.in_hand = True
            batch.doubt = self.doubt
            batch.attempt += 1
            self._in_hand += 1
            return True

    def finish(self, batch: Batch) -> bool:
        """Note that a batch is consumed; False if it was dropped or is not in hand."""
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
        """Take a batch back; only `remaining` of it is not consumed. False as for `finish`.

        None: the whole batch remains.
        """
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
        """Take back all batches in hand or put back, to hand them out again in order."""
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
        """Hand out no more batches; return whether none is in hand."""
        with self._lock:
            self._stopping = True
            self._discard_waiting()
            return self._in_hand == 0

    def drop(self) -> None:
        """Let nothing count from now on: others will consume the messages again."""
        with self._lock:
            self._dropped = True
            self._discard_waiting()

    @property
    def idle(self) -> bool:
        """Whether no batch is in hand."""
        return self._in_hand == 0

    def begin_turn(self, most: int = 1) -> bool:
        """Begin to serve the queue; False if `most` threads do so, or no message waits."""
        with self._lock:
            if self._turns >= most or not self._waiting or self._stopping or self._dropped:
                return False
            self._turns += 1
            return True

    def end_turn(self) -> bool:
        """Stop serving the queue; False if more messages came meanwhile, and the turn goes on."""
        with self._lock:
            if self._waiting and not (self._stopping or self._dropped):
                return False
            self._turns -= 1
            return True

    def mark_touched(self) -> bool:
        """Note a change; return whether it is the first since `report_position`."""
        touched, self._touched = self._touched, True
        return not touched

    def report_position(self) -> int:
        """Return the position, and forget the change."""
        with self._lock:
            self._touched = False
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
