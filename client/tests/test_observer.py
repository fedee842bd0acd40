"""A Consumer tells its observer when work on a queue starts and stops, in that order."""

from fairlead_client.consume.in_flight import InFlight
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import Event, WorkStopped
from fairlead_client.session.observer import Observer

QUEUE = Queue("orders", "main", 3)
EPOCH = Epoch(1, 7)


class Witness(Observer):
    """Writes down its calls, and what the session had heard by then."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []
        self.reported: list[Event] = []

    def work_started(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Write it down."""
        assert (queue, epoch) == (QUEUE, EPOCH)
        self.told.append(("started", offset, len(self.reported)))

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Write it down."""
        assert (queue, epoch) == (QUEUE, EPOCH)
        self.told.append(("stopped", offset, len(self.reported)))


def _begun() -> tuple[InFlight, Witness, Message]:
    """A queue that was started at 5, with the message at 5 in hand."""
    witness = Witness()
    in_flight = InFlight(witness)
    in_flight.connect(witness.reported.append)
    in_flight.start_work(QUEUE, EPOCH, Position(0, 5))
    message = Message(QUEUE, 5, None, b"", (), 0, EPOCH)
    assert in_flight.hand_out(message, lambda _queue: EPOCH)
    return in_flight, witness, message


def test_stop_waits_for_what_is_in_hand() -> None:
    """The observer hears of a stop after the message in hand is done, before the session does."""
    in_flight, witness, message = _begun()
    in_flight.stop_work(QUEUE, EPOCH)
    assert witness.told == [("started", 5, 0)]
    assert in_flight.done(message, lambda _queue: message.epoch)
    assert witness.told == [("started", 5, 0), ("stopped", 6, 0)]
    assert witness.reported == [WorkStopped(QUEUE, EPOCH, 6)]


def test_an_abandoned_queue_is_reported_as_stopped() -> None:
    """The observer hears that an abandoned queue stopped, and how far the work on it came."""
    in_flight, witness, message = _begun()
    in_flight.stop_work(QUEUE, EPOCH)
    in_flight.abandon_work(QUEUE, EPOCH)
    assert witness.told == [("started", 5, 0), ("stopped", 5, 0)]
    assert not in_flight.done(message, lambda _queue: message.epoch)
