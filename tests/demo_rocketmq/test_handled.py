"""What the calls of listeners show, case by case."""

from collections.abc import Sequence

from fairlead_proof.demo_rocketmq.handled import Handled, judge_calls
from fairlead_proof.demo_rocketmq.handler_calls import Standstill, calls_of

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Consumed, Failed, Held, Journal, JournalRecord

QUEUE = MessageQueue("orders", "broker-a", 0)
OTHER = MessageQueue("orders", "broker-b", 0)
MS = 1_000_000
Line = tuple[str, int, int]
"""What a listener did: begin, end or fail; the offset; when, in milliseconds."""


def _journal(who: str, *lines: Line, queue: MessageQueue = QUEUE) -> Journal:
    records: list[JournalRecord] = []
    for kind, offset, ms in lines:
        match kind:
            case "begin":
                records.append(Held(queue, offset, ms * MS))
            case "end":
                records.append(Consumed(queue, offset, offset, ms * MS))
            case _:
                records.append(Failed(queue, offset, ms * MS))
    return Journal(who, records)


def _handled(
    *journals: Journal, end: int, standstills: dict[str, Sequence[Standstill]] | None = None
) -> Handled:
    stood = standstills or {}
    return judge_calls(calls_of(journals, stood), {QUEUE: end}, stood)


def test_a_queue_that_is_handed_over_shows_its_gap_and_nothing_else() -> None:
    """The gap runs from the end of the last call to the beginning of the next."""
    handled = _handled(
        _journal("c1", ("begin", 0, 10), ("begin", 1, 11), ("end", 1, 30), ("end", 0, 40)),
        _journal("c2", ("begin", 2, 100), ("end", 2, 120)),
        end=3,
    )
    (move,) = handled.moves
    assert (move.left, move.right, move.gap_ns, move.clean) == ("c1", "c2", 60 * MS, True)
    assert (handled.begun_again, handled.beside, handled.holes) == ((), (), 0)
    assert handled.gap_ms() == handled.longest_gap_ms() == 60.0


def test_a_call_beside_another_consumer_is_found() -> None:
    """Whoever begins while another is at work on the queue is beside it, whatever the offset."""
    handled = _handled(
        _journal("c1", ("begin", 0, 10), ("end", 0, 50)),
        _journal("c2", ("begin", 1, 49), ("end", 1, 60)),
        end=2,
    )
    assert [(each.who, each.offset) for each in handled.beside] == [("c2", 1)]
    assert handled.moves[0].gap_ns == -1 * MS


def test_calls_of_one_consumer_on_one_queue_are_beside_nobody() -> None:
    """A pool of threads works on one queue at a time, and on others' queues nobody is disturbed."""
    handled = _handled(
        _journal("c1", ("begin", 0, 10), ("begin", 1, 12), ("end", 0, 50), ("end", 1, 60)),
        _journal("c2", ("begin", 0, 11), ("end", 0, 70), queue=OTHER),
        end=2,
    )
    assert (handled.beside, handled.moves) == ((), ())


def test_a_message_that_comes_again_counts_though_its_first_call_had_ended() -> None:
    """Twice is twice, at the same consumer or at the next."""
    handled = _handled(
        _journal("c1", ("begin", 0, 10), ("end", 0, 20), ("begin", 0, 22), ("end", 0, 24)),
        _journal("c2", ("begin", 0, 30), ("end", 0, 40)),
        end=1,
    )
    assert [each.who for each in handled.begun_again] == ["c1", "c2"]


def test_what_a_listener_failed_may_come_again() -> None:
    """A failed message is owed, and it is missed if nobody processes it."""
    failed = ("begin", 0, 10), ("fail", 0, 20)
    again = _journal("c2", ("begin", 0, 30), ("end", 0, 40))
    handled = _handled(_journal("c1", *failed), again, end=1)
    assert (handled.begun_again, handled.begun_again_after_cut, handled.holes) == ((), 0, 0)
    assert _handled(_journal("c1", *failed), end=1).missed == {QUEUE: (0,)}


def test_after_a_kill_repetitions_are_counted_apart() -> None:
    """Nobody may have heard what the dead one had finished; its last call ended with it."""
    handled = _handled(
        _journal("c1", ("begin", 0, 10), ("end", 0, 20), ("begin", 1, 22)),
        _journal("c2", ("begin", 0, 300), ("end", 0, 310), ("begin", 1, 311), ("end", 1, 320)),
        end=2,
        standstills={"c1": [Standstill(25 * MS)]},
    )
    assert (handled.begun_again, handled.begun_again_after_cut) == ((), 2)
    assert (handled.beside, handled.holes) == ((), 0)
    (move,) = handled.moves
    assert (move.gap_ns, move.clean) == (275 * MS, False)
    assert (handled.gap_ms(), handled.longest_gap_ms()) == (None, 275.0)


def test_a_frozen_consumer_that_goes_on_with_new_messages_is_beside_the_next() -> None:
    """The call that it was frozen in is excused; one that begins after it is awake is not."""
    frozen = ("begin", 0, 10), ("end", 0, 500), ("begin", 1, 501), ("end", 1, 510)
    handled = _handled(
        _journal("c1", *frozen),
        _journal("c2", ("begin", 0, 300), ("end", 0, 310), ("begin", 1, 490), ("end", 1, 505)),
        end=2,
        standstills={"c1": [Standstill(15 * MS, 480 * MS)]},
    )
    assert [(each.who, each.offset) for each in handled.beside] == [("c1", 1)]
    assert [(each.who, each.offset) for each in handled.begun_again] == [("c1", 1)]
    assert handled.begun_again_after_cut == 1


def test_what_nobody_processed_is_missed() -> None:
    """Each offset below the end counts, also of a queue that nobody ever read."""
    journal = _journal("c1", ("begin", 0, 10), ("end", 0, 20), ("begin", 2, 22))
    handled = judge_calls(calls_of([journal], {}), {QUEUE: 3, OTHER: 2}, {})
    assert handled.missed == {QUEUE: (1, 2), OTHER: (0, 1)}
    assert handled.holes == 4


def test_a_take_over_lasts_until_the_last_queue_goes_on() -> None:
    """It counts from the freeze; a queue that nobody takes before its end was not taken over."""
    frozen: dict[str, Sequence[Standstill]] = {"c1": [Standstill(20 * MS, 900 * MS)]}
    first = _journal("c1", ("begin", 0, 10), ("end", 0, 12))
    second = _journal("c1", ("begin", 0, 15), ("end", 0, 16), queue=OTHER)
    soon = _journal("c2", ("begin", 1, 100), ("end", 1, 110))
    took = {300: 280.0, 901: None}
    for begun_ms, taken_over_ms in took.items():
        late = _journal("c3", ("begin", 1, begun_ms), ("end", 1, 990), queue=OTHER)
        handled = _handled(first, second, soon, late, end=2, standstills=frozen)
        assert handled.taken_over_ms == taken_over_ms


def test_a_kill_is_no_take_over_of_a_frozen_consumer() -> None:
    """Whoever was killed does not go on: nothing is measured."""
    handled = _handled(
        _journal("c1", ("begin", 0, 10)),
        _journal("c2", ("begin", 0, 100), ("end", 0, 110)),
        end=1,
        standstills={"c1": [Standstill(20 * MS)]},
    )
    assert handled.taken_over_ms is None
