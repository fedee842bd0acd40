"""A small history as a sound run would leave it, and the places where a test can forge it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from fairlead_proof.demo.judge import Requirements

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.outputs import Stage
from fairlead.verify.history import (
    ClientKilled,
    Closing,
    Consumed,
    EngineKilled,
    Held,
    History,
    Journal,
    JournalRecord,
    ProgressReport,
    Start,
    StepBegun,
    StepRecord,
    Stop,
)
from fairlead.wire.decision_records import DecisionRecord
from tests.kit.decisions import decision_of, move_of

HEARTBEATS = ("demo.heartbeats", 0)
MESSAGES = 20
QUEUES = 8
SMALL = Requirements(messages=QUEUES * MESSAGES)
MILLISECOND = 1_000_000


def queue(number: int) -> MessageQueue:
    """The queue of this number."""
    return MessageQueue("orders", "main", number)


BARE = (queue(0), "a", Epoch(1, 1))
"""The first grant of the sound history."""


@dataclass
class Recorder:
    """Plays clients and engine by hand, and writes down what they would have written down."""

    now_ns: int = 0
    generation: int = 1
    number: int = 0
    written: int = 0
    records: dict[str, list[JournalRecord]] = field(default_factory=dict)
    steps: list[StepRecord] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)
    reports: list[ProgressReport] = field(default_factory=list)
    owned: dict[MessageQueue, tuple[str, Epoch]] = field(default_factory=dict)
    frontier: dict[MessageQueue, int] = field(default_factory=dict)

    def tick(self) -> int:
        """A millisecond passes."""
        self.now_ns += MILLISECOND
        return self.now_ns

    def step(self, name: str) -> None:
        """A step of the script begins."""
        self.steps.append(StepBegun(name, self.tick()))

    def decide(self, number: int, stage: Stage, client_id: str, epoch: Epoch) -> None:
        """The engine decides about one queue, having read all progress written so far."""
        start = self.frontier.get(queue(number), 0)
        move = move_of(queue(number), stage, client_id, epoch, start)
        self.decisions.append(
            decision_of(
                Epoch(self.generation, self.number),
                [move],
                group="demo",
                members=(client_id,),
                read={HEARTBEATS: self.written},
            )
        )

    def start(self, client_id: str, *numbers: int) -> None:
        """The engine grants queues to a client, which starts where the last owner's word ends."""
        for number in numbers:
            self.number += 1
            epoch = Epoch(self.generation, self.number)
            self.decide(number, "granted", client_id, epoch)
            offset = self.frontier.setdefault(queue(number), 0)
            self.owned[queue(number)] = (client_id, epoch)
            self._write(client_id, Start(queue(number), epoch, offset, self.tick()))

    def read(self, number: int, count: int) -> None:
        """The owner processes the next messages."""
        client_id, _ = self.owned[queue(number)]
        for _ in range(count):
            offset = self.frontier[queue(number)]
            record = Consumed(queue(number), offset, offset + 1000, self.tick())
            self._write(client_id, record)
            self.frontier[queue(number)] = offset + 1

    def report(self, number: int) -> None:
        """The owner reports its progress."""
        client_id, epoch = self.owned[queue(number)]
        report = ProgressReport(
            HEARTBEATS, self.written, client_id, queue(number), epoch, self.frontier[queue(number)]
        )
        self.reports.append(report)
        self.written += 1

    def drop(self, number: int) -> None:
        """The engine takes the queue away; the owner has yet to answer."""
        client_id, epoch = self.owned[queue(number)]
        self.number += 1
        self.decide(number, "dropped", client_id, epoch)

    def stop(self, *numbers: int) -> None:
        """The owner stops."""
        for number in numbers:
            client_id, epoch = self.owned.pop(queue(number))
            offset = self.frontier[queue(number)]
            self._write(client_id, Stop(queue(number), epoch, offset, self.tick()))

    def move(self, client_id: str, *numbers: int) -> None:
        """A clean move: dropped, stopped, granted to another client."""
        for number in numbers:
            self.drop(number)
            self.stop(number)
            self.start(client_id, number)

    def kill(self, client_id: str, in_hand: int) -> None:
        """A client dies with a message in hand; its queues fall back to its progress."""
        held = Held(queue(in_hand), self.frontier[queue(in_hand)], self.tick())
        self._write(client_id, held)
        self.steps.append(ClientKilled(client_id, self.tick(), self.tick()))
        for owned in [q for q, (owner, _) in self.owned.items() if owner == client_id]:
            _, epoch = self.owned.pop(owned)
            known = [r.offset for r in self.reports if (r.queue, r.epoch) == (owned, epoch)]
            began = [r.offset for r in self.records[client_id] if isinstance(r, Start)]
            self.frontier[owned] = max(known, default=max(began))

    def kill_engine(self) -> None:
        """The engine dies; the next one has another generation."""
        self.steps.append(EngineKilled(self.generation, self.tick(), self.tick()))
        self.generation += 1
        self.number = 0

    def history(self) -> History:
        """All of it."""
        return History(
            journals=tuple(Journal(c, tuple(r)) for c, r in sorted(self.records.items())),
            steps=tuple(self.steps),
            source={queue(n): {o: o + 1000 for o in range(MESSAGES)} for n in range(QUEUES)},
            decisions=tuple(self.decisions),
            grants=frozenset(
                (move.queue, move.client_id, move.epoch)
                for decision in self.decisions
                for move in decision.moves
                if move.stage == "granted"
            ),
            progress=tuple(self.reports),
        )

    def _write(self, client_id: str, record: JournalRecord) -> None:
        self.records.setdefault(client_id, []).append(record)


def sound_history() -> History:
    """The whole script in small: two join, one leaves, one dies, queues appear, the engine dies."""
    run = Recorder()
    run.step("start")
    run.start("a", 0, 1, 2)
    run.start("b", 3, 4, 5)
    _read_everywhere(run, 3)
    run.step("join")
    run.move("c", 2, 5)
    _read_everywhere(run, 3)
    run.step("leave")
    run.move("b", 0)
    run.move("c", 1)
    run.report(3)
    run.report(4)
    _read_everywhere(run, 3)
    run.step("kill")
    run.kill("b", in_hand=4)
    run.start("c", 0, 3, 4)
    _read_everywhere(run, 3)
    run.step("grow")
    run.start("c", 6, 7)
    _read_everywhere(run, 3)
    run.step("engine_kill")
    run.drop(0)
    run.kill_engine()
    run.stop(0)
    run.start("d", 0)
    run.steps.append(Closing(run.tick()))
    for number in range(QUEUES):
        run.read(number, MESSAGES - run.frontier[queue(number)])
        run.stop(number)
    return run.history()


def _read_everywhere(run: Recorder, count: int) -> None:
    for owned in sorted(run.owned):
        run.read(owned.queue_id, count)


Edit = Callable[[JournalRecord], Sequence[JournalRecord]]


def with_journal(history: History, client_id: str, edit: Edit) -> History:
    """The history with each record of one journal replaced by what ``edit`` makes of it."""
    journals = [
        replace(journal, records=tuple(new for old in journal.records for new in edit(old)))
        if journal.client_id == client_id
        else journal
        for journal in history.journals
    ]
    return replace(history, journals=tuple(journals))


def without_moves(history: History, name: str) -> History:
    """The history with a step that begins only when the next one does: it moves nothing."""
    steps = list(history.steps)
    at = next(i for i, s in enumerate(steps) if isinstance(s, StepBegun) and s.name == name)
    following = next(s for s in steps[at + 1 :] if isinstance(s, StepBegun | Closing))
    steps[at] = StepBegun(name, following.t_ns)
    return replace(history, steps=tuple(steps))
