"""What is in hand, how far each queue is, and when a queue has stopped."""

from itertools import permutations

import pytest
from fairlead_client.consume.in_flight import InFlight
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import Event, ProgressMade, WorkStopped
from fairlead_client.session.observer import Observer

QUEUE = Queue("orders", "main", 1)
EPOCH = Epoch(1, 1)


class Book:
    """InFlight of one queue that was started at offset 3."""

    def __init__(self) -> None:
        self.in_flight = InFlight(Observer())
        self.events: list[Event] = []
        self.in_flight.connect(self.events.append)
        self.in_flight.start_work(QUEUE, EPOCH, Position(0, 3))

    def hand_out(self, offset: int, epoch: Epoch = EPOCH, mine: Epoch | None = EPOCH) -> bool:
        """Hand out the message at an offset."""
        return self.in_flight.hand_out(message(offset, epoch), lambda _queue: mine)

    def done(self, offset: int, mine: Epoch | None = EPOCH) -> bool:
        """Finish the message at an offset."""
        return self.in_flight.done(message(offset), lambda _queue: mine)


def message(offset: int, epoch: Epoch = EPOCH) -> Message:
    """Return a message of the queue."""
    return Message(QUEUE, offset, None, b"", (), 0, epoch)


def test_stops_at_once() -> None:
    """A queue with nothing in hand stops where it would have gone on."""
    book = Book()
    book.in_flight.stop_work(QUEUE, EPOCH)
    assert book.events == [WorkStopped(QUEUE, EPOCH, 3)]
    assert not book.hand_out(3)


def test_stops_behind_the_message_in_hand() -> None:
    """A queue with a message in hand stops when it is finished."""
    book = Book()
    book.hand_out(3)
    book.in_flight.stop_work(QUEUE, EPOCH)
    assert book.events == []
    assert book.done(3)
    assert book.events == [WorkStopped(QUEUE, EPOCH, 4)]
    assert not book.done(3)


def test_a_lease_that_is_renewed_after_all() -> None:
    """What was not handed out or did not count, for the lease had run out, comes again."""
    book = Book()
    assert book.hand_out(3)
    assert not book.done(3, mine=None)
    assert not book.hand_out(4, mine=None)
    assert book.in_flight.awaits_lease(message(4))
    assert not book.in_flight.awaits_lease(message(3))
    assert not book.in_flight.awaits_lease(message(4, Epoch(1, 2)))
    changes = book.in_flight.changes
    assert book.in_flight.rewind(lambda _queue: None) == []
    assert book.in_flight.changes == changes
    assert book.in_flight.rewind(lambda _queue: EPOCH) == [QUEUE]
    assert book.in_flight.changes == changes + 1
    assert book.in_flight.readable() == {QUEUE: (EPOCH, 3)}
    assert book.in_flight.rewind(lambda _queue: EPOCH) == []
    for offset in (3, 4):
        assert book.hand_out(offset)
        assert book.done(offset)
    assert book.in_flight.collect_progress() == [ProgressMade(QUEUE, EPOCH, 5, None)]


def test_what_comes_again_is_in_front_of_what_is_in_hand() -> None:
    """The position never passes what did not count, whatever else is in hand or finished."""
    book = Book()
    for offset in (3, 4, 5):
        book.hand_out(offset)
    book.done(3, mine=None)
    book.in_flight.rewind(lambda _queue: EPOCH)
    assert book.done(4)
    assert book.in_flight.collect_progress() == [ProgressMade(QUEUE, EPOCH, 3, None)]
    for offset in (3, 4, 5):
        assert book.hand_out(offset)
    for offset in (5, 5, 4, 3):
        assert book.done(offset)
    assert book.in_flight.collect_progress() == [ProgressMade(QUEUE, EPOCH, 6, None)]


def test_a_lease_that_was_lost() -> None:
    """A queue that is taken away is released in front of what did not count."""
    book = Book()
    book.hand_out(3)
    book.done(3, mine=None)
    book.in_flight.stop_work(QUEUE, EPOCH)
    assert book.events == [WorkStopped(QUEUE, EPOCH, 3)]
    assert book.in_flight.rewind(lambda _queue: EPOCH) == []
    assert not book.in_flight.awaits_lease(message(4))


@pytest.mark.parametrize("order", list(permutations((3, 4, 7))))
def test_the_position_is_the_first_offset_not_finished(order: tuple[int, int, int]) -> None:
    """Finished in any order, the position is the first offset not finished; gaps do not matter."""
    book = Book()
    for offset in (3, 4, 7):
        book.hand_out(offset)
    left = [3, 4, 7]
    for offset in order:
        book.done(offset)
        left.remove(offset)
        expected = left[0] if left else 8
        assert book.in_flight.collect_progress() == [ProgressMade(QUEUE, EPOCH, expected)]
    assert book.in_flight.collect_progress() == []


def test_a_changed_end_is_progress_under_its_epoch_alone() -> None:
    """Where a queue ends is progress when it has changed, under this epoch alone."""
    book = Book()
    book.in_flight.note_end(QUEUE, EPOCH, 20)
    assert book.in_flight.collect_progress() == [ProgressMade(QUEUE, EPOCH, 3, 20)]
    book.in_flight.note_end(QUEUE, EPOCH, 20)
    book.in_flight.note_end(QUEUE, Epoch(EPOCH.generation, EPOCH.number + 1), 30)
    assert book.in_flight.collect_progress() == []


def test_nothing_is_handed_out_after_the_lease() -> None:
    """Nothing is handed out of a queue that is not this client's by the clock."""
    assert not Book().hand_out(3, mine=None)


def test_done_after_the_lease() -> None:
    """A message that is finished after the lease does not count: it may have been left out."""
    book = Book()
    for offset in (3, 4, 5):
        book.hand_out(offset)
    assert book.done(3)
    book.in_flight.stop_everything([(QUEUE, EPOCH)])
    assert not book.done(4, mine=None)
    assert not book.done(5, mine=None)
    assert book.events == [WorkStopped(QUEUE, EPOCH, 4)]


def test_fetched_under_another_epoch() -> None:
    """A message fetched under an earlier epoch is not handed out under the next."""
    book = Book()
    assert not book.hand_out(3, epoch=Epoch(1, 0), mine=Epoch(1, 0))


def test_what_is_in_hand_of_an_abandoned_queue_does_not_count() -> None:
    """What is in hand of an abandoned queue does not count any more."""
    book = Book()
    book.hand_out(3)
    book.in_flight.stop_work(QUEUE, EPOCH)
    book.in_flight.abandon_work(QUEUE, EPOCH)
    assert not book.done(3)
    assert (book.events, book.in_flight.collect_progress()) == ([], [])


def test_abandoned_by_an_earlier_epoch() -> None:
    """Abandoning an earlier epoch leaves the next one alone."""
    book = Book()
    book.in_flight.abandon_work(QUEUE, Epoch(1, 0))
    assert book.hand_out(3)


def test_stopping_everything_stops_each_queue_once() -> None:
    """Each queue stops; one that has stopped before says nothing again."""
    book = Book()
    book.in_flight.stop_everything([(QUEUE, EPOCH), (QUEUE._replace(queue_id=2), EPOCH)])
    book.in_flight.stop_everything([(QUEUE, EPOCH)])
    assert book.events == [WorkStopped(QUEUE, EPOCH, 3)]


def test_giving_up_stops_in_front_of_what_is_in_hand() -> None:
    """Whoever gives up what is in hand stops in front of it, now and later."""
    book = Book()
    other = QUEUE._replace(queue_id=2)
    book.in_flight.start_work(other, EPOCH, Position(0, 0))
    book.hand_out(3)
    book.in_flight.stop_work(QUEUE, EPOCH)
    book.in_flight.give_up()
    book.in_flight.hand_out(Message(other, 0, None, b"", (), 0, EPOCH), lambda _queue: EPOCH)
    book.in_flight.stop_work(other, EPOCH)
    assert book.events == [WorkStopped(QUEUE, EPOCH, 3), WorkStopped(other, EPOCH, 0)]


def test_a_closed_queue_hands_nothing_out() -> None:
    """After the end nothing can be read and nothing is handed out."""
    book = Book()
    book.in_flight.closed()
    assert (dict(book.in_flight.readable()), book.hand_out(3)) == ({}, False)
