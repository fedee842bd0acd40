"""A lease that ran out while messages were consumed: it is renewed after all, or it is lost."""

from collections.abc import Callable, Iterable
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client.consume.pull import consume_service
from fairlead_client.consume.pull.consume_service import (
    ConcurrentConsumeService,
    ConsumeService,
    OrderlyConsumeService,
)
from fairlead_client.consume.pull.listener import ConsumeContext, ConsumeResult
from fairlead_client.consume.pull.process_queue import ProcessQueue

if TYPE_CHECKING:
    from tests.pull.conftest import Scene

Pull = Callable[[Iterable[int]], list[Any]]
WAIT = 20.0
SUCCESS = ConsumeResult.CONSUME_SUCCESS


@pytest.fixture(params=[ConcurrentConsumeService, OrderlyConsumeService])
def consuming_of(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> "Callable[[Scene], ConsumeService]":
    """Make each way of consuming in turn; what is undecided is looked at every 5 ms."""
    monkeypatch.setattr(consume_service, "UNDECIDED_MS", 5)
    chosen = {"max_reconsume_times": None} if request.param is OrderlyConsumeService else {}
    return lambda one: request.param(one.listen, **chosen, **one.common)


def test_a_lease_that_is_renewed_after_all(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    pulled: Pull,
    consuming_of: "Callable[[Scene], ConsumeService]",
) -> None:
    """A batch that ended while the lease had run out comes again, as the same attempt."""
    one = scene(1)

    def lose(_context: ConsumeContext) -> ConsumeResult:
        one.mine = False
        return SUCCESS

    one.answers = [lose]
    work.put(pulled([10]), 10, 11)
    consuming = consuming_of(one)
    consuming.deliver(work, 1)
    assert one.settled.get(timeout=WAIT) == 10
    one.mine = True
    assert one.settled.get(timeout=WAIT) == 11
    assert [one.seen.get(timeout=WAIT) for _ in range(2)] == [([10], 1)] * 2
    work.put(pulled([11]), 11, 12)
    consuming.deliver(work, 1)
    assert one.settled.get(timeout=WAIT) == 12
    assert work.count == 0


def test_what_waits_while_nobody_knows(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    pulled: Pull,
    consuming_of: "Callable[[Scene], ConsumeService]",
) -> None:
    """What came while the lease had run out is consumed when it is renewed, without a new pull."""
    one = scene(1)
    one.mine = False
    work.put(pulled([10, 11]), 10, 12)
    looked = Event()
    consuming = consuming_of(one)
    consuming.deliver(work, 2)
    one.timer.after(20, looked.set)
    assert looked.wait(WAIT)
    assert one.seen.empty()
    one.mine = True
    assert sorted(one.seen.get(timeout=WAIT)[0] for _ in range(2)) == [[10], [11]]


def test_a_lease_that_was_lost(
    scene: "Callable[..., Scene]",
    work: ProcessQueue,
    pulled: Pull,
    consuming_of: "Callable[[Scene], ConsumeService]",
) -> None:
    """Once the queue is taken away nothing of it comes again."""
    one = scene(1)

    def lose(_context: ConsumeContext) -> ConsumeResult:
        one.mine = False
        return SUCCESS

    one.answers = [lose]
    work.put(pulled([10]), 10, 11)
    consuming_of(one).deliver(work, 1)
    assert one.settled.get(timeout=WAIT) == 10
    assert work.stop()
    one.mine = True
    looked = Event()
    one.timer.after(20, lambda: one.workers.submit(looked.set))
    assert looked.wait(WAIT)
    assert one.seen.get(timeout=WAIT) == ([10], 1)
    assert one.seen.empty()
    assert work.position == 10
