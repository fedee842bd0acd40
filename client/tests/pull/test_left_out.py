"""A message that an application left out, for it heard that the queue was not its just then."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest
from fairlead_client import Consumer, Message, Observer, PushConsumer
from fairlead_client.consume.pull.listener import ConsumeContext, ConsumeResult
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.pull_member import PullMember
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.clock import now_ms
from fairlead_client.session.session import Ownership
from fairlead_client.transport.control_thread import ControlThread

WAIT = 20.0
EPOCH = Epoch(1, 1)
OPTIONS: dict[str, Any] = {"bootstrap": "localhost:1", "group": "g", "topics": ["orders"]}


def lapse(thread: ControlThread, asked: Callable[[], object]) -> None:
    """Have something asked between the end of a lease and its renewal."""
    held = thread.ownership
    thread.ownership = replace(held, until_ms=0)
    asked()
    thread.ownership = held


class Polls(Observer):
    """Counts polls."""

    count = 0

    def polled(self) -> None:
        """Count."""
        self.count += 1


class Pushed(PushConsumer):
    """A push consumer whose queue a test gives; its session is not started.

    While the first batch is in its listener's hands the lease runs out and is renewed.
    """

    def __init__(self, queue: Queue, *, ordered: bool, asks: bool) -> None:
        self.polls = Polls()
        super().__init__(
            listener=self.listen,
            ordered=ordered,
            retry_topic=False,
            consume_threads=1,
            observer=self.polls,
            **OPTIONS,
        )
        self.queue, self.asks = queue, asks
        self.seen: SimpleQueue[tuple[int, int, bool]] = SimpleQueue()
        self.thread = self._thread = super(PullMember, self)._new_thread()
        self.thread.ownership = Ownership(now_ms() + 600_000, {queue: EPOCH})
        self._workers.start()
        self._timer.start()

    def listen(self, messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        """Note each message, and whether an answer was None meanwhile."""
        answers = [self.still_mine(self.queue)]
        if self.seen.empty():
            asked = self.still_mine if self.asks else self._epoch_of
            lapse(self.thread, lambda: answers.append(asked(self.queue)))
        for message in messages:
            self.seen.put((message.offset, context.attempt, None in answers))
        return ConsumeResult.CONSUME_SUCCESS

    def fill(self, records: Sequence[Any]) -> ProcessQueue:
        """Have the queue come with these messages, and wait until they are consumed."""
        first = records[0].offset
        self._queue_table.start_work(self.queue, EPOCH, Position(0, first))
        work = self._own(self.queue)
        work.put(records, first, records[-1].offset + 1)
        self._on_messages(work, len(records))
        for _ in range(2):
            # What comes again is put in line behind the first turn.
            consumed = Event()
            self._workers.submit(consumed.set)
            assert consumed.wait(WAIT)
        return work

    def _own(self, queue: Queue) -> ProcessQueue:
        work = self._queue_table.find(queue)
        assert work is not None
        return work

    def end(self) -> None:
        """End the threads."""
        self._workers.stop()
        self._timer.stop()
        for thread in [*self._workers.threads, self._timer]:
            thread.join(WAIT)


@pytest.fixture
def pushed(queue: Queue) -> Iterator[Callable[..., Pushed]]:
    """Make consumers whose threads end after the test."""
    made: list[Pushed] = []

    def make(**options: bool) -> Pushed:
        made.append(Pushed(queue, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("asks", [True, False])
def test_what_a_listener_left_out_comes_again_once(
    pushed: Callable[..., Pushed],
    pulled: Callable[[Iterable[int]], list[Any]],
    *,
    ordered: bool,
    asks: bool,
) -> None:
    """It comes again as the same attempt, once; what the client asks itself tells nobody."""
    one = pushed(ordered=ordered, asks=asks)
    work = one.fill(pulled([10]))
    assert (work.position, work.count) == (11, 0)
    seen = [one.seen.get(timeout=WAIT) for _ in range(one.seen.qsize())]
    assert seen == ([(10, 1, True), (10, 1, False)] if asks else [(10, 1, True)])
    assert one.polls.count == len(seen)


class Handed(Consumer):
    """A consumer whose queue a test gives; its session is not started."""

    def __init__(self, queue: Queue) -> None:
        super().__init__(explicit_done=True, **OPTIONS)
        self.thread = self._thread = self._new_thread()
        self.thread.ownership = Ownership(now_ms() + 600_000, {queue: EPOCH})
        self.book = self._in_flight
        self.book.start_work(queue, EPOCH, Position(0, 3))

    def hand_out(self, message: Message) -> bool:
        """Hand a message out as `poll` does."""
        self.book.rewind(self._epoch_of)
        return self.book.hand_out(message, self._epoch_of)


def test_what_a_loop_left_out_comes_again_first(queue: Queue) -> None:
    """What was in hand comes again, in front of what was handed out later and counts."""
    one = Handed(queue)
    first, second = (Message(queue, offset, None, b"", (), 0, EPOCH) for offset in (3, 4))
    assert one.hand_out(first)
    lapse(one.thread, lambda: one.still_mine(queue))
    assert one.hand_out(second)
    assert one.done(second)
    assert not one.done(first)
    assert [made.offset for made in one.book.collect_progress()] == [3]
    for message in (first, second):
        assert one.hand_out(message)
        assert one.done(message)
    assert [made.offset for made in one.book.collect_progress()] == [5]


def test_of_a_queue_that_goes(queue: Queue) -> None:
    """A queue that is taken away after it is released in front of what was left out."""
    one = Handed(queue)
    message = Message(queue, 3, None, b"", (), 0, EPOCH)
    assert one.hand_out(message)
    lapse(one.thread, lambda: one.still_mine(queue))
    one.book.stop_work(queue, EPOCH)
    assert not one.done(message)
    assert one.book.readable() == {}
    one.book.start_work(queue, Epoch(1, 2), Position(0, 3))
    assert not one.done(message)
