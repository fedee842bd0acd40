"""The application's functions are called in order, on one thread, whatever they do."""

from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread, current_thread

import pytest
from fairlead_client.consume.callbacks import Callbacks
from fairlead_client.errors import CallbackError
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import Event, ProgressMade, WorkFailed, WorkStopped
from fairlead_client.session.observer import Observer

QUEUE = Queue("orders", "main", 1)
EPOCH = Epoch(1, 1)
WAIT_SECONDS = 10


class App:
    """An application whose answers a test can choose."""

    def __init__(self) -> None:
        self.mine: dict[Queue, Epoch] = {QUEUE: EPOCH}
        self.calls: SimpleQueue[tuple[str, Queue, Thread]] = SimpleQueue()
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.final: object = 9
        self.callbacks = Callbacks(self._on_assigned, self._on_revoked, Observer())
        self.callbacks.connect(self.events.put, self.mine.get)

    def _on_assigned(self, queue: Queue, offset: int) -> None:
        self.calls.put((f"assigned {offset}", queue, current_thread()))
        if offset == 13:
            raise ValueError("unlucky")

    def _on_revoked(self, queue: Queue) -> int | None:
        self.calls.put(("revoked", queue, current_thread()))
        if isinstance(self.final, Exception):
            raise self.final
        return self.final  # type: ignore[return-value]

    def answer(self) -> Event:
        """Return the next event."""
        return self.events.get(timeout=WAIT_SECONDS)

    def called(self) -> list[str]:
        """Return what was called so far."""
        return [self.calls.get()[0] for _ in range(self.calls.qsize())]


@pytest.fixture
def app() -> Iterator[App]:
    """Return an application whose thread ends with the test."""
    one = App()
    yield one
    one.callbacks.closed()
    one.callbacks.thread.join(WAIT_SECONDS)


def test_revoked_follows_assigned_on_the_same_thread(app: App) -> None:
    """Assigned, then revoked, on the same thread; the answer comes after both."""
    app.callbacks.start_work(QUEUE, EPOCH, Position(0, 4))
    app.callbacks.stop_work(QUEUE, EPOCH)
    assert app.answer() == WorkStopped(QUEUE, EPOCH, 9)
    calls = [app.calls.get() for _ in range(2)]
    assert [name for name, _, _ in calls] == ["assigned 4", "revoked"]
    assert {thread for _, _, thread in calls} == {app.callbacks.thread}


def test_a_lease_that_is_renewed_after_all(app: App) -> None:
    """Once the lease is renewed, the application gets a queue that came after it ran out."""
    app.mine.clear()
    app.callbacks.start_work(QUEUE, EPOCH, Position(0, 4))
    other = QUEUE._replace(queue_id=2)
    app.callbacks.stop_work(other, EPOCH)
    assert app.answer() == WorkStopped(other, EPOCH, None)
    assert app.called() == []
    app.mine[QUEUE] = EPOCH
    assert app.calls.get(timeout=WAIT_SECONDS)[0] == "assigned 4"
    app.callbacks.stop_work(QUEUE, EPOCH)
    assert app.answer() == WorkStopped(QUEUE, EPOCH, 9)


@pytest.mark.parametrize("final", [None, "9", ValueError("no"), 2.5])
def test_an_answer_that_is_no_offset_keeps_the_processed_position(app: App, final: object) -> None:
    """None, an exception or what is no offset: the processed position holds."""
    app.final = final
    app.callbacks.start_work(QUEUE, EPOCH, Position(0, 4))
    app.callbacks.stop_work(QUEUE, EPOCH)
    assert app.answer() == WorkStopped(QUEUE, EPOCH, None)


def test_a_failed_assignment_is_reported_and_never_revoked(app: App) -> None:
    """If on_assigned raises, the client reports why and never calls on_revoked for the queue."""
    app.callbacks.start_work(QUEUE, EPOCH, Position(0, 13))
    failed = app.answer()
    assert isinstance(failed, WorkFailed)
    assert isinstance(failed.error, CallbackError)
    assert isinstance(failed.error.__cause__, ValueError)
    app.callbacks.stop_work(QUEUE, EPOCH)
    assert app.answer() == WorkStopped(QUEUE, EPOCH, None)
    assert app.called() == ["assigned 13"]


def test_lost_before_it_was_told(app: App) -> None:
    """A queue whose lease ended before its turn came is never shown to the application."""
    app.mine.clear()
    app.callbacks.start_work(QUEUE, EPOCH, Position(0, 4))
    app.callbacks.stop_everything([(QUEUE, EPOCH)])
    assert app.answer() == WorkStopped(QUEUE, EPOCH, None)
    assert app.called() == []


def test_the_greatest_progress_counts_once(app: App) -> None:
    """The greatest offset counts, once."""
    assert app.callbacks.processed(QUEUE, 5, None)
    assert app.callbacks.processed(QUEUE, 4, EPOCH)
    assert app.callbacks.collect_progress() == [ProgressMade(QUEUE, EPOCH, 5)]
    assert app.callbacks.collect_progress() == []


def test_the_newest_end_counts(app: App) -> None:
    """The newest end counts, also when the next report leaves it out."""
    assert app.callbacks.processed(QUEUE, 5, None, 90)
    assert app.callbacks.processed(QUEUE, 6, None, 80)
    assert app.callbacks.processed(QUEUE, 7, None)
    assert app.callbacks.collect_progress() == [ProgressMade(QUEUE, EPOCH, 7, 80)]


def test_progress_of_another_tenure(app: App) -> None:
    """Progress under another epoch, or of a queue that is not ours, is refused."""
    assert not app.callbacks.processed(QUEUE, 5, Epoch(1, 0))
    assert not app.callbacks.processed(QUEUE._replace(queue_id=2), 5, None)
    assert app.callbacks.collect_progress() == []


def test_progress_after_a_new_grant(app: App) -> None:
    """A lower offset under a newer epoch takes the place of what was noted under the older one."""
    app.callbacks.processed(QUEUE, 50, None)
    app.mine[QUEUE] = Epoch(1, 2)
    app.callbacks.processed(QUEUE, 5, None)
    assert app.callbacks.collect_progress() == [ProgressMade(QUEUE, Epoch(1, 2), 5)]


def test_progress_of_an_abandoned_queue_is_forgotten(app: App) -> None:
    """Progress noted before a queue was abandoned is forgotten; another epoch's is not."""
    app.callbacks.processed(QUEUE, 50, None)
    app.callbacks.abandon_work(QUEUE, Epoch(1, 0))
    assert len(app.callbacks.collect_progress()) == 1
    app.callbacks.processed(QUEUE, 50, None)
    app.callbacks.abandon_work(QUEUE, EPOCH)
    assert app.callbacks.collect_progress() == []
