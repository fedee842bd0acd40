"""The AsyncConsumer on a real broker and a real gateway, with the engine's side by hand."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import AsyncConsumer, GatewayError, Message, Queue, StartFailedError

from fairlead.broker.ports import free_ports

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

    from tests.kit.gateway_server import Transport

WAIT_SECONDS = 60

THROUGH_GATEWAY = pytest.mark.parametrize("transport", ["gateway"], indirect=True)


@pytest.fixture
def make(
    engine: "ScriptedEngine", transport: "Transport", data_topic: str
) -> Callable[..., AsyncConsumer]:
    """Make consumers of the test's topic."""

    def new(client_id: str, **settings: Any) -> AsyncConsumer:
        place = transport.settings(group=engine.group, topics=[data_topic], **settings)
        return AsyncConsumer(client_id=client_id, **place)

    return new


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test on a loop of its own, within a limit."""

    async def limited() -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            await work

    asyncio.run(limited())


async def take(consumer: AsyncConsumer, count: int) -> list[Message]:
    """Return so many messages; the last one stays in hand."""
    messages: list[Message] = []
    async for message in consumer:
        messages.append(message)
        if len(messages) == count:
            break
    return messages


@THROUGH_GATEWAY
def test_hands_over_behind_what_was_handled(
    engine: "ScriptedEngine", make: Callable[..., AsyncConsumer], data_topic: str
) -> None:
    """Two consumers on one loop: a queue goes from one to the other at exactly the next offset."""
    queue = Queue(data_topic, "main", 0)

    async def work() -> None:
        async with make("a") as first, make("b") as second:
            beats = await asyncio.to_thread(lambda: (engine.heartbeat("a"), engine.heartbeat("b")))
            engine.grant(beats[0], queue, 1)
            assert [message.offset for message in await take(first, 5)] == list(range(5))
            assert first.still_mine(queue) == (1, 1)
            engine.grant(beats[1], queue, 2, after=((beats[0], 1),))
            engine.revoke(beats[0], queue, 1, record=2)
            await asyncio.to_thread(engine.applied, "a", 2)
            # The message in hand counts when the next one is asked for.
            (found, _) = await asyncio.gather(take(second, 15), first.poll(2_000))
            assert [message.offset for message in found] == list(range(5, 20))
            assert first.assigned == {}

    run(work())
    assert engine.release(queue, 1)["position"] == [0, 5]
    assert engine.release(queue, 2)["position"] == [0, 20]


@THROUGH_GATEWAY
def test_no_thread_keeps_it_in_the_group(
    engine: "ScriptedEngine", make: Callable[..., AsyncConsumer]
) -> None:
    """The session runs on the loop: of all its threads none is the session's or a gateway's."""
    before = set(threading.enumerate())

    async def work() -> None:
        async with make("a") as consumer:
            await asyncio.to_thread(engine.heartbeat, "a")
            assert consumer.state == "running"
            names = {each.name for each in set(threading.enumerate()) - before}
            assert not {name for name in names if name.startswith("fairlead-session")}
            assert not {name for name in names if name.startswith("fairlead-gateway")}
            tasks = {task.get_name() for task in asyncio.all_tasks()}
            assert "fairlead-session" in tasks

    run(work())


@THROUGH_GATEWAY
def test_a_cancelled_task_leaves(
    engine: "ScriptedEngine", make: Callable[..., AsyncConsumer], data_topic: str
) -> None:
    """Cancelled in its work, it releases its queue in front of the message in hand, and leaves."""
    queue = Queue(data_topic, "main", 0)

    async def work() -> None:
        in_hand: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def consume() -> None:
            async with make("a") as consumer:
                async for message in consumer:
                    if message.offset == 3:
                        in_hand.set_result(message.offset)
                        await asyncio.Event().wait()

        task = asyncio.create_task(consume())
        beat = await asyncio.to_thread(engine.heartbeat, "a")
        engine.grant(beat, queue, 1)
        assert await in_hand == 3
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    assert engine.release(queue, 1)["position"] == [0, 3]
    engine.await_record("leave")


@THROUGH_GATEWAY
def test_a_poll_that_is_given_up_takes_no_message(
    engine: "ScriptedEngine", make: Callable[..., AsyncConsumer], data_topic: str
) -> None:
    """A cancelled poll loses no message: the next poll returns it, and nothing was passed over."""
    queue = Queue(data_topic, "main", 0)

    async def work() -> None:
        async with make("a") as consumer:
            beat = await asyncio.to_thread(engine.heartbeat, "a")
            waiting = asyncio.create_task(consumer.poll(30_000))
            assert not (await asyncio.wait([waiting], timeout=0.2))[0]
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            engine.grant(beat, queue, 1)
            assert [message.offset for message in await take(consumer, 4)] == list(range(4))
            # Given up once more, and closed: what the fetch brought is nobody's.
            last = asyncio.create_task(consumer.poll(30_000))
            await asyncio.sleep(0)
            last.cancel()

    run(work())
    assert engine.release(queue, 1)["position"] == [0, 4]


@THROUGH_GATEWAY
def test_explicit_done(
    engine: "ScriptedEngine", make: Callable[..., AsyncConsumer], data_topic: str
) -> None:
    """With explicit_done several messages are in hand, and the contiguous position counts."""
    queue = Queue(data_topic, "main", 0)

    async def work() -> None:
        async with make("a", explicit_done=True) as consumer:
            beat = await asyncio.to_thread(engine.heartbeat, "a")
            engine.grant(beat, queue, 1)
            messages = await take(consumer, 4)
            for number in (0, 1, 3):
                assert consumer.done(messages[number])

    run(work())
    assert engine.release(queue, 1)["position"] == [0, 2]


def test_a_start_that_fails_says_why(engine: "ScriptedEngine", data_topic: str) -> None:
    """Nobody listens: the start fails in time, and the error names the address and the remedy."""
    (port,) = free_ports(1)

    async def work() -> None:
        consumer = AsyncConsumer(
            bootstrap=engine.bootstrap,
            gateway=f"http://127.0.0.1:{port}",
            group=engine.group,
            topics=[data_topic],
            start_timeout_ms=1_500,
        )
        with pytest.raises(StartFailedError) as raised:
            await consumer.start()
        cause = raised.value.__cause__
        assert isinstance(cause, GatewayError)
        assert cause.kind == "refused"
        assert f"nothing listens on port {port}" in str(cause)

    run(work())
