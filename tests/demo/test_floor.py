"""The floor: who works on what, as the consumers say it live."""

from fairlead_proof.demo.floor import Floor, Seat

from fairlead.core.model import Epoch
from fairlead.verify.history import Consumed, Held, Start, Stop
from tests.kit.recorded_history import queue


def _floor() -> Floor:
    floor = Floor(seats={"a": Seat(state="in"), "b": Seat(state="in")})
    floor.apply("a", Start(queue(0), Epoch(1, 1), 5, 100))
    floor.apply("b", Start(queue(1), Epoch(1, 1), 0, 110))
    return floor


def test_starts_make_owners_and_messages_move_the_frontier() -> None:
    """Starts and stops make owners, messages move the frontier."""
    floor = _floor()
    floor.apply("a", Held(queue(0), 5, 120))
    assert floor.seats["a"].held == Held(queue(0), 5, 120)
    floor.apply("a", Consumed(queue(0), 5, 1005, 130))
    assert floor.seats["a"].held is None
    assert floor.queues_of("a") == [queue(0)]
    assert floor.has_reached({queue(0): 6, queue(1): 0})
    assert not floor.has_reached({queue(0): 7})
    floor.apply("a", Stop(queue(0), Epoch(1, 1), 6, 140))
    assert floor.queues_of("a") == []
    assert floor.seats["a"].consumed == 1


def test_a_late_stop_takes_no_queue_from_the_next_owner() -> None:
    """A stop that is heard after the next owner's start does not take the queue from that one."""
    floor = _floor()
    floor.apply("b", Start(queue(0), Epoch(1, 2), 6, 150))
    floor.apply("a", Stop(queue(0), Epoch(1, 1), 6, 140))
    assert floor.queues_of("b") == [queue(0), queue(1)]


def test_frontier_never_falls() -> None:
    """A message that is read again does not move the frontier back."""
    floor = _floor()
    for offset in (5, 6, 5):
        floor.apply("a", Consumed(queue(0), offset, 1000 + offset, 200))
    assert floor.frontier[queue(0)] == 7


def test_no_more_is_processed_than_was_produced() -> None:
    """However late the producer tells its count, and however often a message is read again."""
    floor = Floor(seats={"a": Seat(state="in"), "b": Seat(state="in")})
    for client_id, number in (("a", 0), ("b", 1), ("b", 1)):
        floor.apply(client_id, Start(queue(number), Epoch(1, 1), 0, 100))
        floor.apply(client_id, Consumed(queue(number), 0, 1_000, 110))
    assert [floor.counts(told) for told in (0, 1, 2, 9)] == [(2, 2), (2, 2), (2, 2), (9, 2)]


def test_with_a_process_its_work_is_gone() -> None:
    """With a process its work is gone, and nothing of others."""
    floor = _floor()
    floor.leave("a", "killed")
    assert floor.seats["a"].state == "killed"
    assert list(floor.working) == [queue(1)]


def test_floor_and_grants_agree_under_one_epoch() -> None:
    """Floor and grants agree when each queue is worked on by its grantee under that epoch."""
    floor = _floor()
    granted = {queue(0): ("a", Epoch(1, 1)), queue(1): ("b", Epoch(1, 1))}
    assert floor.agrees_with(granted)
    assert not floor.agrees_with({**granted, queue(1): ("b", Epoch(1, 2))})
    assert not floor.agrees_with({queue(0): ("a", Epoch(1, 1))})
