"""A Consumer's reading of a source: what is handed out, passed, corrected and asked for again."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest
from fairlead_client.consume import source_reading
from fairlead_client.consume.in_flight import InFlight
from fairlead_client.consume.pull.message_source import PullResult, PullStatus
from fairlead_client.consume.reading import Ownership, Taken
from fairlead_client.consume.source_reading import SourceReading
from fairlead_client.model import Epoch, Position, Queue, Subscription
from fairlead_client.session.observer import Observer
from fairlead_client.session.session import Granted

QUEUE = Queue("orders", "A", 0)
EPOCH = Epoch(1, 1)
LATER = Epoch(1, 2)


class Record:
    """A message without content."""

    key = value = None
    headers = ()
    timestamp = 0

    def __init__(self, offset: int) -> None:
        self.offset = offset


class Source:
    """A source whose next results the test sets."""

    def __init__(self) -> None:
        self.results: list[PullResult] = []
        self.asked: list[Mapping[Queue, int]] = []
        self.subscribed: list[tuple[Subscription, ...]] = []
        self.followed: list[set[Queue]] = []

    def connect(self) -> None:
        """Nothing to connect."""

    def check(self, subscriptions: Iterable[Subscription]) -> None:
        """All filters will do."""

    def subscribe(self, subscriptions: Iterable[Subscription]) -> None:
        """Note the filters."""
        self.subscribed.append(tuple(subscriptions))

    def follow(self, queues: Collection[Queue]) -> None:
        """Note the queues."""
        self.followed.append(set(queues))

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Return the next result."""
        assert wait_ms <= 50
        assert most is None
        self.asked.append(dict(offsets))
        return {QUEUE: self.results.pop(0)} if self.results else {}

    def close(self) -> None:
        """Nothing to close."""


class Passed(Observer):
    """Notes what was passed and corrected."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def passed(self, queue: Queue, epoch: Epoch, begin: int, end: int, why: str) -> None:
        """Note offsets without messages."""
        assert (queue, epoch) == (QUEUE, EPOCH)
        self.events.append((begin, end, why))

    def offset_corrected(self, queue: Queue, epoch: Epoch, offset: int, corrected: int) -> None:
        """Note a correction."""
        assert (queue, epoch) == (QUEUE, EPOCH)
        self.events.append((offset, corrected))


class Scene:
    """A reading of one queue, whose work begins at offset 10."""

    def __init__(self) -> None:
        self.source, self.observer = Source(), Passed()
        self.work = InFlight(self.observer)
        self.epoch: Epoch | None = EPOCH
        self.errors: list[Exception] = []
        ownership = Ownership(lambda _: self.epoch, lambda _: Granted())
        self.reading = SourceReading(
            self.source, self.work, ownership, self.observer, self.errors.append
        )
        self.work.start_work(QUEUE, EPOCH, Position(0, 10))
        self.reading.follow()

    def fetch(self, *results: PullResult) -> list[Taken]:
        """Let the source answer, and return all that is taken."""
        self.source.results += results
        for _ in results or [None]:
            self.reading.fetch(0.01)
        taken = []
        while (each := self.reading.take()) is not None:
            taken.append(each)
        return taken


def _found(*offsets: int, after: int, end: int | None = None) -> PullResult:
    return PullResult(PullStatus.FOUND, after, [Record(offset) for offset in offsets], end)


def test_offsets_without_wanted_messages_are_passed() -> None:
    """Before, between and behind messages; the place behind the last one is taken too."""
    scene = Scene()
    taken = scene.fetch(_found(12, 15, after=20))
    assert [each.record and each.record.offset for each in taken] == [12, 15, None]
    assert taken[-1].after == 20
    assert scene.observer.events == [
        (10, 12, "filtered"),
        (13, 15, "filtered"),
        (16, 20, "filtered"),
    ]
    scene.work.skip(QUEUE, EPOCH, 20)
    (progress,) = scene.work.collect_progress()
    assert (progress.queue, progress.offset) == (QUEUE, 20)
    assert scene.fetch() == []
    assert scene.source.asked == [{QUEUE: 10}, {QUEUE: 20}]


def test_nothing_new_is_taken_as_nothing() -> None:
    """An answer at the same place leaves nothing to take."""
    scene = Scene()
    assert scene.fetch(PullResult(PullStatus.NO_NEW_MSG, 10, end=10)) == []


def test_an_offset_outside_of_its_queue() -> None:
    """The work goes on where the source says."""
    scene = Scene()
    assert scene.fetch(PullResult(PullStatus.OFFSET_ILLEGAL, 4)) == []
    assert scene.observer.events == [(10, 4)]
    assert scene.work.readable() == {QUEUE: (EPOCH, 4)}
    scene.fetch()
    assert scene.source.asked[-1] == {QUEUE: 4}


def test_a_queue_that_fails_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its error is reported, and it is asked for again a second later."""
    times = [0]
    monkeypatch.setattr(source_reading, "now_ms", lambda: times[0])
    scene, error = Scene(), ValueError("broken")
    scene.fetch(PullResult(PullStatus.NO_NEW_MSG, 10, error=error))
    assert scene.errors == [error]
    scene.fetch()
    assert len(scene.source.asked) == 1
    times[0] = 1_000
    scene.fetch()
    assert len(scene.source.asked) == 2


def test_without_its_lease_a_queue_is_not_asked_for() -> None:
    """It is asked for again when the lease is renewed."""
    scene = Scene()
    scene.epoch = None
    scene.fetch()
    assert scene.source.asked == []
    scene.epoch = EPOCH
    scene.fetch()
    assert scene.source.asked == [{QUEUE: 10}]


def test_another_tenure_begins_at_its_own_place() -> None:
    """What was pulled for the one before is thrown away."""
    scene = Scene()
    scene.source.results.append(_found(10, 11, after=12))
    scene.reading.fetch(0.01)
    scene.work.abandon_work(QUEUE, EPOCH)
    scene.work.start_work(QUEUE, LATER, Position(0, 30))
    scene.epoch = LATER
    scene.reading.follow()
    assert scene.fetch() == []
    assert scene.source.asked[-1] == {QUEUE: 30}


def test_a_new_filter_is_told_before_the_next_pull() -> None:
    """The source gets it once."""
    scene = Scene()
    wanted = (Subscription("orders", expression="a"),)
    scene.reading.subscribe(wanted)
    assert scene.source.subscribed == []
    scene.fetch()
    scene.fetch()
    assert scene.source.subscribed == [wanted]
