"""A thin client's script: events in, and what the session did with them."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.thin import thin_session as words
from fairlead_client.thin.thin_words import Joined, Poll, PollAnswer, Start, Stop

LEASE_MS = 9_000
POLL_MS = 3_000


@dataclass(slots=True)
class ThinScript:
    """A session with a clock that only the test moves."""

    session: words.ThinSession = field(default_factory=words.ThinSession)
    now_ms: int = 1_000
    done: list[words.Action] = field(default_factory=list)

    # Events.
    def wait(self, wait_ms: int = 0) -> list[words.Action]:
        """Let time pass."""
        self.now_ms += wait_ms
        return self._did(self.session.passed(self.now_ms))

    def joined(self, number: int | None = None, lease_ms: int = LEASE_MS) -> list[words.Action]:
        """Answer a join, by default the newest."""
        answer = Joined("s", "t0", "me", lease_ms, POLL_MS)
        return self._did(self.session.joined(number or self.session.joins, answer, self.now_ms))

    def run(self, *numbers: int) -> None:
        """Join and start these queues, from offset 100 on."""
        self.wait()
        self.joined()
        if numbers:
            self.answered(start=numbers)

    def answered(
        self,
        sequence: int | None = None,
        *,
        start: tuple[int, ...] = (),
        stop: tuple[int, ...] = (),
        working: tuple[int, ...] | None = None,
        lease_ms: int = LEASE_MS,
        deadline_ms: int = 30_000,
    ) -> list[words.Action]:
        """Answer a poll, by default the newest, with these queues; by default it works on."""
        polled = self.poll()
        held = {work.queue.queue_id for work in polled.working} | set(start)
        answer = PollAnswer(
            f"t{polled.sequence}",
            lease_ms,
            tuple(Start(queue(number), epoch(number), 100) for number in start),
            tuple(Stop(queue(number), epoch(number), deadline_ms) for number in stop),
            tuple((queue(n), epoch(n)) for n in (sorted(held) if working is None else working)),
        )
        asked = polled.sequence if sequence is None else sequence
        return self._did(self.session.answered(asked, answer, self.now_ms))

    def failed(self, sequence: int) -> list[words.Action]:
        """Let a request fail."""
        return self._did(self.session.failed(sequence, self.now_ms))

    def lost(self, reason: str = "lease_ended", sequence: int | None = None) -> list[words.Action]:
        """Let the gateway say that the session is over."""
        asked = self.poll().sequence if sequence is None else sequence
        return self._did(self.session.lost(asked, reason, self.now_ms))

    def left(self) -> list[words.Action]:
        """Let the gateway end the session."""
        return self._did(self.session.left(self.now_ms))

    def progressed(self, number: int, offset: int, end: int | None = None) -> list[words.Action]:
        """Let the application report a queue's progress."""
        of = queue(number), epoch(number)
        return self._did(self.session.progressed(*of, offset, end, self.now_ms))

    def stopped(self, number: int, offset: int | None = None) -> list[words.Action]:
        """Let the application report that it stopped a queue."""
        of = queue(number), epoch(number)
        return self._did(self.session.stopped(*of, offset, None, self.now_ms))

    def subscribe(self, *topics: str) -> list[words.Action]:
        """Read other topics."""
        wanted = tuple(Subscription(topic) for topic in topics)
        return self._did(self.session.subscribe(wanted, self.now_ms))

    def leave(self) -> list[words.Action]:
        """Close the client."""
        return self._did(self.session.leave(self.now_ms))

    def _did(self, actions: list[words.Action]) -> list[words.Action]:
        self.done += actions
        return actions

    # What was done.
    @property
    def polls(self) -> list[Poll]:
        """Every poll so far, last words included."""
        kinds = words.SendPoll, words.SendLeave
        return [action.poll for action in self.done if isinstance(action, kinds)]

    def poll(self) -> Poll:
        """Return the newest poll."""
        return self.polls[-1]

    def state(self) -> words.ThinState:
        """Return what the session waits for."""
        return self.session.state

    @property
    def joins(self) -> list[int]:
        """The numbers of all joins so far."""
        return [action.number for action in self.done if isinstance(action, words.SendJoin)]

    def works(self, number: int) -> bool:
        """Whether the client may work on the queue now."""
        return self.session.works(queue(number), self.now_ms) == epoch(number)

    def only(self, kind: type[Any]) -> list[Any]:
        """Return the actions of one kind so far."""
        return [action for action in self.done if isinstance(action, kind)]


def queue(number: int) -> Queue:
    """Return a queue by its number."""
    return Queue("orders", "main", number)


def epoch(number: int) -> Epoch:
    """Return the epoch under which it is worked on."""
    return Epoch(1, 10 + number)


@pytest.fixture
def thin() -> ThinScript:
    """Return a client that has not begun."""
    return ThinScript()


@pytest.fixture
def running() -> ThinScript:
    """Return a client that works on queue 0 from offset 100 on, and polls."""
    made = ThinScript()
    made.run(0)
    return made
