"""A consumer of ours: how it handles adds, drops and releases, by the protocol.

It follows `docs/protocol.md` §4.3 within one incarnation: a gated add starts when everybody in its
list has released; a drop stops the queue after the messages in hand, and releases it at the offset
behind them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue, Position, Process
from fairlead.core.outputs import Add, After, Assignment, Drop
from fairlead.core.publishing.digest import digest
from fairlead.core.records import GroupRecord, QueueProgress, Release
from fairlead_proof.pitfalls.ledger import Ledger
from fairlead_proof.pitfalls.scene import Scene
from fairlead_proof.pitfalls.tenure import WORK_MS, Tenure, end_of

__all__ = ["GROUP", "Consumer", "ConsumerEnvironment"]

GROUP = "orders"


class ConsumerEnvironment(Protocol):
    """The environment of a consumer."""

    ledger: Ledger
    scene: Scene
    releases: dict[After, dict[MessageQueue, Position | None]]

    @property
    def now_ms(self) -> int:
        """The present."""

    def send(self, topic: str, record: GroupRecord) -> None:
        """Append a record to the engine's topics, and releases to everybody's."""

    def later(self, wait_ms: int, process: str, what: Callable[[], None]) -> None:
        """Let a process do something after so long, or when it stands still no longer."""


@dataclass(slots=True)
class _Running:
    epoch: Epoch
    tenure: Tenure
    word: str = "held"


@dataclass(slots=True)
class Consumer:
    """One incarnation of one process.

    Attributes:
        current: the queues that it works on.
        gates: the newest add of each queue that it has not started.
        top: per queue, the highest epoch that it started or dropped.
        started: per queue, the highest epoch that it started.
    """

    process: str
    key: MemberKey
    born: Process
    topics: list[str]
    environment: ConsumerEnvironment
    current: dict[MessageQueue, _Running] = field(default_factory=dict)
    gates: dict[MessageQueue, Add] = field(default_factory=dict)
    top: dict[MessageQueue, Epoch] = field(default_factory=dict)
    started: dict[MessageQueue, Epoch] = field(default_factory=dict)
    sequence: int = 0
    seen_ms: int = 0
    leaving: bool = False
    alive: bool = True

    @property
    def last_started(self) -> Epoch:
        """The highest epoch under which it started anything."""
        return max(self.started.values(), default=NOTHING)

    @property
    def digest(self) -> int:
        """The digest of what it holds."""
        entries = [(queue, one.epoch, one.word) for queue, one in self.current.items()]
        entries += [(queue, gate.epoch, "gated") for queue, gate in self.gates.items()]
        return digest(entries)

    @property
    def progress(self) -> tuple[QueueProgress, ...]:
        """How far it has come on each queue."""
        now_ms = self.environment.now_ms
        return tuple(
            QueueProgress(
                queue, one.epoch, Position(0, one.tenure.processed(now_ms)), end_of(now_ms)
            )
            for queue, one in sorted(self.current.items())
        )

    def obey(self, assignment: Assignment) -> None:
        """Carry out an assignment, drops first."""
        for drop in assignment.drop:
            self._drop(drop)
        for add in assignment.add:
            self._add(add)

    def _add(self, add: Add) -> None:
        queue, gate = add.queue, self.gates.get(add.queue)
        if add.epoch <= self.top.get(queue, NOTHING):
            return
        if self.leaving:
            self.top[queue] = add.epoch
            self._say_release(queue, add.epoch, None)
            return
        if gate is not None and add.epoch < gate.epoch:
            return
        if gate is not None and add.epoch == gate.epoch:
            after = tuple(each for each in gate.after if each in add.after)
            position = max(gate.position, add.position)
            add = Add(queue, add.epoch, position, add.why, after, add.identity)
        self.gates[queue] = add
        self.start_if_released(queue)

    def start_if_released(self, queue: MessageQueue) -> None:
        """Start a queue if everybody before has released it."""
        gate = self.gates.get(queue)
        if gate is None or queue in self.current or not self.alive:
            return
        position = gate.position
        for after in gate.after:
            released = self.environment.releases.get(after, {})
            if queue not in released:
                return
            reached = released[queue]
            if reached is not None:
                position = max(position, reached)
                break
        self._start(gate, position)

    def _start(self, gate: Add, position: Position) -> None:
        queue, now_ms = gate.queue, self.environment.now_ms
        del self.gates[queue]
        self.started[queue] = self.top[queue] = gate.epoch
        ledger, name = self.environment.ledger, self.environment.scene.name_of(queue)
        tenure = ledger.begin(queue, self.process, position.offset, now_ms, now_ms)
        self.current[queue] = _Running(gate.epoch, tenure)
        epoch = f"{gate.epoch.generation}.{gate.epoch.number}"
        ledger.add_line(now_ms, f"{self.process} starts {name} at {position.offset}, epoch {epoch}")

    def _drop(self, drop: Drop) -> None:
        queue, running = drop.queue, self.current.get(drop.queue)
        if running is not None and running.epoch == drop.epoch:
            if running.word == "held":
                running.word = "draining"
                self.environment.later(drop.linger_ms, self.process, partial(self.drain, queue))
            return
        if drop.epoch <= self.started.get(queue, NOTHING):
            return
        self.top[queue] = max(self.top.get(queue, NOTHING), drop.epoch)
        gate = self.gates.get(queue)
        if gate is not None and gate.epoch <= drop.epoch:
            del self.gates[queue]
        self._say_release(queue, drop.epoch, None)

    def drain(self, queue: MessageQueue) -> None:
        """Begin with no further message of a queue; release it when those in hand are done."""
        running = self.current.get(queue)
        if running is None or not self.alive or running.tenure.stop_ms is not None:
            return
        running.tenure.stop_ms = self.environment.now_ms
        self.environment.later(WORK_MS, self.process, partial(self.release, queue))

    def release(self, queue: MessageQueue) -> None:
        """Stop the work on a queue, and release it with its offset."""
        if queue not in self.current or not self.alive:
            return
        now_ms, running = self.environment.now_ms, self.current.pop(queue)
        self.environment.ledger.close(running.tenure, now_ms)
        offset = running.tenure.begun(now_ms)
        name = self.environment.scene.name_of(queue)
        self.environment.ledger.add_line(now_ms, f"{self.process} stops {name} at {offset}")
        self._say_release(queue, running.epoch, Position(0, offset))
        self.start_if_released(queue)

    def _say_release(self, queue: MessageQueue, epoch: Epoch, position: Position | None) -> None:
        last = self.last_started if self.leaving else None
        self.environment.send("releases", Release(GROUP, self.key, queue, epoch, position, last))

    def leave(self) -> None:
        """Start nothing more, and release everything after the messages in hand."""
        self.leaving = True
        gates, self.gates = self.gates, {}
        for queue, gate in sorted(gates.items()):
            self._say_release(queue, gate.epoch, None)
        for queue in sorted(self.current):
            self.drain(queue)

    def stop(self) -> None:
        """Stop at once and forget everything: the process died, or its lease has ended."""
        for running in self.current.values():
            if running.tenure.end_ms is None:
                self.environment.ledger.close(running.tenure, self.environment.now_ms)
        self.current, self.gates, self.alive = {}, {}, False

    def stand_still(self) -> None:
        """Freeze: nothing runs from now on."""
        for running in self.current.values():
            self.environment.ledger.close(running.tenure, self.environment.now_ms)

    def go_on(self) -> None:
        """Go on within the lease."""
        now_ms = self.environment.now_ms
        for queue, running in self.current.items():
            offset = running.tenure.begun(now_ms)
            ledger = self.environment.ledger
            running.tenure = ledger.begin(queue, self.process, offset, now_ms, now_ms)
            if running.word == "draining":
                running.tenure.stop_ms = now_ms
