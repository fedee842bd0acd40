"""What becomes of a batch by what the listener says, on real threads."""

from asyncio import CancelledError
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client.consume.pull import consume_service
from fairlead_client.consume.pull.consume_service import (
    ConcurrentConsumeService,
    ConsumeService,
    OrderlyConsumeService,
    Workers,
)
from fairlead_client.consume.pull.failed_messages import BY_ATTEMPT, DEAD_LETTER
from fairlead_client.consume.pull.listener import ConsumeContext, ConsumeResult
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.message import Message
from fairlead_client.model import Queue

if TYPE_CHECKING:
    from tests.pull.conftest import Kept, Scene

Pull = Callable[[Iterable[int]], list[Any]]
WAIT = 20.0
SUCCESS = ConsumeResult.CONSUME_SUCCESS
LATER = ConsumeResult.RECONSUME_LATER


def test_every_message_is_handed_out_once_in_batches(
    scene: "Callable[..., Scene]", work: ProcessQueue, pulled: Pull
) -> None:
    """Every message is handed out once, in batches of the size asked for at most."""
    one = scene(3)
    work.put(pulled(range(10, 20)), 10, 20)
    ConcurrentConsumeService(one.listen, **one.common).deliver(work, 10)
    batches = [one.seen.get(timeout=WAIT)[0] for _ in range(4)]
    assert sorted(offset for batch in batches for offset in batch) == list(range(10, 20))
    assert max(map(len, batches)) == 3
    assert max(one.settled.get(timeout=WAIT) for _ in range(4)) == 20


@pytest.mark.parametrize(
    "result, ack_index, sent_back",
    [
        (SUCCESS, 0, [11, 12]),
        (SUCCESS, -1, [10, 11, 12]),
        (SUCCESS, -7, [10, 11, 12]),
        (SUCCESS, 2, []),
        (SUCCESS, 99, []),
        (LATER, 0, [10, 11, 12]),
        (LATER, 99, [10, 11, 12]),
    ],
)
def test_messages_behind_ack_index_are_sent_back(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    pulled: Pull,
    kept: "Kept",
    *,
    result: ConsumeResult,
    ack_index: int,
    sent_back: list[int],
) -> None:
    """Of a success what is behind ack_index is sent back, of a failure all; here it is consumed."""
    one = scene(3)

    def answer(context: ConsumeContext) -> ConsumeResult:
        context.ack_index = ack_index
        return result

    one.answers = [answer]
    work.put(pulled([10, 11, 12]), 10, 13)
    consuming = ConcurrentConsumeService(one.listen, **one.common)
    consuming.deliver(work, 3)
    assert one.settled.get(timeout=WAIT) == 13
    assert kept.sent == [(offset, 1, BY_ATTEMPT) for offset in sent_back]
    assert consuming.counts["failed"] == len(sent_back)


@pytest.mark.parametrize("error", [SystemExit, CancelledError, KeyboardInterrupt])
@pytest.mark.parametrize("kind", ["concurrent", "ordered"])
def test_no_error_ends_a_thread(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    pulled: Pull,
    error: type[BaseException],
    kind: str,
) -> None:
    """Whatever a listener raises, the batch failed and comes again, and no thread ends of it."""
    one = scene(1, sends_back=False)

    def listen(_messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        context.suspend_ms = 10
        if context.attempt < 6:
            raise error
        return SUCCESS

    consuming = (
        OrderlyConsumeService(listen, max_reconsume_times=None, **one.common)
        if kind == "ordered"
        else ConcurrentConsumeService(listen, **one.common)
    )
    work.put(pulled([10]), 10, 11)
    consuming.deliver(work, 1)
    assert [one.settled.get(timeout=WAIT) for _ in range(6)] == [*[10] * 5, 11]
    assert consuming.counts["listener_errors"] == 5
    assert all(thread.is_alive() for thread in one.workers.threads)


def test_no_number_in_the_context(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    pulled: Pull,
    kept: "Kept",
    *,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What is no number in a context is logged, and its default holds: nothing stays in hand."""
    one = scene(1)
    monkeypatch.setitem(consume_service.DEFAULTS, "suspend_ms", 10)

    def answer(context: ConsumeContext) -> ConsumeResult:
        context.ack_index = context.delay = context.suspend_ms = None  # type: ignore[assignment]
        return SUCCESS if context.attempt == 2 else LATER

    one.answers = [answer] * 3
    work.put(pulled([10]), 10, 11)
    OrderlyConsumeService(one.listen, max_reconsume_times=None, **one.common).deliver(work, 1)
    assert [one.settled.get(timeout=WAIT) for _ in range(2)] == [10, 11]
    work.put(pulled([11]), 11, 12)
    ConcurrentConsumeService(one.listen, **one.common).deliver(work, 1)
    assert one.settled.get(timeout=WAIT) == 12
    assert kept.sent == [(11, 1, BY_ATTEMPT)]
    assert work.idle
    # A client of an earlier test may still end, and its library says so.
    told = [record for record in caplog.records if record.name == consume_service.__name__]
    warned = [record.args[0] for record in told if record.args]  # type: ignore[index]
    assert warned == ["ack_index", "delay", "suspend_ms"] * 3


@pytest.mark.parametrize("answer", [None, "yes", LATER, lambda _context: 1 // 0])
def test_what_cannot_be_sent_back_is_consumed_here_again(
    scene: "Callable[..., Scene]", work: ProcessQueue, pulled: Pull, kept: "Kept", answer: Any
) -> None:
    """What cannot be sent back is consumed here again; the position waits for it."""
    one = scene(3)
    one.answers = [answer]
    kept.broken_at = {11}
    work.put(pulled([10, 11, 12]), 10, 13)
    ConcurrentConsumeService(one.listen, **one.common).deliver(work, 3)
    assert one.seen.get(timeout=WAIT) == ([10, 11, 12], 1)
    assert one.settled.get(timeout=WAIT) == 11
    assert one.seen.get(timeout=WAIT) == ([11], 2)
    assert one.settled.get(timeout=WAIT) == 13
    assert [offset for offset, _, _ in kept.sent] == [10, 12]


def test_nowhere_to_send_back(
    scene: "Callable[..., Scene]", work: ProcessQueue, pulled: Pull
) -> None:
    """Without a retry topic a failed message is consumed here again, and never lost."""
    one = scene(1, sends_back=False)
    one.answers = [LATER, LATER]
    work.put(pulled([10]), 10, 11)
    ConcurrentConsumeService(one.listen, **one.common).deliver(work, 1)
    assert [one.seen.get(timeout=WAIT)[1] for _ in range(3)] == [1, 2, 3]
    assert [one.settled.get(timeout=WAIT) for _ in range(3)] == [10, 10, 11]


def test_a_result_after_the_lease_does_not_count(
    scene: "Callable[..., Scene]", work: ProcessQueue, pulled: Pull
) -> None:
    """A result that comes after the lease does not count: the successor reads the batch again."""
    one = scene(1)

    def lose(_context: ConsumeContext) -> ConsumeResult:
        one.mine = False
        return SUCCESS

    one.answers = [lose]
    work.put(pulled([10, 11]), 10, 12)
    consuming = ConcurrentConsumeService(one.listen, **one.common)
    consuming.deliver(work, 1)
    assert one.settled.get(timeout=WAIT) == 10
    assert work.count == 2


def test_an_ordered_queue_runs_one_thread_at_a_time(
    scene: "Callable[..., Scene]", work: ProcessQueue, pulled: Pull
) -> None:
    """One thread at a time; what failed comes again before anything later of its queue."""
    one = scene(2)
    running, most, order = Event(), [0], []

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        most[0] += running.is_set()
        running.set()
        order.append(messages[0].offset)
        context.suspend_ms = 10
        failed = messages[0].offset == 14 and context.attempt < 3
        running.clear()
        return ConsumeResult.SUSPEND_CURRENT_QUEUE_A_MOMENT if failed else SUCCESS

    consuming = OrderlyConsumeService(listen, max_reconsume_times=None, **one.common)
    for start in range(10, 30, 4):
        work.put(pulled(range(start, start + 4)), start, start + 4)
        consuming.deliver(work, 4)
    while one.settled.get(timeout=WAIT) < 30:
        pass
    assert order == [10, 12, 14, 14, 14, *range(16, 30, 2)]
    assert most == [0]
    assert consuming.counts["suspended"] == 2


def test_an_ordered_message_that_fails_too_often_is_buried(
    scene: "Callable[..., Scene]", work: ProcessQueue, pulled: Pull, kept: "Kept"
) -> None:
    """An ordered message that failed too often goes to the dead letters, and the queue goes on."""
    one = scene(1)

    def suspend(context: ConsumeContext) -> ConsumeResult:
        context.suspend_ms = 10
        return LATER

    one.answers = [suspend] * 3
    work.put(pulled([10, 11]), 10, 12)
    consuming = OrderlyConsumeService(one.listen, max_reconsume_times=2, **one.common)
    consuming.deliver(work, 2)
    while one.settled.get(timeout=WAIT) < 12:
        pass
    assert kept.sent == [(10, 3, DEAD_LETTER)]
    assert [one.seen.get(timeout=WAIT) for _ in range(4)] == [
        ([10], 1),
        ([10], 2),
        ([10], 3),
        ([11], 1),
    ]


@pytest.mark.parametrize(
    "consuming_of",
    [ConcurrentConsumeService, partial(OrderlyConsumeService, max_reconsume_times=None)],
    ids=["concurrent", "orderly"],
)
@pytest.mark.parametrize("seconds, turn", [(WAIT, consume_service.TURN_MESSAGES), (0.0, 1)])
def test_queues_take_turns(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    queue: Queue,
    pulled: Pull,
    *,
    monkeypatch: pytest.MonkeyPatch,
    consuming_of: Callable[..., ConsumeService],
    seconds: float,
    turn: int,
) -> None:
    """A queue with much to do leaves others their turn on the same thread; if slow, the sooner."""
    monkeypatch.setattr(consume_service, "TURN_SECONDS", seconds)
    one = scene(1)
    one.common["workers"] = alone = Workers(1)
    other = ProcessQueue(queue._replace(queue_id=2), work.epoch, 0)
    many = 2 * consume_service.TURN_MESSAGES
    work.put(pulled(range(10, 10 + many)), 10, 10 + many)
    other.put(pulled([0]), 0, 1)
    consuming = consuming_of(one.listen, **one.common)
    consuming.deliver(work, many)
    consuming.deliver(other, 1)
    alone.start()
    seen = [one.seen.get(timeout=WAIT)[0][0] for _ in range(many + 1)]
    alone.stop()
    assert seen.index(0) == turn


def test_a_backlog_starves_nobody(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    queue: Queue,
    pulled: Pull,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside a queue that is always full another waits for one turn of each thread at most."""
    monkeypatch.setattr(consume_service, "TURN_SECONDS", WAIT)
    one = scene(1)
    other = ProcessQueue(queue._replace(queue_id=2), work.epoch, 0)
    bound = len(one.workers.threads) * consume_service.TURN_MESSAGES
    lock, came = Lock(), Event()
    seen = begun_at = came_at = 0

    def listen(_messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        nonlocal seen, begun_at, came_at
        if context.queue == other.queue:
            # Without the lock: while this one waited for it, the others would go on.
            came_at = seen
            came.set()
            return SUCCESS
        with lock:
            seen += 1
            if seen == 100:
                begun_at = seen
                other.put(pulled([0]), 0, 1)
                consuming.deliver(other, 1)
            # For each message that is consumed one is pulled, until it lasts too long.
            if not came.is_set() and seen < 3 * bound:
                offset = work.next_offset
                work.put(pulled([offset]), offset, offset + 1)
                consuming.deliver(work, 1)
        return SUCCESS

    consuming = ConcurrentConsumeService(listen, **one.common)
    work.put(pulled(range(10, 510)), 10, 510)
    consuming.deliver(work, 500)
    assert came.wait(WAIT)
    assert came_at - begun_at <= bound
