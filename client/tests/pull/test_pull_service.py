"""The pull service's turns: who is pulled when, what holds back, what an answer leads to."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest
from fairlead_client import (
    ClientClosedError,
    ConsumeResult,
    Observer,
    PushConsumer,
    SettingsError,
    Subscription,
)
from fairlead_client.consume.pull import pull_service
from fairlead_client.consume.pull.flow_control import FlowControl, FlowLimits
from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.consume.pull.pull_service import DirectPull, PullService
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.clock import now_ms

from tests.kit.awaiting import await_seen

WAIT = 20.0
Pull = Callable[[Iterable[int]], list[Any]]


class ListedSource:
    """A source in memory: queues of so many offsets, and answers that a test puts before them."""

    def __init__(self, pulled: Pull) -> None:
        self._pulled = pulled
        self.ends: dict[Queue, int] = {}
        self.next: list[PullStatus | Exception] = []
        self.asked: SimpleQueue[tuple[int, dict[Queue, int]]] = SimpleQueue()
        self.next_follow: list[Exception] = []
        self.refused: dict[Queue, Exception] = {}
        self.let = Event()
        self.let.set()
        self.followed: list[Queue] = []
        self.closed = Event()

    def connect(self) -> None:
        """There is nothing to connect to."""

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """Refuse all but tags."""
        for one in subscriptions:
            if one.expression_type != "tag":
                raise SettingsError("topics", one.expression_type, "subscribe by tag")

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Everything is wanted that is not refused."""
        self.check(subscriptions)

    def follow(self, queues: Collection[Queue]) -> None:
        """Note what is held, or raise what the test says."""
        if self.next_follow:
            raise self.next_follow.pop(0)
        self.followed = sorted(queues)

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Answer with ten messages at most, or as the test says."""
        self.asked.put((now_ms(), dict(offsets)))
        assert self.let.wait(WAIT)
        answer = self.next.pop(0) if self.next else None
        if isinstance(answer, Exception):
            raise answer
        if answer is PullStatus.OFFSET_ILLEGAL:
            return {queue: PullResult(answer, self.ends[queue]) for queue in offsets}
        results = {}
        for queue, offset in offsets.items():
            end = min(self.ends.get(queue, 0), offset + (most or 10))
            records = self._pulled(range(offset, end))
            status = PullStatus.FOUND if records else PullStatus.NO_NEW_MSG
            results[queue] = PullResult(status, max(offset, end), records)
            if queue in self.refused:
                results[queue] = PullResult(status, offset, error=self.refused[queue])
        if not any(result.records for result in results.values()):
            Event().wait(wait_ms / 1_000)
        return results

    def close(self) -> None:
        """Note it."""
        self.closed.set()


class Scene:
    """A running service, and what it said."""

    def __init__(self, pulled: Pull, limit: int) -> None:
        self.source = ListedSource(pulled)
        self.arrived: SimpleQueue[tuple[Queue, int]] = SimpleQueue()
        self.errors: SimpleQueue[Exception] = SimpleQueue()
        self.corrected: SimpleQueue[tuple[int, int]] = SimpleQueue()
        self.mine = True
        self.refuses_corrections = False
        scene = self

        class Corrections(Observer):
            def offset_corrected(self, queue: Queue, epoch: Epoch, offset: int, new: int) -> None:
                del queue, epoch
                if scene.refuses_corrections:
                    raise OSError("refused")
                scene.corrected.put((offset, new))

        limits = FlowLimits(pull_threshold_for_queue=limit)
        self.flow = FlowControl(limits, ordered=False)
        self.service = PullService(
            self.source,
            self.flow,
            still_mine=lambda _queue: Epoch(1, 1) if self.mine else None,
            is_locked=lambda _queue: self.mine,
            on_messages=lambda work, count: self.arrived.put((work.queue, count)),
            touched=lambda _work: None,
            failed=self.errors.put,
            observer=Corrections(),
        )


@pytest.fixture
def scene(pulled: Pull) -> Iterator[Callable[..., Scene]]:
    """Make running services that end after the test."""
    made: list[Scene] = []

    def make(limit: int = 1_000) -> Scene:
        made.append(Scene(pulled, limit))
        made[-1].service.start()
        return made[-1]

    yield make
    for one in made:
        one.source.let.set()
        one.service.stop()
        one.service.join(WAIT)
        assert one.source.closed.is_set()


def works(queue: Queue, count: int) -> list[ProcessQueue]:
    """Return process queues of so many queues."""
    return [ProcessQueue(queue._replace(queue_id=one), Epoch(1, 1), 0) for one in range(count)]


def test_all_in_one_turn(scene: Callable[..., Scene], queue: Queue) -> None:
    """Every queue that is due is asked for at once, and none is left out of a turn."""
    one, held = scene(), works(queue, 5)
    one.source.let.clear()
    one.source.ends = {work.queue: 30 for work in held}
    for work in held:
        one.service.add(work)
    one.source.let.set()
    arrived = [one.arrived.get(timeout=WAIT) for _ in range(15)]
    assert sorted(arrived) == sorted((work.queue, 10) for work in held for _ in range(3))
    for work in held:
        offsets: list[int] = []
        while (batch := work.hand_out(7)) is not None:
            offsets += [record.offset for record in batch.records]
        assert offsets == list(range(30))
    assert one.source.followed == sorted(work.queue for work in held)


def test_the_first_pull_is_due_at_once(
    scene: Callable[..., Scene], queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue that comes is due at once: it is asked for while the clock stands still."""
    at_ms = now_ms()
    monkeypatch.setattr(pull_service, "now_ms", lambda: at_ms)
    one, (work,) = scene(), works(queue, 1)
    one.source.ends = {work.queue: 10}
    one.service.add(work)
    assert one.arrived.get(timeout=WAIT) == (work.queue, 10)


def test_a_full_queue_is_tried_again_while_others_go_on(
    scene: Callable[..., Scene], queue: Queue
) -> None:
    """A full queue is tried again each 50 ms and not asked for; the others go on meanwhile."""
    one, (full, other) = scene(limit=15), works(queue, 2)
    one.source.ends = {full.queue: 100, other.queue: 10}
    one.service.add(full)
    assert [one.arrived.get(timeout=WAIT)[1] for _ in range(2)] == [10, 10]
    one.service.add(other)
    assert one.arrived.get(timeout=WAIT) == (other.queue, 10)
    tried = full.last_pull_ms or 0
    again = await_seen(
        lambda: full.last_pull_ms or 0, lambda ms: ms != tried, what="second try", pause=0.005
    )
    assert 50 <= again - tried < 1_000
    assert full.count == 20
    batch = full.hand_out(10)
    assert batch is not None
    full.finish(batch)
    assert one.arrived.get(timeout=WAIT) == (full.queue, 10)


def test_a_failed_pull_is_asked_again_from_the_same_offset(
    scene: Callable[..., Scene], queue: Queue
) -> None:
    """The service reports what the source raises and asks again from there after a second."""
    one, (work,) = scene(), works(queue, 1)
    one.source.ends[work.queue] = 5
    one.source.next = [OSError("no broker")]
    one.service.add(work)
    assert isinstance(one.errors.get(timeout=WAIT), OSError)
    assert one.arrived.get(timeout=WAIT) == (work.queue, 5)
    (first, offsets), (second, again) = (one.source.asked.get(timeout=WAIT) for _ in range(2))
    assert offsets == again == {work.queue: 0}
    assert second - first >= 1_000


def test_a_refused_queue_is_asked_again_after_a_second(
    scene: Callable[..., Scene], queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    """The service logs a refusal once and asks again after a second; the others go on."""
    one, (refused, other) = scene(), works(queue, 2)
    one.source.ends = {refused.queue: 5, other.queue: 20}
    one.source.refused = {refused.queue: OSError("not yours")}
    one.service.add(refused)
    one.service.add(other)
    assert [one.arrived.get(timeout=WAIT) for _ in range(2)] == [(other.queue, 10)] * 2
    begun = now_ms()
    errors = [one.errors.get(timeout=WAIT) for _ in range(3)]
    assert now_ms() - begun >= 1_000
    assert {str(error) for error in errors} == {"not yours"}
    warned = [record for record in caplog.records if record.levelname == "WARNING"]
    assert [record.getMessage() for record in warned] == ["pulling failed: OSError('not yours')"]
    answer: Future[PullResult] = Future()
    one.service.pull(DirectPull(refused, 0, 3, 100, answer))
    with pytest.raises(OSError, match="not yours"):
        answer.result(WAIT)
    one.source.refused = {}
    assert one.arrived.get(timeout=WAIT) == (refused.queue, 5)


def test_an_illegal_offset_is_corrected_and_counted(
    scene: Callable[..., Scene], queue: Queue
) -> None:
    """An illegal offset is corrected, counted and told; pulling goes on from there."""
    one, (work,) = scene(), works(queue, 1)
    work.seek(700)
    one.source.ends[work.queue] = 20
    one.source.next = [PullStatus.OFFSET_ILLEGAL]
    one.service.add(work)
    assert one.corrected.get(timeout=WAIT) == (700, 20)
    one.source.ends[work.queue] = 21
    assert one.arrived.get(timeout=WAIT) == (work.queue, 1)
    assert one.service.counts["offsets_illegal"] == 1
    assert work.position == 20


def test_a_suspended_service_asks_for_nothing(scene: Callable[..., Scene], queue: Queue) -> None:
    """Suspended it asks for nothing; resumed it asks at once, not when the delay is over."""
    one, (work,) = scene(), works(queue, 1)
    one.service.suspend()
    one.service.add(work)
    await_seen(lambda: work.last_pull_ms is not None, what="first try", pause=0.005)
    assert one.source.asked.empty()
    one.source.ends[work.queue] = 3
    resumed = now_ms()
    one.service.resume()
    assert one.arrived.get(timeout=WAIT) == (work.queue, 3)
    assert one.source.asked.get(timeout=WAIT)[0] - resumed < 900


def test_nothing_is_pulled_without_the_lease(scene: Callable[..., Scene], queue: Queue) -> None:
    """Without the lease nothing is pulled; a dropped queue is forgotten."""
    one, (work, other) = scene(), works(queue, 2)
    one.mine = False
    one.service.add(work)
    await_seen(lambda: work.last_pull_ms is not None, what="first try", pause=0.005)
    work.drop()
    one.mine = True
    one.source.ends = {work.queue: 5, other.queue: 5}
    one.service.add(other)
    assert one.arrived.get(timeout=WAIT) == (other.queue, 5)
    assert one.source.followed == [other.queue]
    assert work.count == 0


def test_a_direct_pull_is_answered_and_not_cached(
    scene: Callable[..., Scene], queue: Queue
) -> None:
    """A pull of the application's own is answered from its offset, and cached nowhere."""
    one, (work, stranger) = scene(), works(queue, 2)
    one.source.ends[work.queue] = 40
    one.service.suspend()
    one.service.add(work)
    answer: Future[PullResult] = Future()
    one.service.pull(DirectPull(work, 7, 3, 100, answer))
    result = answer.result(WAIT)
    assert [record.offset for record in result.records] == [7, 8, 9]
    assert (result.next_offset, work.count, work.next_offset) == (10, 0, 0)
    refused: Future[PullResult] = Future()
    one.service.pull(DirectPull(stranger, 0, 3, 100, refused))
    with pytest.raises(ClientClosedError):
        refused.result(WAIT)


def test_a_subscription_that_cannot_be(scene: Callable[..., Scene], queue: Queue) -> None:
    """The service reports what a source refuses on use, and pulling goes on."""
    one, (work,) = scene(), works(queue, 1)
    one.service.subscribe([Subscription(queue.topic, "a > 1", expression_type="sql92")])
    assert isinstance(one.errors.get(timeout=WAIT), SettingsError)
    one.source.ends[work.queue] = 5
    one.service.add(work)
    assert one.arrived.get(timeout=WAIT) == (work.queue, 5)


def test_a_turn_that_fails(scene: Callable[..., Scene], queue: Queue) -> None:
    """The service reports what a turn raises, and follows and pulls every queue a second later."""
    one, (held, added) = scene(), works(queue, 2)
    one.source.ends[held.queue] = 5
    one.service.add(held)
    assert one.arrived.get(timeout=WAIT) == (held.queue, 5)
    one.source.next_follow = [OSError("no metadata")]
    one.source.ends = {held.queue: 8, added.queue: 4}
    one.service.add(added)
    assert isinstance(one.errors.get(timeout=WAIT), OSError)
    arrived = {one.arrived.get(timeout=WAIT) for _ in range(2)}
    assert arrived == {(held.queue, 3), (added.queue, 4)}
    assert one.source.followed == [held.queue, added.queue]


def test_an_answer_that_fails(scene: Callable[..., Scene], queue: Queue) -> None:
    """Whoever asked gets what its answer raised, that of an observer too, and is not left alone."""
    one, (work,) = scene(), works(queue, 1)
    one.service.suspend()
    one.service.add(work)
    one.source.next = [PullStatus.OFFSET_ILLEGAL]
    one.source.ends[work.queue] = 5
    one.refuses_corrections = True
    answer: Future[PullResult] = Future()
    one.service.pull(DirectPull(work, 7, 3, 100, answer))
    with pytest.raises(OSError, match="refused"):
        answer.result(WAIT)


def test_a_subscription_is_refused() -> None:
    """A client refuses a filter that it cannot evaluate before the engine learns of it."""
    consumer = PushConsumer(
        bootstrap="127.0.0.1:1",
        group="g",
        topics=["orders"],
        listener=lambda *_: ConsumeResult.CONSUME_SUCCESS,
    )
    with pytest.raises(SettingsError, match="subscribe by tag"):
        consumer.subscribe([Subscription("orders", "a > 1", expression_type="sql92")])
