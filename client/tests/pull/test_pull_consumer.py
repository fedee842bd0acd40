"""What an application gets that polls and pulls itself, from a source in memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from fairlead_client import (
    ClientClosedError,
    LifecycleError,
    PullConsumer,
    SettingsError,
    Subscription,
)
from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.pull_member import PullMember
from fairlead_client.consume.pull.pull_service import DirectPull
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.clock import now_ms
from fairlead_client.session.session import Ownership

WAIT = 20.0
EPOCH = Epoch(1, 1)
Pull = Callable[[Iterable[int]], list[Any]]


class HeldSource:
    """A source that has every offset, and answers when a test lets it."""

    def __init__(self, pulled: Pull) -> None:
        self._pulled = pulled
        self.asked, self.let = Event(), Event()
        self.pulls = 0

    def connect(self) -> None:
        """There is nothing to connect to."""

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Nothing is refused."""

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Everything is wanted."""

    def follow(self, queues: Collection[Queue]) -> None:
        """Every queue is there."""

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Wait for the test, then answer with one message of each queue."""
        del wait_ms, most
        self.pulls += 1
        self.asked.set()
        assert self.let.wait(WAIT)
        return {
            queue: PullResult(PullStatus.FOUND, offset + 1, self._pulled([offset]))
            for queue, offset in offsets.items()
        }

    def close(self) -> None:
        """There is nothing to close."""


class Detached(PullConsumer):
    """A pull consumer whose queues a test gives and takes; its session is not started."""

    def __init__(self, source: HeldSource, *, auto_commit: bool = True) -> None:
        super().__init__(
            bootstrap="localhost:1",
            group="g",
            topics=["orders"],
            message_source=source,
            auto_commit=auto_commit,
        )
        self._thread = super(PullMember, self)._new_thread()

    def give(self, queue: Queue, epoch: Epoch = EPOCH) -> ProcessQueue:
        """Have a queue come."""
        assert self._thread is not None
        owned = {**self._thread.ownership.epochs, queue: epoch}
        self._thread.ownership = Ownership(now_ms() + 600_000, owned)
        self._queue_table.start_work(queue, epoch, Position(0, 0))
        return self._own(queue)

    def ask(self, queue: Queue, offset: int) -> "Future[PullResult]":
        """Put a pull of the application in line behind those that are there."""
        answer: Future[PullResult] = Future()
        self._service.pull(DirectPull(self._own(queue), offset, 1, 10_000, answer))
        return answer

    def take_away(self, queue: Queue) -> None:
        """Have it go."""
        self._queue_table.stop_work(queue, EPOCH)

    def fill(self, work: ProcessQueue, records: Sequence[Any]) -> None:
        """Have messages come."""
        work.put(records, records[0].offset, records[-1].offset + 1)
        self._on_messages(work, len(records))

    def renew(self, lease_ms: int) -> None:
        """Have the lease end so long from now."""
        assert self._thread is not None
        self._thread.ownership = replace(self._thread.ownership, until_ms=now_ms() + lease_ms)

    def start_pulling(self) -> None:
        """Start the pull service."""
        self._service.start()
        self._timer.start()

    def end_pulling(self) -> None:
        """End it."""
        if self._service.is_alive():
            self._service.stop()
            self._service.join(WAIT)
            self._timer.stop()
            self._timer.join(WAIT)


@pytest.fixture
def source(pulled: Pull) -> HeldSource:
    """Where messages come from."""
    return HeldSource(pulled)


@pytest.fixture
def one(source: HeldSource) -> Iterator[Detached]:
    """A consumer, whose service ends after the test if it was started."""
    made = Detached(source)
    yield made
    source.let.set()
    made.end_pulling()


def test_a_backlog_starves_nobody(one: Detached, queue: Queue, pulled: Pull) -> None:
    """Beside a queue that is always full another one has its turn at once."""
    full, other = one.give(queue), one.give(queue._replace(queue_id=2))

    def polled() -> Queue:
        while full.count <= 1_000:
            one.fill(full, pulled(range(full.next_offset, full.next_offset + 100)))
        return one.poll(0)[0].queue

    assert {polled() for _ in range(20)} == {full.queue}
    one.fill(other, pulled([0]))
    assert other.queue in {polled(), polled()}


@pytest.mark.parametrize("auto_commit, counts", [(True, 2), (False, 0)])
def test_what_counts_as_processed(
    source: HeldSource, queue: Queue, pulled: Pull, *, auto_commit: bool, counts: int
) -> None:
    """Asking for more says it of what was polled before, and of nothing else; or commit() does."""
    one = Detached(source, auto_commit=auto_commit)
    work = one.give(queue)
    one.fill(work, pulled(range(4)))
    assert [message.offset for message in one.poll(0, 2)] == [0, 1]
    assert work.position == 0
    assert [message.offset for message in one.poll(0, 2)] == [2, 3]
    assert work.position == counts
    one.commit()
    assert work.position == 4


def test_a_queue_read_to_its_end_is_read_again(one: Detached, queue: Queue, pulled: Pull) -> None:
    """A queue that was read to its end is read again when more comes."""
    work = one.give(queue)
    for offset in range(3):
        one.fill(work, pulled([offset]))
        assert [message.offset for message in one.poll(0)] == [offset]
        assert one.poll(0) == ()


def test_a_lease_that_is_renewed_after_all(one: Detached, queue: Queue, pulled: Pull) -> None:
    """What was committed while the lease had run out comes again before anything later."""
    work = one.give(queue)
    one.start_pulling()
    one.fill(work, pulled(range(6)))
    assert [[message.offset for message in one.poll(0, 2)] for _ in range(2)] == [[0, 1], [2, 3]]
    one.renew(0)
    assert one.poll(0) == ()
    assert work.position == 2
    one.renew(600_000)
    again = [[message.offset for message in one.poll(20_000, 2)] for _ in range(2)]
    assert again == [[2, 3], [4, 5]]
    one.commit()
    assert (work.position, work.count) == (6, 0)


def test_what_was_left_out(one: Detached, queue: Queue, pulled: Pull) -> None:
    """What was polled before `still_mine` was None comes again, though the lease is renewed."""
    work = one.give(queue)
    one.fill(work, pulled(range(6)))
    assert [[message.offset for message in one.poll(0, 2)] for _ in range(2)] == [[0, 1], [2, 3]]
    one.renew(0)
    assert one.still_mine(queue) is None
    one.renew(600_000)
    again = [[message.offset for message in one.poll(0, 2)] for _ in range(2)]
    assert again == [[2, 3], [4, 5]]
    one.commit()
    assert (work.position, work.count) == (6, 0)


def test_what_was_polled_after_it(source: HeldSource, queue: Queue, pulled: Pull) -> None:
    """What was polled after `still_mine` was None counts; what was in hand before does not."""
    one = Detached(source, auto_commit=False)
    work = one.give(queue)
    one.fill(work, pulled(range(4)))
    assert [message.offset for message in one.poll(0, 2)] == [0, 1]
    one.renew(0)
    assert not one.is_locked(queue)
    one.renew(600_000)
    assert [message.offset for message in one.poll(0, 2)] == [2, 3]
    one.commit()
    assert (work.position, work.count) == (0, 2)
    assert [message.offset for message in one.poll(0, 4)] == [0, 1]
    one.commit()
    assert (work.position, work.count) == (4, 0)


def test_a_lease_that_was_lost(one: Detached, queue: Queue, pulled: Pull) -> None:
    """Once the queue is taken away nothing of it comes again."""
    work = one.give(queue)
    one.start_pulling()
    one.fill(work, pulled(range(4)))
    assert [message.offset for message in one.poll(0, 2)] == [0, 1]
    one.renew(0)
    assert one.poll(0) == ()
    one.take_away(queue)
    one.renew(600_000)
    assert one.poll(300) == ()
    assert (work.position, work.stopping) == (0, True)


@pytest.mark.parametrize("comes_back", [False, True])
def test_taken_away_while_it_is_pulled(
    one: Detached, source: HeldSource, queue: Queue, *, comes_back: bool
) -> None:
    """What is answered after the queue was taken away is not handed out."""
    one.give(queue)
    one.start_pulling()
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(one.pull, queue, 0, timeout_ms=10_000)
        assert source.asked.wait(WAIT)
        one.take_away(queue)
        if comes_back:
            one.give(queue, Epoch(1, 2))
        source.let.set()
        with pytest.raises(ClientClosedError):
            answer.result(WAIT)


def test_no_messages_asked_for(one: Detached, queue: Queue) -> None:
    """Less than one message is refused, and the client lives."""
    one.give(queue)
    with pytest.raises(SettingsError, match=r"^max_messages: 0 is too few"):
        one.poll(0, max_messages=0)
    with pytest.raises(SettingsError, match=r"^max_messages: 0 is too few"):
        one.pull(queue, 0, max_messages=0)


def test_a_queue_that_comes_back_has_its_lock(one: Detached, queue: Queue) -> None:
    """A queue that was unlocked and comes back has its lock again."""
    one.give(queue)
    one.unlock(queue)
    assert not one.is_locked(queue)
    one.take_away(queue)
    one.give(queue, Epoch(1, 2))
    assert one.is_locked(queue)


def test_unlocked_is_not_pulled(one: Detached, source: HeldSource, queue: Queue) -> None:
    """Of an unlocked queue nothing is pulled, whoever asks; locked again, it is."""
    one.give(queue)
    one.start_pulling()
    source.let.set()
    one.unlock(queue)
    with pytest.raises(LifecycleError, match=r"is unlocked; call lock\(\)"):
        one.pull(queue, 0)
    assert source.pulls == 0
    assert one.lock(queue)
    assert one.pull(queue, 0, timeout_ms=10_000)[1] == 1


def test_unlocked_while_it_is_pulled(one: Detached, source: HeldSource, queue: Queue) -> None:
    """What is answered after the unlock is not handed out, and who waits in line is refused."""
    one.give(queue)
    one.start_pulling()
    with ThreadPoolExecutor(2) as others:
        under_way = others.submit(one.pull, queue, 0, timeout_ms=10_000)
        assert source.asked.wait(WAIT)
        in_line = one.ask(queue, 5)
        one.unlock(queue)
        source.let.set()
        with pytest.raises(LifecycleError, match="is unlocked"):
            under_way.result(WAIT)
        assert isinstance(in_line.exception(WAIT), LifecycleError)
    assert source.pulls == 1
