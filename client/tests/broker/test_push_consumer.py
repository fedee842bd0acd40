"""The PushConsumer on a real broker, with the engine's side by hand."""

from collections import Counter
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Event, Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from fairlead_client import (
    ConsumeContext,
    Consumer,
    ConsumeResult,
    Epoch,
    FlowLimits,
    Message,
    Observer,
    PushConsumer,
    Queue,
    Subscription,
)
from fairlead_client.model import Position
from kafka.protocol.consumer import FetchRequest

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

BOTH = pytest.mark.parametrize("transport", ["direct", "gateway"], indirect=True)
WAIT = 30.0
SUCCESS = ConsumeResult.CONSUME_SUCCESS


class Seen:
    """A listener that notes what it was given; `let` holds every batch up while it is not set."""

    def __init__(self) -> None:
        self.messages: SimpleQueue[Message] = SimpleQueue()
        self.let = Event()
        self.let.set()

    def __call__(self, messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        """Note."""
        del context
        assert self.let.wait(WAIT)
        for message in messages:
            self.messages.put(message)
        return SUCCESS

    def take(self, count: int) -> list[Message]:
        """Wait for so many messages."""
        return [self.messages.get(timeout=WAIT) for _ in range(count)]

    def nothing(self) -> bool:
        """Whether no message more was handed out."""
        try:
            self.messages.get_nowait()
        except Empty:
            return True
        return False


class Corrections(Observer):
    """Notes which offsets were corrected."""

    def __init__(self) -> None:
        self.seen: SimpleQueue[tuple[Queue, int, int]] = SimpleQueue()

    def offset_corrected(self, queue: Queue, epoch: Epoch, offset: int, corrected: int) -> None:
        """Note one."""
        del epoch
        self.seen.put((queue, offset, corrected))


@BOTH
def test_a_move_under_load_loses_and_repeats_nothing(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write_more: Callable[..., None],
) -> None:
    """A queue that moves while it is consumed: no message twice, none missing."""
    seen = Seen()
    options = {"listener": seen, "consume_message_batch_max_size": 7, "consume_threads": 4}
    member(PushConsumer, "a", **options), member(PushConsumer, "b", **options)
    beats = engine.heartbeat("a"), engine.heartbeat("b")
    assert beats[0]["consume_type"] == "push"
    queues = [Queue(data_topic, "main", number) for number in range(2)]
    engine.grant(beats[0], queues[0], 1)
    engine.grant(beats[0], queues[1], 2)
    taken = seen.take(10)
    holder = 0
    for number in range(2, 6):
        write_more(1, 50)
        other = 1 - holder
        engine.grant(beats[other], queues[1], number + 1, after=((beats[holder], number),))
        engine.revoke(beats[holder], queues[1], number, record=number + 1)
        engine.release(queues[1], number)
        holder = other
    taken += seen.take(20 + 20 + 200 - 10)
    found = Counter((message.queue, message.offset) for message in taken)
    wanted = [(queues[0], offset) for offset in range(20)]
    wanted += [(queues[1], offset) for offset in range(220)]
    assert found == Counter(wanted)
    assert seen.nothing()


@BOTH
def test_a_closing_consumer_works_on_until_somebody_takes_over(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write_more: Callable[..., None],
) -> None:
    """After its leave it consumes on; the engine's drop ends that, and the close returns."""
    seen = Seen()
    one = member(PushConsumer, "a", listener=seen, hand_over_ms=60_000, close_timeout_ms=120_000)
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 1)
    engine.grant(beat, queue, 1)
    seen.take(20)
    one.stop()
    engine.await_record("leave")
    write_more(1, 5)
    assert [message.offset for message in seen.take(5)] == [20, 21, 22, 23, 24]
    assert one.still_mine(queue) == (1, 1)
    engine.revoke(beat, queue, 1, record=2)
    assert engine.release(queue, 1)["position"] == [0, 25]
    assert one.wait(WAIT * 1_000)


@BOTH
def test_lowest_unconsumed_is_released(
    engine: "ScriptedEngine", member: Callable[..., Any], data_topic: str
) -> None:
    """A revoked queue waits for what is in hand, and leaves what was only pulled."""
    seen = Seen()
    seen.let.clear()
    options = {"consume_message_batch_max_size": 3, "consume_threads": 2}
    one = member(PushConsumer, "a", listener=seen, **options)
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    deadline = monotonic() + WAIT
    while one._queue_table.find(queue) is None or one._queue_table.find(queue)._in_hand < 2:  # noqa: SLF001
        assert monotonic() < deadline
    engine.revoke(beat, queue, 1, record=2)
    engine.applied("a", 2)
    assert one.still_mine(queue) == (1, 1)
    seen.let.set()
    assert engine.release(queue, 1)["position"] == [0, 6]
    assert sorted(message.offset for message in seen.take(6)) == list(range(6))
    assert seen.nothing()


@pytest.mark.parametrize("kind", [PushConsumer, Consumer])
@pytest.mark.parametrize("start, corrected", [(2, 8), (500, 20)], ids=["below", "beyond"])
def test_an_illegal_offset_goes_on_at_the_nearest_bound(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    *,
    write_more: Callable[..., None],
    delete_before: Callable[[int, int], None],
    kind: Any,
    start: int,
    corrected: int,
) -> None:
    """Below the beginning it goes on there; beyond the end at the end, never at the beginning."""
    delete_before(0, 8)
    seen, corrections = Seen(), Corrections()
    extra = {"listener": seen} if kind is PushConsumer else {}
    one = member(kind, "a", observer=corrections, **extra)
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1, Position(0, start))
    if kind is Consumer:
        assert one.poll(2_000 if start > 20 else 30_000) is None or start < 20
    assert corrections.seen.get(timeout=WAIT) == (queue, start, corrected)
    write_more(0, 1)
    first = seen.take(1)[0] if kind is PushConsumer else one._last or one.poll(30_000)  # noqa: SLF001
    assert first.offset == corrected
    assert corrections.seen.empty()
    if kind is PushConsumer:
        assert one.pull_counts["offsets_illegal"] == 1


def test_a_full_queue_holds_pulling_back_alone(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write_more: Callable[..., None],
) -> None:
    """What is not consumed holds pulling back, is counted, and lets the other queue be."""
    seen, entered = Seen(), SimpleQueue[int]()
    seen.let.clear()

    def slow(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        entered.put(messages[0].partition)
        return seen(messages, context) if messages[0].partition == 0 else SUCCESS

    write_more(0, 100)
    one = member(
        PushConsumer,
        "a",
        listener=slow,
        consume_threads=2,
        flow_limits=FlowLimits(pull_threshold_for_queue=30),
        fetch={"max_poll_records": 10},
    )
    beat = engine.heartbeat("a")
    queues = [Queue(data_topic, "main", number) for number in range(2)]
    engine.grant(beat, queues[0], 1)
    deadline = monotonic() + WAIT
    while one.flow_controlled["messages"] < 3:
        assert monotonic() < deadline
    assert one._queue_table.find(queues[0]).count == 40  # noqa: SLF001
    assert one.pull_idle_ms[queues[0]] < 5_000
    seen.let.set()
    assert len(seen.take(120)) == 120
    engine.grant(beat, queues[1], 2)
    while entered.get(timeout=WAIT) != 1:
        pass


@BOTH
def test_a_suspended_consumer_pulls_nothing_and_keeps_all(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write_more: Callable[..., None],
) -> None:
    """Suspended it pulls nothing and keeps all; resumed it asks for a decision at once."""
    seen = Seen()
    times = {"heartbeat_ms": 9_000, "lease_ms": 30_000}
    one = member(PushConsumer, "a", listener=seen, **times)
    beat = engine.heartbeat("a")
    queue = Queue(data_topic, "main", 0)
    engine.grant(beat, queue, 1)
    seen.take(20)
    applied = engine.applied("a", 1)
    one.suspend()
    # Two attempts later no pull is under way any more.
    for _ in range(2):
        tried = one._queue_table.find(queue).last_pull_ms  # noqa: SLF001
        deadline = monotonic() + WAIT
        while one._queue_table.find(queue).last_pull_ms == tried:  # noqa: SLF001
            assert monotonic() < deadline
    write_more(0, 5)
    assert one._queue_table.find(queue).next_offset == 20  # noqa: SLF001
    assert one.still_mine(queue) == (1, 1)
    sequences = [record["sequence"] for record in engine.read if record["kind"] == "heartbeat"]
    begun = monotonic()
    one.resume()
    later = max([*sequences, applied["sequence"]])
    asked = engine.await_record("heartbeat", lambda record: record["sequence"] > later)
    assert asked["decide"] is True
    assert [message.offset for message in seen.take(5)] == list(range(20, 25))
    assert monotonic() - begun < 8


@BOTH
def test_an_orderly_consumer_keeps_each_queue_in_order(
    engine: "ScriptedEngine", member: Callable[..., Any], data_topic: str
) -> None:
    """Each queue in order, one thread at a time, also over a batch that fails at first."""
    lock, running = Lock(), Counter[int]()
    seen: SimpleQueue[Message] = SimpleQueue()
    failures = {(0, 4), (1, 6)}
    together = []

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        partition = messages[0].partition
        with lock:
            running[partition] += 1
            together.append(running[partition])
        context.suspend_ms = 20
        failed = (partition, messages[0].offset) in failures
        failures.discard((partition, messages[0].offset))
        if not failed:
            for message in messages:
                seen.put(message)
        with lock:
            running[partition] -= 1
        return ConsumeResult.SUSPEND_CURRENT_QUEUE_A_MOMENT if failed else SUCCESS

    options = {"consume_message_batch_max_size": 2, "consume_threads": 4, "ordered": True}
    one = member(PushConsumer, "a", listener=listen, **options)
    beat = engine.heartbeat("a")
    assert beat["ordered"]
    queues = [Queue(data_topic, "main", number) for number in range(2)]
    for queue in queues:
        engine.grant(beat, queue, queue.queue_id + 1)
    messages = [seen.get(timeout=WAIT) for _ in range(40)]
    for queue in queues:
        mine = [message.offset for message in messages if message.queue == queue]
        assert mine == list(range(20))
    assert max(together) == 1
    assert one.consume_counts["suspended"] == 2
    assert one.is_locked(queues[0])
    one.unlock(queues[0])
    assert not one.is_locked(queues[0])
    assert one.lock(queues[0])
    assert not one.lock(Queue(data_topic, "main", 7))


def test_other_tags_are_skipped_and_the_position_moves_on(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write_more: Callable[..., None],
) -> None:
    """Messages of other tags are passed over, and the position with them."""
    write_more(0, 3, ("TAGS", b"B"))
    write_more(0, 1, ("TAGS", b"A"))
    write_more(0, 2, ("TAGS", b"B"))
    seen = Seen()
    wanted = [Subscription(data_topic, "A || C")]
    one = member(PushConsumer, "a", listener=seen, topics=wanted, fetch={"max_poll_records": 3})
    beat = engine.heartbeat("a")
    engine.grant(beat, Queue(data_topic, "main", 0), 1)
    assert seen.take(1)[0].offset == 23
    engine.await_record(
        "progress", lambda record: any(entry["position"] == [0, 26] for entry in record["queues"])
    )
    assert one.pull_counts["no_matched"] >= 7
    assert seen.nothing()


@pytest.mark.parametrize("kind", [Consumer, PushConsumer])
def test_the_rack_is_sent_in_every_fetch(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
) -> None:
    """The consumer sends the rack that the application gives in every fetch."""
    told: set[str] = set()
    made = FetchRequest.__init__

    def note(request: FetchRequest, *values: Any, **fields: Any) -> None:
        if fields.get("rack_id") is not None:
            told.add(fields["rack_id"])
        made(request, *values, **fields)

    monkeypatch.setattr(FetchRequest, "__init__", note)
    seen = Seen()
    settings = {"listener": seen} if kind is PushConsumer else {}
    one = member(kind, "a", fetch={"client_rack": "east"}, **settings)
    engine.grant(engine.heartbeat("a"), Queue(data_topic, "main", 0), 1)
    if kind is Consumer:
        assert one.poll(int(WAIT * 1_000)).offset == 0
    else:
        assert seen.take(1)[0].offset == 0
    # Who reads Fairlead's own topics beside it gives none.
    assert told == {"east", ""}


def test_the_listener_hears_once_per_changed_topic(
    engine: "ScriptedEngine",
    member: Callable[..., Any],
    data_topic: str,
    write: Callable[..., None],
) -> None:
    """It is called once per changed topic, with all of its queues and what is this client's."""
    broker = {
        "broker_name": "main",
        "cluster": "main",
        "perm": 6,
        "read_queue_nums": 3,
        "write_queue_nums": 3,
        "addresses": {"0": "127.0.0.1:9092"},
        "leaders": None,
        "zones": None,
    }
    head = {"v": 1, "kind": "route", "topic": data_topic, "identity": "one"}
    route = {**head, "order_topic_conf": None, "brokers": [broker]}
    write("routes", "", data_topic.encode(), orjson.dumps(route))
    told: SimpleQueue[tuple[str, list[Queue], list[Queue]]] = SimpleQueue()
    member(
        PushConsumer,
        "a",
        listener=Seen(),
        message_queue_changed=lambda topic, all_queues, mine: told.put(
            (topic, list(all_queues), list(mine))
        ),
    )
    beat = engine.heartbeat("a")
    queues = [Queue(data_topic, "main", number) for number in range(3)]
    engine.grant(beat, queues[0], 1)
    assert told.get(timeout=WAIT) == (data_topic, queues, queues[:1])
    engine.grant(beat, queues[1], 2)
    assert told.get(timeout=WAIT) == (data_topic, queues, queues[:2])
    engine.revoke(beat, queues[0], 1, record=3)
    assert told.get(timeout=WAIT) == (data_topic, queues, queues[1:2])
    assert told.empty()
