"""A queue of the retry topic waits for its next message, and for nothing else."""

from dataclasses import dataclass

from fairlead_client.consume.retry.delay_level import delay_ms
from fairlead_client.consume.retry.redelivery import send_back
from fairlead_client.consume.retry.retry_schedule import RetrySchedule
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue
from hypothesis import given
from hypothesis import strategies as st

SHORT, LONG = Queue("%RETRY%g", "main", 2), Queue("%RETRY%g", "main", 17)


@dataclass(frozen=True)
class Delayed:
    """A message as it stands in a retry topic."""

    offset: int
    headers: tuple[tuple[str, bytes], ...] = ()


def delayed(offset: int, sent_ms: int, level: int) -> Delayed:
    """A message sent back at a time, to wait for a level."""
    one = Message(Queue("orders", "main", 0), offset, None, b"", (), 0, Epoch(1, 1))
    back = send_back(one, 1, level, group="g", limit=16, now_ms=sent_ms)
    return Delayed(offset, back.headers)


def test_up_to_the_first() -> None:
    """What is due before the first that is not is consumed; that one waits until its time."""
    parking = RetrySchedule()
    records = [delayed(0, 0, 1), delayed(1, 500, 1), delayed(2, 5_000, 1)]
    assert parking.due(SHORT, records, 2_000) == records[:2]
    assert parking.waits(SHORT, 2, 2_999)
    assert not parking.waits(SHORT, 2, 3_000)
    assert parking.next_due_ms(2_000) == 3_000


def test_others_go_on() -> None:
    """A queue of long delays keeps no other queue waiting."""
    parking = RetrySchedule()
    assert parking.due(LONG, [delayed(0, 0, 18)], 1_000) == []
    short = [delayed(0, 0, 1)]
    assert parking.due(SHORT, short, 1_000) == short
    assert parking.waits(LONG, 0, 1_000)
    assert not parking.waits(SHORT, 1, 1_000)


def test_the_first_queue_that_goes_on_wakes_the_sleeper() -> None:
    """Whoever sleeps is woken by the first queue that goes on."""
    parking = RetrySchedule()
    assert parking.next_due_ms(0) is None
    parking.due(LONG, [delayed(0, 0, 18)], 0)
    parking.due(SHORT, [delayed(0, 0, 3)], 0)
    assert parking.next_due_ms(0) == 10_000
    assert parking.next_due_ms(10_000) == 7_200_000


def test_a_queue_that_moved_elsewhere_waits_for_nothing() -> None:
    """A queue that begins elsewhere, or is another's, waits for nothing that was seen before."""
    parking = RetrySchedule()
    parking.due(SHORT, [delayed(5, 0, 3)], 0)
    assert not parking.waits(SHORT, 4, 0)
    parking.follow([LONG])
    assert not parking.waits(SHORT, 5, 0)


def test_a_message_from_a_clock_ahead_waits_its_delay_alone() -> None:
    """A message whose sender's clock is a day ahead waits its delay from when it was seen."""
    parking = RetrySchedule()
    day_ms = 24 * 3_600 * 1_000
    record = delayed(0, day_ms, 3)
    assert parking.due(SHORT, [record], 0) == []
    assert parking.due(SHORT, [record], 9_999) == []
    assert parking.waits(SHORT, 0, 9_999)
    assert parking.due(SHORT, [record], 10_000) == [record]


def test_a_message_written_by_hand_is_due_at_once() -> None:
    """What somebody wrote to the topic by hand is due at once."""
    records = [Delayed(0), Delayed(1, (("fairlead-due-ms", b"soon"),))]
    assert RetrySchedule().due(SHORT, records, 0) == records


@given(st.lists(st.tuples(st.integers(0, 60_000), st.integers(1, 18)), min_size=1, max_size=20))
def test_each_parked_message_comes_when_it_is_due(sent: list[tuple[int, int]]) -> None:
    """Whatever stands in the queues of the levels, each message comes when it is due, in order."""
    parking = RetrySchedule()
    queues: dict[Queue, list[Delayed]] = {}
    due: dict[tuple[Queue, int], int] = {}
    for sent_ms, level in sorted(sent):
        records = queues.setdefault(Queue("%RETRY%g", "main", level - 1), [])
        records.append(delayed(len(records), sent_ms, level))
        due[Queue("%RETRY%g", "main", level - 1), records[-1].offset] = sent_ms + delay_ms(level)
    now_ms, consumed = 60_000, dict.fromkeys(queues, 0)
    while due:
        for queue, records in queues.items():
            if not parking.waits(queue, consumed[queue], now_ms):
                for record in parking.due(queue, records[consumed[queue] :], now_ms):
                    assert due.pop((queue, record.offset)) <= now_ms
                    consumed[queue] += 1
        late = [key for key, due_ms in due.items() if due_ms <= now_ms]
        assert late == []
        now_ms = parking.next_due_ms(now_ms) or now_ms
