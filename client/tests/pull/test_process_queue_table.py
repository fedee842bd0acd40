"""Which queues the pull service works on, and what it says of them."""

from collections.abc import Callable, Iterable
from typing import Any

from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.process_queue_table import ProcessQueueTable
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import Event, ProgressMade, WorkStopped
from fairlead_client.session.observer import Observer

EPOCH = Epoch(1, 1)


class Scene:
    """A book with a clock of its own, in which one queue was started at offset 5."""

    def __init__(self, queue: Queue) -> None:
        self.at_ms = 100_000
        self.begun: list[ProcessQueue] = []
        self.changed: list[str] = []
        self.events: list[Event] = []
        self.book = ProcessQueueTable(
            Observer(), self.begun.append, self.changed.append, lambda: self.at_ms
        )
        self.book.connect(self.events.append, lambda: None)
        self.book.start_work(queue, EPOCH, Position(0, 5))


def test_stop_with_a_batch_in_hand(
    queue: Queue, pulled: Callable[[Iterable[int]], list[Any]]
) -> None:
    """It has stopped when the batch is finished, at the first offset that is not consumed."""
    scene = Scene(queue)
    work = scene.begun[0]
    work.put(pulled(range(5, 9)), 5, 9)
    batch = work.hand_out(2)
    assert batch is not None
    scene.book.stop_work(queue, EPOCH)
    assert (scene.events, scene.book.working()) == ([], [])
    work.finish(batch)
    scene.book.batch_ended(work)
    assert scene.events == [WorkStopped(queue, EPOCH, 7)]
    assert scene.changed == [queue.topic] * 2


def test_a_queue_that_comes_back_begins_where_its_add_says(
    queue: Queue, pulled: Callable[[Iterable[int]], list[Any]]
) -> None:
    """A queue that comes back begins where its add says, and late results do not touch it."""
    scene = Scene(queue)
    former = scene.begun[0]
    former.put(pulled([5, 6]), 5, 7)
    batch = former.hand_out(2)
    assert batch is not None
    scene.book.abandon_work(queue, EPOCH)
    scene.book.start_work(queue, Epoch(1, 2), Position(0, 3))
    assert not former.finish(batch)
    scene.book.batch_ended(former)
    work = scene.book.find(queue)
    assert work is not None
    assert (work.epoch, work.position, work.count) == (Epoch(1, 2), 3, 0)
    assert scene.book.collect_progress() == []


def test_an_idle_queue_is_reported_every_10_seconds(queue: Queue) -> None:
    """The table reports a queue that nobody tries to pull every 10 s, and no other."""
    scene = Scene(queue)
    scene.at_ms += 10_000
    assert scene.book.collect_progress() == []
    scene.at_ms += 10_000
    assert scene.book.collect_progress() == [ProgressMade(queue, EPOCH, 5, None, idle_ms=20_000)]
    scene.at_ms += 9_999
    assert scene.book.collect_progress() == []
    scene.at_ms += 1
    assert scene.book.collect_progress() == [ProgressMade(queue, EPOCH, 5, None, idle_ms=30_000)]
    scene.begun[0].last_pull_ms = scene.at_ms
    scene.at_ms += 10_000
    assert scene.book.collect_progress() == []
