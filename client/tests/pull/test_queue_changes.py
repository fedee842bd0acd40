"""The application hears once of each topic whose queues changed, and which it has then."""

from collections.abc import Iterator
from queue import SimpleQueue

import pytest
from fairlead_client.consume.pull.queue_changes import GATHER_MS, QueueChanges
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.timer import Timer

WAIT = 20.0
ALL = {topic: tuple(Queue(topic, "main", number) for number in range(4)) for topic in "TU"}
Told = tuple[str, tuple[Queue, ...], tuple[Queue, ...]]


class Scene:
    """Changes of queues that a test makes, and what the application hears of them."""

    def __init__(self) -> None:
        self.timer = Timer("test")
        self.mine: dict[Queue, Epoch] = {}
        self.told: SimpleQueue[Told | None] = SimpleQueue()
        self.changes = QueueChanges(
            lambda topic, every, mine: self.told.put((topic, tuple(every), tuple(mine))),
            self.timer,
            ALL.__getitem__,
            lambda topic: sorted(one for one in self.mine.items() if one[0].topic == topic),
        )

    def change(self, queue: Queue, epoch: int | None) -> None:
        """A queue comes under an epoch, or goes."""
        self.mine.pop(queue, None)
        if epoch is not None:
            self.mine[queue] = Epoch(1, epoch)
        self.changes.changed(queue.topic)

    def heard(self) -> list[Told]:
        """Return what the application hears of all changes until now."""
        if not self.timer.is_alive():
            self.timer.start()
        self.timer.after(GATHER_MS, lambda: self.told.put(None))
        return list(iter(lambda: self.told.get(timeout=WAIT), None))


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A scene whose thread ends after the test."""
    one = Scene()
    yield one
    one.timer.stop()
    if one.timer.is_alive():
        one.timer.join(WAIT)


def test_once_for_each_topic(scene: Scene) -> None:
    """The application hears once of all changes of one topic, with the queues after them."""
    t, u = ALL["T"], ALL["U"]
    for queue in (t[2], u[0], t[0], t[3]):
        scene.change(queue, 1)
    scene.change(t[3], None)
    assert scene.heard() == [("T", t, (t[0], t[2])), ("U", u, (u[0],))]
    scene.change(u[0], None)
    scene.change(u[1], 2)
    assert scene.heard() == [("U", u, (u[1],))]


def test_what_came_and_went(scene: Scene) -> None:
    """The application hears nothing of a queue that went before any report of it."""
    scene.change(ALL["T"][0], 1)
    scene.change(ALL["T"][0], None)
    assert scene.heard() == []


def test_a_queue_under_another_epoch_has_changed(scene: Scene) -> None:
    """A queue that comes back under another epoch has changed, although the list is the same."""
    t = ALL["T"]
    scene.change(t[0], 1)
    first = scene.heard()
    scene.change(t[0], None)
    scene.change(t[0], 2)
    assert scene.heard() == first == [("T", t, t[:1])]
