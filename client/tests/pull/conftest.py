"""Records as a source pulls them, made of offsets, and a listener that they are consumed by."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import pytest
from fairlead_client.consume.pull import consume_service
from fairlead_client.consume.pull.consume_service import ConsumeArguments, Workers
from fairlead_client.consume.pull.failed_messages import FailedMessages
from fairlead_client.consume.pull.listener import ConsumeContext, ConsumeResult
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.observer import Observer
from fairlead_client.session.timer import Timer

WAIT = 20.0


@dataclass(frozen=True)
class Pulled:
    """One record of a queue."""

    offset: int
    value: bytes | None = b"12345"
    headers: tuple[tuple[str, bytes], ...] = ()
    key: bytes | None = None
    timestamp: int = 7


@pytest.fixture
def queue() -> Queue:
    """The queue of the test."""
    return Queue("orders", "main", 1)


@pytest.fixture
def work(queue: Queue) -> ProcessQueue:
    """Its process queue, begun at offset 10."""
    return ProcessQueue(queue, Epoch(1, 1), 10)


@pytest.fixture
def pulled() -> Callable[[Iterable[int]], list[Pulled]]:
    """Return records of these offsets."""
    return lambda offsets: [Pulled(offset) for offset in offsets]


@pytest.fixture
def tagged() -> Callable[..., Pulled]:
    """Return a record with these headers."""
    return lambda offset, *headers: Pulled(offset, headers=headers)


class Scene:
    """A listener that answers as told, and what came of it."""

    def __init__(self, work: ProcessQueue, size: int, failed: FailedMessages | None) -> None:
        self.work = work
        self.answers: list[Any] = []
        self.seen: SimpleQueue[tuple[list[int], int]] = SimpleQueue()
        self.settled: SimpleQueue[int] = SimpleQueue()
        self.workers, self.timer = Workers(4), Timer("test")
        self.mine = True
        self.common = ConsumeArguments(
            batch_max_size=size,
            workers=self.workers,
            timer=self.timer,
            still_mine=lambda _queue: work.epoch if self.mine else None,
            batch_ended=lambda one: self.settled.put(one.position),
            failed_messages=failed,
            observer=Observer(),
        )
        self.workers.start()
        self.timer.start()

    def listen(self, messages: Sequence[Message], context: ConsumeContext) -> Any:
        """Note the batch, and answer."""
        self.seen.put(([message.offset for message in messages], context.attempt))
        answer = self.answers.pop(0) if self.answers else ConsumeResult.CONSUME_SUCCESS
        return answer(context) if callable(answer) else answer

    def close(self) -> None:
        """End the threads."""
        self.workers.stop()
        self.timer.stop()
        for thread in [*self.workers.threads, self.timer]:
            thread.join(WAIT)


class Kept:
    """Failed messages that were sent back; None of them, while it is broken."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, int, int]] = []
        self.broken_at: set[int] = set()

    def send_back(self, message: Message, attempt: int, delay: int) -> None:
        """Keep it."""
        if message.offset in self.broken_at:
            raise OSError("no broker")
        self.sent.append((message.offset, attempt, delay))


@pytest.fixture
def kept() -> Kept:
    """Where failed messages go."""
    return Kept()


@pytest.fixture
def scene(
    work: ProcessQueue, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Scene]]:
    """Make scenes in which what is consumed here again comes after 20 ms."""
    monkeypatch.setattr(consume_service, "AGAIN_MS", 20)
    made: list[Scene] = []

    def make(size: int, *, sends_back: bool = True) -> Scene:
        made.append(Scene(work, size, kept if sends_back else None))
        return made[-1]

    yield make
    for one in made:
        one.close()
