"""What is pulled and not consumed: no loss, no duplicate, the lowest unconsumed is the position."""

from collections.abc import Callable, Iterable
from typing import Any

from fairlead_client.consume.pull.process_queue import Batch, ProcessQueue
from fairlead_client.model import Epoch, Queue
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

Pull = Callable[[Iterable[int]], list[Any]]


def test_the_position_is_the_first_remaining_message(work: ProcessQueue, pulled: Pull) -> None:
    """Finished in any order, the position is the first remaining, then where pulling goes on."""
    assert work.position == 10
    assert work.put(pulled([10, 11, 12, 13]), 10, 16)
    first, second = work.hand_out(2), work.hand_out(2)
    assert first is not None
    assert second is not None
    assert (work.count, work.size_bytes, work.span) == (4, 20, 3)
    assert work.finish(second)
    assert (work.position, work.count, work.size_bytes, work.span) == (10, 2, 10, 1)
    assert work.finish(first)
    assert (work.position, work.count, work.size_bytes, work.span) == (16, 0, 0, 0)
    assert not work.finish(first)


def test_a_stopping_queue_counts_what_is_in_hand(work: ProcessQueue, pulled: Pull) -> None:
    """What is in hand counts when it is finished; what was cached is forgotten."""
    work.put(pulled([10, 11, 12]), 10, 13)
    batch = work.hand_out(1)
    assert batch is not None
    assert not work.stop()
    assert work.hand_out(1) is None
    assert not work.put(pulled([13]), 11, 14)
    assert work.finish(batch)
    assert work.idle
    assert (work.position, work.count) == (11, 0)


def test_results_of_a_dropped_queue_do_not_count(work: ProcessQueue, pulled: Pull) -> None:
    """The result of what was in hand when the queue was dropped does not count."""
    work.put(pulled([10]), 10, 11)
    batch = work.hand_out(1)
    assert batch is not None
    work.drop()
    assert not work.finish(batch)
    assert work.position == 10


def test_part_of_a_batch(work: ProcessQueue, pulled: Pull) -> None:
    """What could not be sent back stays, and comes again with its attempt counted."""
    records = pulled([10, 11, 12])
    work.put(records, 10, 13)
    batch = work.hand_out(3)
    assert batch is not None
    assert work.put_back(batch, records[1:2])
    assert (work.position, work.count, work.idle) == (11, 1, True)
    assert work.hand_out_again(batch)
    assert not work.hand_out_again(batch)
    assert (batch.attempt, [record.offset for record in batch.records]) == (2, [11])
    assert work.finish(batch)
    assert work.position == 13


def test_after_a_seek_nothing_pulled_elsewhere_counts(work: ProcessQueue, pulled: Pull) -> None:
    """After a seek nothing counts that was pulled or is pulled from elsewhere."""
    work.put(pulled([10, 11]), 10, 12)
    batch = work.hand_out(1)
    assert batch is not None
    work.seek(5)
    assert not work.put(pulled([12]), 12, 13)
    assert not work.finish(batch)
    assert not work.hand_out_again(batch)
    assert (work.position, work.count, work.size_bytes) == (5, 0, 0)


def test_recalled_messages_are_handed_out_first_and_count_once(
    work: ProcessQueue, pulled: Pull
) -> None:
    """What is taken back is handed out again before anything later, and counts once."""
    work.put(pulled(range(10, 16)), 10, 16)
    first, second, third = (work.hand_out(2) for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    work.finish(second)
    work.recall()
    assert not work.finish(first)
    assert not work.hand_out_again(third)
    assert (work.position, work.count, work.idle) == (10, 4, True)
    for offsets in ([10, 11], [14, 15]):
        batch = work.hand_out(9)
        assert batch is not None
        assert [record.offset for record in batch.records] == offsets
        assert work.finish(batch)
    assert (work.position, work.count, work.size_bytes) == (16, 0, 0)


def test_an_ordered_queue_runs_one_turn_at_a_time(work: ProcessQueue, pulled: Pull) -> None:
    """Of an ordered queue one turn runs at a time, and none ends before what came meanwhile."""
    assert not work.begin_turn()
    work.put(pulled([10]), 10, 11)
    assert work.begin_turn()
    assert not work.begin_turn()
    assert not work.end_turn()
    assert work.hand_out(1) is not None
    assert work.end_turn()


def test_as_many_turns_serve_a_queue_as_may(work: ProcessQueue, pulled: Pull) -> None:
    """So many serve a queue at a time as may, until there is nothing, or it is taken away."""
    work.put(pulled([10]), 10, 11)
    assert [work.begin_turn(2) for _ in range(3)] == [True, True, False]
    assert not work.end_turn()
    batch = work.hand_out(1)
    assert batch is not None
    assert work.end_turn()
    work.put(pulled([11]), 11, 12)
    assert work.begin_turn(2)
    work.stop()
    assert work.end_turn()


def test_a_change_is_noted_once(work: ProcessQueue, pulled: Pull) -> None:
    """A queue notes a change once, until somebody asks how far it is."""
    assert work.mark_touched()
    assert not work.mark_touched()
    work.put(pulled([]), 10, 20)
    assert work.report_position() == 20
    assert work.mark_touched()


class AnyInterleaving(RuleBasedStateMachine):
    """Pulls, hand-outs, results, and a stop, in any order; beside it a plain set of offsets."""

    def __init__(self) -> None:
        super().__init__()
        self.work = ProcessQueue(Queue("orders", "main", 1), Epoch(1, 1), 0)
        self.next = 0
        self.handed: set[int] = set()
        self.left: set[int] = set()
        self.in_hand: list[Batch] = []
        self.waiting: list[Batch] = []
        self.stopped = False

    @rule(gaps=st.lists(st.integers(1, 3), max_size=8), tail=st.integers(0, 2))
    def pull(self, gaps: list[int], tail: int) -> None:
        """Put in records with gaps between them, as compaction and filters leave."""
        offset, records = self.next - 1, []
        for gap in gaps:
            offset += gap
            records.append(_Pulled(offset))
        after = offset + 1 + tail
        assert self.work.put(records, self.next, after) != self.stopped
        if not self.stopped:
            self.left |= {record.offset for record in records}
            self.next = after

    @rule(most=st.integers(1, 4))
    def hand_out(self, most: int) -> None:
        """Hand out the next batch."""
        batch = self.work.hand_out(most)
        if batch is not None:
            offsets = {record.offset for record in batch.records}
            assert not offsets & self.handed, "handed out twice"
            assert min(offsets) == min(self.left - self.handed), "left one out"
            self.handed |= offsets
            self.in_hand.append(batch)

    @precondition(lambda self: self.in_hand)
    @rule(which=st.randoms(use_true_random=False), keep=st.integers(0, 3))
    def result(self, which: Any, keep: int) -> None:
        """Finish any batch, all of it or some."""
        batch = self.in_hand.pop(which.randrange(len(self.in_hand)))
        remaining = list(batch.records)[:keep]
        self.left -= {record.offset for record in batch.records[keep:]}
        if remaining:
            assert self.work.put_back(batch, remaining)
            self.waiting.append(batch)
        else:
            assert self.work.finish(batch)

    @precondition(lambda self: self.waiting)
    @rule()
    def again(self) -> None:
        """Hand out once more what was put back."""
        batch = self.waiting.pop(0)
        if self.work.hand_out_again(batch):
            self.in_hand.append(batch)
        else:
            assert self.stopped

    @rule()
    def recall(self) -> None:
        """Take everything back, to be handed out again; after a stop it is somebody else's."""
        self.work.recall()
        self.in_hand.clear()
        self.waiting.clear()
        self.handed -= self.left
        if self.stopped and self.left:
            self.next = min(self.left)
            self.left.clear()

    @precondition(lambda self: not self.stopped)
    @rule()
    def stop(self) -> None:
        """The queue is taken away: what was not handed out is somebody else's."""
        assert self.work.stop() == (not self.in_hand)
        self.stopped = True
        never = self.left - self.handed
        if never:
            self.next = min(never)
            self.left -= never

    @invariant()
    def books_agree(self) -> None:
        """The accounts are those of the set."""
        assert self.work.position == min(self.left, default=self.next)
        assert self.work.count == len(self.left)
        assert self.work.size_bytes == 5 * len(self.left)
        span = max(self.left) - min(self.left) if self.left else 0
        assert self.work.span == span
        assert self.work.idle == (not self.in_hand)


class _Pulled:
    """A record, as the machine makes them."""

    key, value, headers, timestamp = None, b"12345", (), 7

    def __init__(self, offset: int) -> None:
        self.offset = offset


TestAnyInterleaving = AnyInterleaving.TestCase
