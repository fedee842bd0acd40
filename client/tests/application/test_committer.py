"""Commits go out in order, several as one, never too late; the committer reports errors."""

from collections.abc import Mapping
from queue import SimpleQueue
from threading import Event

from fairlead_client.errors import OffsetStoreError
from fairlead_client.model import Epoch, Position, Progress, Queue
from fairlead_client.session.actions import CommitProgress
from fairlead_client.session.clock import now_ms
from fairlead_client.session.events import CommitFinished
from fairlead_client.transport.offset_store import Committer

QUEUE = Queue("orders", "main", 1)
WAIT_SECONDS = 10


class Store:
    """A store in memory, which can be held up and can fail."""

    def __init__(self) -> None:
        self.commits: list[dict[Queue, Progress]] = []
        self.entered = Event()
        self.may_go_on = Event()
        self.may_go_on.set()
        self.error: Exception | None = None
        self.closed = False

    def commit(self, entries: Mapping[Queue, Progress], timeout_ms: int) -> None:
        """Keep."""
        assert 0 < timeout_ms <= 60_000
        self.entered.set()
        assert self.may_go_on.wait(WAIT_SECONDS)
        if self.error is not None:
            raise self.error
        self.commits.append(dict(entries))

    def close(self) -> None:
        """Note it."""
        self.closed = True


def _entry(offset: int, identity: str | None = None) -> Progress:
    return Progress(QUEUE, Epoch(1, 1), Position(0, offset), None, identity)


class Setting:
    """A committer over such a store."""

    def __init__(self) -> None:
        self.store = Store()
        self.finished: SimpleQueue[CommitFinished] = SimpleQueue()
        self.errors: list[Exception] = []
        self.committer = Committer(self.store, self.finished.put, self.errors.append)
        self.committer.start()

    def commit(
        self, offset: int, within_ms: int = 60_000, identity: str | None = None
    ) -> tuple[Progress, ...]:
        """Ask for a commit."""
        entries = (_entry(offset, identity),)
        self.committer.commit(CommitProgress(entries, now_ms() + within_ms))
        return entries

    def end(self) -> list[CommitFinished]:
        """Stop, and return what finished."""
        self.committer.stop()
        self.committer.join(WAIT_SECONDS)
        assert self.store.closed
        return [self.finished.get() for _ in range(self.finished.qsize())]


def test_several_commits_are_made_as_one() -> None:
    """What piles up while one commit is under way is committed together, the newest standing."""
    setting = Setting()
    setting.store.may_go_on.clear()
    setting.commit(1)
    assert setting.store.entered.wait(WAIT_SECONDS)
    for offset in (2, 3, 4):
        setting.commit(offset)
    setting.store.may_go_on.set()
    finished = setting.end()
    assert setting.store.commits == [{QUEUE: _entry(1)}, {QUEUE: _entry(4)}]
    assert [end.entries[0].position.offset for end in finished] == [1, 2, 3, 4]
    assert all(end.committed for end in finished)


def test_the_life_goes_with_the_position() -> None:
    """Of two lives of a topic the later one's position stands, lower as it is, and its identity."""
    setting = Setting()
    setting.store.may_go_on.clear()
    setting.commit(1, identity="one")
    assert setting.store.entered.wait(WAIT_SECONDS)
    setting.commit(9, identity="one")
    setting.commit(2, identity="two")
    setting.store.may_go_on.set()
    setting.end()
    assert setting.store.commits == [{QUEUE: _entry(1, "one")}, {QUEUE: _entry(2, "two")}]


def test_a_commit_that_is_too_late_is_not_done() -> None:
    """A commit whose time is over is not done: the successor may have committed by now."""
    setting = Setting()
    entries = setting.commit(1, within_ms=0)
    assert setting.end() == [CommitFinished(entries, committed=False)]
    assert setting.store.commits == []


def test_an_error_ends_its_own_commit_only() -> None:
    """The committer reports an error, which ends its own commit only."""
    setting = Setting()
    setting.store.error = OSError("no")
    entries = setting.commit(1)
    assert setting.finished.get(timeout=WAIT_SECONDS) == CommitFinished(entries, committed=False)
    setting.store.error = None
    setting.commit(2)
    assert [end.committed for end in setting.end()] == [True]
    assert isinstance(setting.errors[0], OffsetStoreError)
