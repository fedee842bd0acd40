"""A client's session driven by a script: events in, actions out, one queue unless said."""

from collections.abc import Callable

import pytest
from fairlead_client.model import Epoch, Holder, Position, Process, Queue, Subscription
from fairlead_client.session import actions, events
from fairlead_client.session.memory import SessionSettings
from fairlead_client.session.records import Add, Assigned, Assignment, Drop, Notice, Release
from fairlead_client.session.session import Session

GROUP = "orders"
QUEUE = Queue("orders", "main", 1)


class Script:
    """One client, `me`, in generation 1; epoch n is (generation, n), position n is (0, n)."""

    def __init__(self, **settings: object) -> None:
        values: dict[str, object] = {
            "group": GROUP,
            "client_id": "me",
            "process": Process(1_000, "p-me"),
            "subscriptions": (Subscription("orders"),),
            **settings,
        }
        self.session = Session(SessionSettings(**values))  # type: ignore[arg-type]
        self.generation = 1
        self.incarnation = ""
        self.now = 0
        self.done: list[actions.Action] = []

    # Events.
    def feed(self, event: events.Event) -> list[actions.Action]:
        """Let something happen now."""
        done = self.session.handle(event, self.now)
        self.done += done
        return done

    def wait(self, milliseconds: int, step: int | None = None) -> list[actions.Action]:
        """Let time pass, in one piece or in steps."""
        done: list[actions.Action] = []
        for _ in range(milliseconds // (step or milliseconds)):
            self.now += step or milliseconds
            done += self.feed(events.TimePassed())
        return done

    def start(self, incarnation: str = "me-1") -> list[actions.Action]:
        """Begin an incarnation, without a lease yet."""
        self.incarnation = incarnation
        return self.feed(events.Started(incarnation, self.generation))

    def run(self, incarnation: str = "me-1") -> list[actions.Action]:
        """Begin an incarnation and have its first heartbeat acknowledged."""
        done = self.start(incarnation)
        return done + self.acknowledge_heartbeat()

    def acknowledge_heartbeat(self, sent_at: int | None = None) -> list[actions.Action]:
        """Have a heartbeat acknowledged that was sent then, now if not said."""
        at_ms = self.now if sent_at is None else sent_at
        return self.feed(events.HeartbeatAppended(self.incarnation, 1, at_ms))

    def live(self, milliseconds: int) -> list[actions.Action]:
        """Let time pass with assignments read to the end and heartbeats acknowledged at once."""
        done: list[actions.Action] = []
        for _ in range(milliseconds // 100):
            self.now += 100
            self.feed(events.AssignmentsReadToEnd(self.now))
            passed = self.feed(events.TimePassed())
            done += passed
            if any(isinstance(action, actions.SendHeartbeat) for action in passed):
                done += self.acknowledge_heartbeat()
        return done

    def assign(self, number: int, **fields: object) -> list[actions.Action]:
        """Read an assignment record to this client, of epoch (generation, number)."""
        values: dict[str, object] = {
            "group": GROUP,
            "client_id": "me",
            "incarnation": self.incarnation,
            "generation": self.generation,
            "epoch": self.epoch(number),
            **fields,
        }
        return self.feed(events.AssignmentRead(Assignment(**values)))  # type: ignore[arg-type]

    def add(
        self, number: int, base: int | Position = 0, after: tuple[Holder, ...] = ()
    ) -> list[actions.Action]:
        """Read an add of the queue, in a record whose whole set names what the client holds."""
        return self.assign(
            number, add=(self.an_add(number, base, after),), assigned=self.held(number)
        )

    def drop(
        self,
        number: int,
        record: int | None = None,
        successor: str | None = None,
        linger_ms: int = 0,
    ) -> list[actions.Action]:
        """Read the drop of an epoch of the queue."""
        drop = Drop(QUEUE, self.epoch(number), successor, linger_ms)
        return self.assign(record or number, drop=(drop,), assigned=self.held(number))

    def released(self, holder: Holder, offset: int | Position | None) -> list[actions.Action]:
        """Read a release of somebody."""
        return self.feed(events.ReleaseRead(Release(GROUP, QUEUE, holder, self.position(offset))))

    def stopped(self, number: int, offset: int | None = None) -> list[actions.Action]:
        """The application stopped working, and what was to be committed is."""
        done = self.feed(events.WorkStopped(QUEUE, self.epoch(number), offset))
        return done + self.commit(done)

    def commit(self, done: list[actions.Action]) -> list[actions.Action]:
        """Have every commit among these actions succeed."""
        more: list[actions.Action] = []
        for action in done:
            if isinstance(action, actions.CommitProgress):
                more += self.feed(events.CommitFinished(action.entries, committed=True))
        return more

    def acknowledge_release(self) -> list[actions.Action]:
        """Have the newest release written."""
        sent = [action for action in self.done if isinstance(action, actions.SendRelease)][-1]
        return self.feed(
            events.ReleaseAppended(sent.incarnation, sent.queue, sent.epoch, sent.position)
        )

    def notice(
        self,
        code: str,
        winner: tuple[int, str] | None = None,
        *,
        reason: str | None = None,
        message: str = "a message",
    ) -> list[actions.Action]:
        """Read a notice to this incarnation."""
        about = self.incarnation, self.generation, code, message
        record = Notice(GROUP, "me", *about, winner, reason)
        return self.feed(events.NoticeRead(record))

    # Values.
    def epoch(self, number: int) -> Epoch:
        """Epoch of this number in the script's generation."""
        return Epoch(self.generation, number)

    def position(self, offset: int | Position | None) -> Position | None:
        """Offset as a position that follows no reset."""
        return Position(0, offset) if isinstance(offset, int) else offset

    def holder(self, client_id: str, number: int) -> Holder:
        """Somebody's first incarnation, under an epoch."""
        return Holder(client_id, f"{client_id}-1", self.epoch(number))

    def an_add(self, number: int, base: int | Position = 0, after: tuple[Holder, ...] = ()) -> Add:
        """Return an add of the queue."""
        position = self.position(base)
        assert position is not None
        return Add(QUEUE, self.epoch(number), position, after)

    def held(self, *numbers: int) -> tuple[Assigned, ...]:
        """Entries of a whole set: what the client works on and these, so that nothing is absent."""
        memory = self.session.queue_memory(QUEUE)
        known = {self.epoch(number) for number in numbers}
        if memory is not None and memory.works:
            known.add(memory.started)
        if memory is not None and memory.gate is not None:
            known.add(memory.gate.epoch)
        return tuple(Assigned(QUEUE, epoch, "held") for epoch in sorted(known))

    # What was done.
    @property
    def starts(self) -> list[tuple[int, int]]:
        """(epoch number, offset) of each start so far."""
        return [
            (action.epoch.number, action.position.offset)
            for action in self.done
            if isinstance(action, actions.StartWork)
        ]

    @property
    def stops(self) -> list[int]:
        """Epoch number of each stop asked for so far."""
        return [a.epoch.number for a in self.done if isinstance(a, actions.StopWork)]

    @property
    def releases(self) -> list[tuple[int, int | None]]:
        """(epoch number, offset or None) of each release written so far."""
        return [
            (a.epoch.number, None if a.position is None else a.position.offset)
            for a in self.done
            if isinstance(a, actions.SendRelease)
        ]


@pytest.fixture
def scripts() -> Callable[..., Script]:
    """Make a script with settings of its own, not started."""
    return Script


@pytest.fixture
def script() -> Script:
    """Return a client with a lease, owning nothing."""
    made = Script()
    made.run()
    return made
