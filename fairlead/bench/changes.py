"""One join or leave, and where its time went.

A change runs from its event to the moment when the last queue that it moved stands at its position
at its final owner. The way of that last queue is cut where the log says when something was written:

    event │ cause appended │ drop decided │ release appended │ grant decided │ at its position
          client           engine         client             engine          client

Of what the engine had, a batch is the job's own figure and the rest is waiting for it. Events and
positions are on CLOCK_MONOTONIC, the log is on the wall clock of the same host; the difference of
the two is taken once per change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fairlead.local.decisions import Decision, Epoch, Queue

Kind = Literal["join", "leave"]


@dataclass(frozen=True, slots=True)
class Change:
    """One event as it was seen.

    Attributes:
        kind: what happened.
        client_id: to whom.
        begun_ns: when the client was told, monotonic.
        adopted_ns: when the last queue stood at its position, monotonic.
        wall_ahead_ns: wall clock minus monotonic clock.
        queues: how many queues were adopted.
        last_queue: the queue that was adopted last.
        last_epoch: the epoch under which it was.
        decisions: those that came between the event and the adoption, in order.
    """

    kind: Kind
    client_id: str
    begun_ns: int
    adopted_ns: int
    wall_ahead_ns: int
    queues: int
    last_queue: Queue
    last_epoch: Epoch
    decisions: tuple[Decision, ...]

    @property
    def total_ms(self) -> float:
        """From the event to the last adoption."""
        return (self.adopted_ns - self.begun_ns) / 1e6

    @property
    def begun_wall_ms(self) -> float:
        """The event on the log's clock."""
        return (self.begun_ns + self.wall_ahead_ns) / 1e6


@dataclass(frozen=True, slots=True)
class LogTimes:
    """When records were appended, in milliseconds of the wall clock.

    Attributes:
        inputs: per (topic, partition, offset) of heartbeats and releases.
        releases: per queue, in order of time.
        decisions: per epoch of the decision.
    """

    inputs: Mapping[tuple[str, int, int], int] = field(default_factory=dict)
    releases: Mapping[Queue, Sequence[int]] = field(default_factory=dict)
    decisions: Mapping[Epoch, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Phases:
    """Where the time of one change went, in milliseconds; the three add up to its total.

    Attributes:
        waiting: records lay appended and waited for a batch to take them.
        batch: batches that decided, as long as the job says that a batch takes.
        client: everything else: heartbeat out, assignment in, stop, release out, position.
        decisions: how many decisions were on the way of the last queue.
    """

    waiting: float
    batch: float
    client: float
    decisions: int


def cut(change: Change, log: LogTimes, batch_ms: float) -> Phases:
    """Cut a change into its phases.

    Args:
        change: the change.
        log: when records were appended.
        batch_ms: how long a batch takes until its decisions are written, by the job's progress.
    """
    engine = engine_times(change, log)
    batch = sum(min(time, batch_ms) for time in engine)
    waiting = sum(engine) - batch
    return Phases(waiting, batch, max(0.0, change.total_ms - batch - waiting), len(engine))


def engine_times(change: Change, log: LogTimes) -> list[float]:
    """Per decision on the way of the last queue, from what it waited for to its own append, in ms.

    A queue that was taken from a member passes two decisions, one that somebody had left passes
    one, and so does one whose successor was given the gate in the same decision as the drop.
    """
    dropped = granted = None
    for decision in change.decisions:
        for move in decision.moves:
            if move.queue != change.last_queue:
                continue
            if move.stage == "dropped":
                dropped = decision
            elif move.epoch == change.last_epoch and granted is None:
                granted = decision
    times: list[float] = []
    if dropped is not None:
        causes = [log.inputs[at] for at in dropped.causes if at in log.inputs]
        times.append(_since(causes, dropped, change, log))
    if granted is not None and granted is not dropped:
        releases = log.releases.get(change.last_queue, ())
        times.append(_since(releases, granted, change, log))
    return times


def _since(appended: Sequence[int], decision: Decision, change: Change, log: LogTimes) -> float:
    """From the newest of these records before the decision to the decision, within the change."""
    written = log.decisions[decision.epoch]
    before = [time for time in appended if time <= written]
    return max(0.0, written - max([change.begun_wall_ms, *before]))
