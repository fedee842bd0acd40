"""One group's life told step by step: the real core, the real sessions, nobody in a hurry.

A test says who reads what and when, and each client's work is looked at after every word: two
owners, a hole, or a message read twice although nobody died end the test. The engine and the
clients share the log alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead_client import model as words

from fairlead.core import records
from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import MessageQueue, Position
from fairlead.core.outputs import Assignment, Decision, Notice
from strategies.registry import STRATEGIES
from tests.handover.story_client import Client
from tests.kit.group_world import GROUP, GroupWorld, queue_of

__all__ = ["BrokenError", "Client", "Pointed", "Story"]

STEP_MS = 500


class BrokenError(AssertionError):
    """The protocol was broken: two owners, a hole, or a repetition without a reason."""


class Pointed:
    """Gives each queue to whom its options say, by queue id; to the first client otherwise."""

    name = "POINTED"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Do as the options say."""
        owned: dict[str, dict[str, tuple[MessageQueue, ...]]] = {}
        names = [candidate.client_id for candidate in request.candidates]
        for topic, queues in request.queues.items():
            shares: dict[str, tuple[MessageQueue, ...]] = dict.fromkeys(names, ())
            for queue in queues:
                owner = request.options.get(str(queue.queue_id))
                owner = owner if owner in shares else names[0]
                shares[owner] = (*shares[owner], queue)
            owned[topic] = shares
        return Allocation(owned)


@dataclass(slots=True)
class Story:
    """The log, the engine and the clients.

    ``deaths``: somebody died, so messages may be read twice. ``unsafe``: the group gave up single
    ownership, so it is not looked at.
    """

    queues: int = 1
    cap: int | None = None
    life: str = "one"
    """Which life of its topic there is: the identity that its route tells."""
    world: GroupWorld = field(init=False)
    told: list[Assignment | Notice] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    released: list[records.Release] = field(default_factory=list)
    clients: dict[str, Client] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)
    resets: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Queue -> the newest reset that somebody started from, and the offset."""
    committed: dict[int, words.Progress] = field(default_factory=dict)
    targets: dict[int, str] = field(default_factory=dict)
    deaths: bool = False
    unsafe: bool = False

    def __post_init__(self) -> None:
        """Begin with the topic's route and bounds in the log, and nobody there."""
        self.world = GroupWorld(strategies={**STRATEGIES, Pointed.name: Pointed()})
        if self.cap is not None:
            self.world.chain_cap = self.cap
        self.points({})
        self.engine()

    @property
    def now_ms(self) -> int:
        """The time of everybody: nobody's clock drifts in a story."""
        return self.world.clock_ms

    @property
    def generation(self) -> int:
        """The newest generation in the log."""
        return self.world.generation

    # The engine.
    def engine(self, unread: str = "") -> None:
        """The engine reads everything, but for a topic, and decides; a bridge answers it."""
        for _ in range(2):
            self.world.run(unread)
            for output in self.world.outputs:
                if isinstance(output, Assignment | Notice):
                    self.told.append(output)
                elif isinstance(output, Decision):
                    self.decisions.append(output)
            if self.world.state is None or self.world.state.requests == {}:
                return
            self.world.route(self.queues, identity=self.life)
            known = tuple(
                records.QueueOffsets(queue_of(number), 0, 1_000, self._committed(number), None)
                for number in range(self.queues)
            )
            self.world.add("offsets", records.OffsetsKnown(GROUP, "orders", self.life, known))

    def _committed(self, number: int) -> Position | None:
        """Return what a bridge says was committed in the present life of the topic."""
        entry = self.committed.get(number)
        if entry is None or entry.identity not in (None, self.life):
            return None
        return Position(*entry.position)

    def points(self, owners: Mapping[int, str]) -> None:
        """An operator says who shall own which queue; the others stay where they were pointed."""
        self.targets.update(owners)
        options = {str(queue): owner for queue, owner in self.targets.items()}
        self.world.rule("strategy", {"name": Pointed.name, "options": options})

    def moves(self, queue: int, to: str) -> None:
        """The target of a queue becomes a client, and the engine decides."""
        self.points({queue: to})
        self.engine()

    def resets_to(self, offset: int, queue: int = 0, life: str | None = None) -> int:
        """An operator resets a queue; return the reset, which is the record's offset + 1."""
        self.world.reset(queue, offset, life)
        return self.world.offsets["control"]

    def made_anew(self, life: str) -> None:
        """The topic is deleted, with what was committed of it, and made again under its name."""
        self.life = life
        self.done, self.resets, self.committed = {}, {}, {}
        self.world.route(self.queues, identity=life)

    def another_engine(self) -> "Story":
        """Return a second engine, which has the state of this one and writes beside it.

        It is a story of its own that nobody lives in: its words go to the clients of this
        one when they read it.
        """
        other = Story(self.queues)
        other.world.state = self.world.state
        other.world.clock_ms = self.world.clock_ms
        other.world.generation, other.world.marker = self.generation, self.world.marker
        other.told = self.told
        return other

    # The clients.
    def joins(self, name: str, **settings: object) -> Client:
        """A process starts, and the engine hears of it."""
        process = words.Process(1_000 + len(self.clients), f"process-{name}")
        given = {"process": process, **settings}
        client = Client(self, name, **given)  # type: ignore[arg-type]  # fields of Client
        self.clients[name if name not in self.clients else f"{name}'"] = client
        return client

    def time(self, milliseconds: int, *, engine: bool = True) -> None:
        """Time passes for everybody; who lives heartbeats, having read its assignments.

        The engine reads on, unless it is not there.
        """
        end_ms = self.now_ms + milliseconds
        while self.now_ms < end_ms:
            self.world.pass_time(min(STEP_MS, end_ms - self.now_ms))
            for client in list(self.clients.values()):
                client.passes()
            if engine:
                self.engine()

    def look(self) -> None:
        """Raise if two processes would work on one queue."""
        owners: dict[int, str] = {}
        for name, client in self.clients.items():
            for queue in client.may_work():
                if queue in owners and not self.unsafe:
                    raise BrokenError(f"DOUBLE: {queue} by {owners[queue]} and {name}")
                owners[queue] = name

    def look_at_start(self, queue: int, reset: int, offset: int) -> None:
        """Raise if a start skips messages, or repeats some although nobody died."""
        newest = self.resets.get(queue, (0, 0))
        if reset > newest[0]:
            self.resets[queue] = (reset, offset)
            self.done[queue] = offset
            return
        if reset < newest[0]:
            raise BrokenError(f"RESETLOST: {queue} starts under {reset} after {newest}")
        done = self.done.get(queue, 0)
        if offset > done:
            raise BrokenError(f"HOLE: {queue} starts at {offset}, done is {done}")
        if offset < done and not (self.deaths or self.unsafe):
            raise BrokenError(f"DUP: {queue} starts at {offset}, done is {done}")

    def restarts(self, *, marked: bool = True) -> None:
        """Another driver starts."""
        self.world.driver(self.generation + 1, marked=marked)

    def owner(self, queue: int = 0) -> str | None:
        """Return who works on a queue."""
        return next(
            (name for name, client in self.clients.items() if queue in client.may_work()), None
        )
