"""Consumers of RocketMQ's queues on real brokers, with the engine's side by hand."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from fairlead_client import (
    AsyncConsumer,
    ConsumeContext,
    Consumer,
    ConsumeResult,
    Message,
    PullConsumer,
    PushConsumer,
    Queue,
    Subscription,
)
from fairlead_client.rocketmq.rocketmq_message import RocketMQMessage

from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_topic import RocketMQTopic

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

WAIT = 30.0


@pytest.fixture
def topic(rocketmq: Any) -> Iterator[RocketMQTopic]:
    """A topic with two queues on each of two brokers."""
    one = RocketMQTopic(rocketmq, f"orders-{uuid4().hex[:8]}")
    yield one
    one.close()


@pytest.fixture
def reading(member: Callable[..., Any], topic: RocketMQTopic) -> Callable[..., Any]:
    """Make started members that read the topic."""

    def make(kind: Any, client_id: str, **settings: Any) -> Any:
        where = {"data_plane": "rocketmq", "namesrv": topic.namesrv, "topics": [topic.name]}
        return member(kind, client_id, **where | settings)

    return make


def test_a_queue_moves_under_load(
    engine: "ScriptedEngine", reading: Callable[..., Any], topic: RocketMQTopic
) -> None:
    """Two push consumers hand a queue to and fro while it is written to: each message once."""
    messages: SimpleQueue[Message] = SimpleQueue()

    def listener(batch: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        for message in batch:
            messages.put(message)
        return ConsumeResult.CONSUME_SUCCESS

    first, second = topic.queues[0], topic.queues[-1]
    assert first.broker_name != second.broker_name
    topic.send(first, [b"%d" % number for number in range(60)])
    topic.send(second, [b"%d" % number for number in range(60)])
    options = {"listener": listener, "consume_message_batch_max_size": 7, "retry_topic": False}
    reading(PushConsumer, "a", **options), reading(PushConsumer, "b", **options)
    beats = engine.heartbeat("a"), engine.heartbeat("b")
    engine.grant(beats[0], first, 1)
    engine.grant(beats[0], second, 2)
    holder = 0
    for number in range(2, 5):
        topic.send(second, [b"more"] * 40)
        other = 1 - holder
        engine.grant(beats[other], second, number + 1, after=((beats[holder], number),))
        engine.revoke(beats[holder], second, number, record=number + 1)
        engine.release(second, number)
        holder = other
    found = Counter[tuple[Queue, int]]()
    while found.total() < 60 + 60 + 120:
        message = messages.get(timeout=WAIT)
        found[message.queue, message.offset] += 1
    wanted = [(first, offset) for offset in range(60)]
    assert found == Counter([*wanted, *((second, offset) for offset in range(180))])
    group = topic.offsets(engine.group)
    await_seen(lambda: group.committed(second), lambda at: at == 180, what="a commit of all")


def test_a_failed_message_comes_back_by_the_retry_topic(
    engine: "ScriptedEngine", reading: Callable[..., Any], topic: RocketMQTopic
) -> None:
    """The broker keeps it, and its retry topic hands it out again with its number of attempts."""
    queue = topic.queues[0]
    tried: SimpleQueue[RocketMQMessage] = SimpleQueue()

    def listener(batch: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        (message,) = batch
        assert isinstance(message, RocketMQMessage)
        tried.put(message)
        context.delay = 1
        failed = message.reconsume_times == 0 and message.value == b"bad"
        return ConsumeResult.RECONSUME_LATER if failed else ConsumeResult.CONSUME_SUCCESS

    topic.send(queue, [b"good", b"bad", b"good"], key=b"k", tag="t")
    one = reading(PushConsumer, "a", listener=listener)
    beat = engine.heartbeat("a")
    engine.grant(beat, queue, 1)
    engine.grant(beat, Queue(f"%RETRY%{engine.group}", queue.broker_name, 0), 2)
    came = [tried.get(timeout=WAIT) for _ in range(4)]
    again = came[-1]
    assert Counter(each.value for each in came) == {b"good": 2, b"bad": 2}
    assert (again.reconsume_times, again.real_topic) == (1, topic.name)
    assert (again.tag, again.key, again.topic) == ("t", b"k", f"%RETRY%{engine.group}")
    bad = next(each for each in came if each.value == b"bad")
    assert again.message_id == bad.message_id
    assert one.consume_counts["sent_back"] == 1


def test_a_pull_consumer_polls_and_pulls(
    engine: "ScriptedEngine", reading: Callable[..., Any], topic: RocketMQTopic
) -> None:
    """Polled messages are committed; a direct pull and a seek read from any offset."""
    queue = topic.queues[0]
    topic.send(queue, [b"%d" % number for number in range(20)])
    one = reading(PullConsumer, "a")
    engine.grant(engine.heartbeat("a"), queue, 1)
    found: list[Message] = []
    while len(found) < 20:
        found += one.poll(1_000)
    assert [each.value for each in found] == [b"%d" % number for number in range(20)]
    _, after, messages = one.pull(queue, 5, 3)
    assert (after, [each.value for each in messages]) == (8, [b"5", b"6", b"7"])
    one.seek(queue, 18)
    assert [each.offset for each in one.poll(WAIT * 1_000)] == [18, 19]


def test_a_consumer_hands_a_queue_over(
    engine: "ScriptedEngine", reading: Callable[..., Any], topic: RocketMQTopic
) -> None:
    """Two consumers of one tag get each of its messages once; what nobody wants is passed."""
    queue = topic.queues[0]
    for tag in ("a", "b", "a", "b"):
        topic.send(queue, [tag.encode()] * 5, tag=tag)
    wanted = {"topics": [Subscription(topic.name, expression="a")]}
    first, second = (reading(Consumer, name, **wanted) for name in ("first", "second"))
    beats = engine.heartbeat("first"), engine.heartbeat("second")
    engine.grant(beats[0], queue, 1)
    found = [_next(first) for _ in range(7)]
    engine.grant(beats[1], queue, 2, after=((beats[0], 1),))
    engine.revoke(beats[0], queue, 1, record=2)
    engine.applied("first", 2)
    assert first.poll(0) is None
    assert engine.release(queue, 1)["position"] == [0, found[-1].offset + 1]
    found += [_next(second) for _ in range(3)]
    assert [each.offset for each in found] == [*range(5), *range(10, 15)]
    assert {each.value for each in found} == {b"a"}
    second.poll(0)
    group = topic.offsets(engine.group)
    # The messages of the other tag at the end count as passed.
    await_seen(lambda: group.committed(queue), lambda at: at == 20, what="a commit of all")


@pytest.mark.parametrize("transport", ["gateway"], indirect=True)
def test_a_consumer_for_asyncio(
    engine: "ScriptedEngine", transport: "Transport", topic: RocketMQTopic
) -> None:
    """It reads RocketMQ's queues on its event loop, through a gateway, and Kafka knows nothing."""
    queue = topic.queues[0]
    topic.send(queue, [b"%d" % number for number in range(20)])
    assert transport.gateway is not None
    where = {"data_plane": "rocketmq", "namesrv": topic.namesrv, "gateway": transport.gateway}

    async def work() -> None:
        found: list[Message] = []
        async with (
            asyncio.timeout(WAIT),
            AsyncConsumer(
                client_id="a", group=engine.group, topics=[topic.name], **where
            ) as consumer,
        ):
            engine.grant(await asyncio.to_thread(engine.heartbeat, "a"), queue, 1)
            async for message in consumer:
                found.append(message)
                if len(found) == 20:
                    break
        assert [each.value for each in found] == [b"%d" % number for number in range(20)]
        assert all(isinstance(each, RocketMQMessage) for each in found)

    asyncio.run(work())
    assert engine.release(queue, 1)["position"] == [0, 20]


def _next(consumer: Consumer) -> Message:
    message = consumer.poll(int(WAIT * 1_000))
    assert message is not None
    return message
