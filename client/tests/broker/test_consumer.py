"""The Consumer on a real broker: every message once, the one in hand before a release."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import (
    Consumer,
    DuplicateClientIdError,
    Epoch,
    Message,
    Observer,
    Queue,
    SettingsError,
    StartFailedError,
    Subscription,
)
from fairlead_client.model import Position

if TYPE_CHECKING:
    from tests.broker.conftest import Pausable, ScriptedEngine

BOTH = pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)


@pytest.fixture
def consumer(engine: Any, transport: Any, data_topic: str) -> Iterator[Callable[..., Consumer]]:
    """Make started consumers that are closed after the test."""
    made: list[Consumer] = []

    def make(client_id: str, *, started: bool = True, **settings: Any) -> Consumer:
        place = transport.settings(group=engine.group, topics=[data_topic], **settings)
        one = Consumer(client_id=client_id, **place)
        made.append(one)
        if started:
            one.start()
        return one

    yield make
    for one in made:
        one.close(5_000)


def take(consumer: Consumer, count: int) -> list[Message]:
    """Poll until so many messages came; the last one stays in hand."""
    messages = []
    for _ in range(count):
        message = consumer.poll(30_000)
        assert message is not None
        messages.append(message)
    return messages


@BOTH
def test_messages_come_in_queue_order_from_the_granted_position(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """Messages come in the order of their queue, from where each was granted."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    queues = [Queue(data_topic, "main", number) for number in range(2)]
    engine.grant(beat, queues[0], 1, Position(0, 15))
    engine.grant(beat, queues[1], 2)
    messages = take(one, 25)
    for queue, first in zip(queues, (15, 0), strict=True):
        offsets = [message.offset for message in messages if message.queue == queue]
        assert offsets == list(range(first, 20))
    for queue in queues:
        engine.await_end(queue, 20)
    last = messages[-1]
    assert (last.value, last.epoch) == (str(last.offset).encode(), one.still_mine(last.queue))


def test_a_queue_is_released_behind_the_message_in_hand(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """A queue that is taken away is released behind the message in hand, and no sooner."""
    first, second = consumer("a"), consumer("b")
    beats = engine.heartbeat("a"), engine.heartbeat("b")
    queue = Queue(data_topic, "main", 0)
    assert second.waiting_for is not None
    assert second.waiting_for.kind.value in ("engine", "assignment")
    engine.grant(beats[0], queue, 1)
    assert take(first, 5)[-1].offset == 4
    engine.grant(beats[1], queue, 2, after=((beats[0], 1),))
    engine.revoke(beats[0], queue, 1, record=2)
    engine.applied("a", 2)
    assert second.poll(1_000) is None
    assert second.waiting_for is not None
    assert second.waiting_for.kind.value == "release"
    assert second.waiting_for.words == f"{data_topic}/main/0 waits for its release by a"
    assert first.still_mine(queue) == (1, 1)
    assert first.waiting_for is None
    assert first.poll(500) is None
    assert engine.release(queue, 1)["position"] == [0, 5]
    assert take(second, 1)[0].offset == 5
    assert second.waiting_for is None


def test_other_tags_are_skipped_and_the_position_moves_on(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write_more: Callable[..., None],
) -> None:
    """Messages of other tags are passed over, and the position with them, also by new filters."""
    for tag, count in ((b"B", 3), (b"A", 1), (b"B", 2), (b"D", 1), (b"B", 1)):
        write_more(0, count, ("kind", tag))
    queue = Queue(data_topic, "main", 0)
    wanted = [Subscription(data_topic, "A || C")]
    one = member(Consumer, "a", topics=wanted, tag_header="kind")
    with pytest.raises(SettingsError, match=r"^topics: .*sql92.*; subscribe by tag"):
        one.subscribe([Subscription(data_topic, "a > 5", "sql92")])
    engine.grant(engine.heartbeat("a"), queue, 1)
    assert take(one, 1)[0].offset == 23
    one.subscribe([Subscription(data_topic, "D")])
    assert take(one, 1)[0].offset == 26
    assert one.poll(300) is None
    engine.await_record(
        "progress", lambda record: any(entry["position"] == [0, 28] for entry in record["queues"])
    )


def test_a_queue_that_comes_back_goes_on_at_its_release(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """A queue that comes back goes on at its release, whatever was fetched before."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    take(one, 3)
    engine.revoke(beat, queue, 1, record=2)
    engine.applied("a", 2)
    assert one.poll(200) is None
    engine.release(queue, 1)
    engine.grant(beat, queue, 3, Position(0, 3))
    message = take(one, 1)[0]
    assert (message.offset, message.epoch) == (3, (1, 3))


def test_idle_queue_is_released_at_once(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """A queue with nothing in hand is released although the application asks for nothing."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1, Position(0, 9))
    engine.revoke(beat, queue, 1, record=2)
    assert engine.release(queue, 1)["position"] == [0, 9]
    assert one.poll(200) is None


def test_with_explicit_done_the_contiguous_position_counts(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """With explicit_done the contiguous position counts, in whatever order messages are done."""
    one = consumer("a", explicit_done=True, drain_deadline_ms=500)
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    messages = take(one, 4)
    for index in (3, 0, 2):
        assert one.done(messages[index])
    engine.revoke(beat, queue, 1, record=2)
    assert engine.release(queue, 1)["position"] == [0, 1]
    assert not one.done(messages[1])


def test_in_hand_when_the_lease_ends(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """What an application left out because its lease was over is not released as processed."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    assert [message.offset for message in take(one, 5)] == list(range(5))
    engine.notice(beat, "lapsed")
    deadline = monotonic() + 30
    while one.still_mine(queue) is not None:
        assert monotonic() < deadline
        sleep(0.01)
    assert one.poll(200) is None
    assert engine.release(queue, 1)["position"] == [0, 4]


def test_iteration_ends_after_stop_and_releases_what_was_handled(
    engine: "ScriptedEngine",
    consumer: Callable[..., Consumer],
    data_topic: str,
    committed: Callable[..., Any],
) -> None:
    """Iteration ends at its next turn after stop(); what was handled is released and committed."""
    one = consumer("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(engine.heartbeat("a"), queue, 1)
    seen = []
    for message in one:
        seen.append(message.offset)
        if len(seen) == 6:
            one.stop()
    one.close()
    assert seen == list(range(6))
    assert engine.release(queue, 1)["position"] == [0, 6]
    assert committed(engine.group, data_topic, 0) == (6, '{"v":1,"reset":0}')


@BOTH
def test_stop_with_a_message_in_hand(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """stop() leaves at once and releases idle queues; the one with a message in hand is awaited."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    busy, idle = (Queue(data_topic, "main", number) for number in range(2))
    engine.grant(beat, busy, 1)
    assert take(one, 3)[-1].offset == 2
    engine.grant(beat, idle, 2, Position(0, 7))
    engine.applied("a", 2)
    one.stop()
    engine.await_record("leave")
    assert engine.release(idle, 2)["position"] == [0, 7]
    assert one.still_mine(busy) == (1, 1)
    assert one.poll(30_000) is None
    assert engine.release(busy, 1)["position"] == [0, 3]
    assert one.state == "closed"


def test_a_stop_while_joining_is_no_failure(
    kafka: "Pausable", consumer: Callable[..., Consumer]
) -> None:
    """stop() while the client joins is no failure: the start returns and nothing is read."""
    one = consumer("a", started=False, lease_ms=2_000, heartbeat_ms=500)
    with ThreadPoolExecutor(1) as pool:
        kafka.pause()
        try:
            started = pool.submit(one.start)
            deadline = monotonic() + 30
            while one.state != "starting":
                assert monotonic() < deadline
            one.stop()
        finally:
            kafka.resume()
        started.result(30)
    assert list(one) == []


def test_options_that_cannot_be(consumer: Callable[..., Consumer]) -> None:
    """Options that kafka-python refuses fail the start at once, however long it may take."""
    one = consumer("a", started=False, fetch={"fetch_max_wait_ms": 60_000})
    begun = monotonic()
    with pytest.raises(StartFailedError, match="fetch_max_wait_ms"):
        one.start()
    assert monotonic() - begun < 20


def test_grant_ends_the_fetch(
    engine: "ScriptedEngine",
    consumer: Callable[..., Consumer],
    data_topic: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The record that grants a new queue wakes a consumer that waits for messages."""
    monkeypatch.setattr("fairlead_client.consume.kafka_reading.SLICE_SECONDS", 60.0)
    read: SimpleQueue[Queue] = SimpleQueue()

    class Looking(Observer):
        def reading(self, queue: Queue, epoch: Epoch, offset: int) -> None:
            del epoch, offset
            read.put(queue)

    one = consumer("a", observer=Looking())
    beat = engine.heartbeat("a")
    queues = [Queue(data_topic, "main", number) for number in range(2)]
    with ThreadPoolExecutor(1) as pool:
        polled = pool.submit(one.poll, 60_000)
        for number, queue in enumerate(queues, start=1):
            engine.grant(beat, queue, number, Position(0, 20))
            assert read.get(timeout=30) == queue
        one.stop()
        engine.revoke(beat, queues[0], 1, record=3)
        polled.result(30)


@BOTH
def test_a_message_whose_handling_raised_is_read_again(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """A message whose handling raised is not processed: it will be read again."""
    queue = Queue(data_topic, "main", 0)

    def fail() -> None:
        with consumer("a", started=False) as one:
            engine.grant(engine.heartbeat("a"), queue, 1)
            raise LookupError(take(one, 4)[-1].value)

    with pytest.raises(LookupError, match="3"):
        fail()
    assert engine.release(queue, 1)["position"] == [0, 3]


def test_close_from_another_thread(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """close() from another thread waits for the message in hand."""
    one = consumer("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(engine.heartbeat("a"), queue, 1)
    take(one, 1)
    closer = Thread(target=one.close)
    closer.start()
    assert one.poll(100) is None
    closer.join(30)
    assert not closer.is_alive()
    assert engine.release(queue, 1)["position"] == [0, 1]


def test_the_lesser_duplicate_stops_for_good(
    engine: "ScriptedEngine", consumer: Callable[..., Consumer], data_topic: str
) -> None:
    """The loser of two processes with one id stops for good, and its loop raises the error."""
    one = consumer("a")
    queue = Queue(data_topic, "main", 0)
    beat = engine.heartbeat("a")
    engine.grant(beat, queue, 1)
    take(one, 2)
    winner = {"start_ms": beat["process"]["start_ms"] + 1, "uuid": "p"}
    engine.notice(beat, "duplicate_client_id", winner=winner)
    with pytest.raises(DuplicateClientIdError):
        list(one)
    assert one.state == "closed"
    assert engine.release(queue, 1)["position"][1] >= 2
    engine.await_record("leave")


def test_a_partition_added_later_is_read(
    engine: "ScriptedEngine",
    consumer: Callable[..., Consumer],
    data_topic: str,
    grow: Callable[[str, int], None],
) -> None:
    """A partition that was added after the consumer had started is read."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    engine.grant(beat, Queue(data_topic, "main", 0), 1)
    take(one, 20)
    grow(data_topic, 3)
    added = Queue(data_topic, "main", 2)
    engine.grant(beat, added, 2)
    message = take(one, 1)[0]
    assert (message.queue, message.value) == (added, b"new")


@BOTH
@pytest.mark.parametrize("left_out", [False, True])
def test_a_lease_that_is_renewed_after_all(
    engine: "ScriptedEngine",
    consumer: Callable[..., Consumer],
    data_topic: str,
    *,
    left_out: bool,
) -> None:
    """What was in hand or fetched while the lease had run out is handed out when it is renewed."""
    one = consumer("a")
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    assert [message.offset for message in take(one, 3)] == [0, 1, 2]
    thread = one._thread  # noqa: SLF001 - only its own thread renews or ends a lease
    assert thread is not None
    # As it is seen between the end of a lease and the answer that renews it; then a heartbeat does.
    held = thread.ownership
    thread.ownership = replace(held, until_ms=0)
    if left_out:
        assert one.still_mine(queue) is None
        thread.ownership = held
    else:
        assert one.poll(0) is None
    assert [message.offset for message in take(one, 18)] == list(range(2, 20))
    assert one.poll(0) is None
    engine.revoke(beat, queue, 1, record=2)
    assert engine.release(queue, 1)["position"] == [0, 20]
