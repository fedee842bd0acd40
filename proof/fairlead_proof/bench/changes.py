"""One join or leave, and where its time went.

A change runs from its event to the moment when the last queue that it moved stands at its position
at its final owner. The way of that last queue is cut where the log says when something was written:

    event │ cause appended │ drop and add decided │ release appended │ at its position
          client           engine                 client             client

The successor reads the release itself. Where it was granted only after it (its queue had passed
through a third hand, say), the release is followed by a second decision, the engine's again.

Of what the engine had, a batch is the job's own figure and the rest is waiting for it. Events and
positions are on CLOCK_MONOTONIC, the log is on the wall clock of the same host; the difference of
the two is taken once per change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fairlead.core.model import Epoch, MessageQueue
from fairlead.wire.decision_records import DecisionRecord

Kind = Literal["join", "leave"]


@dataclass(frozen=True, slots=True)
class Change:
    """One event as it was seen.

    Attributes:
        kind: what happened.
        client_id: to whom.
        begun_ns: when the client got its command, monotonic.
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
    last_queue: MessageQueue
    last_epoch: Epoch
    decisions: tuple[DecisionRecord, ...]

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
    releases: Mapping[MessageQueue, Sequence[int]] = field(default_factory=dict)
    decisions: Mapping[Epoch, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Phases:
    """Where the time of one change went, in milliseconds; all but `decisions` add up to its total.

    Attributes:
        waiting: records lay appended and waited for a batch to take them.
        batch: batches that decided, as long as the job says that a batch takes.
        asking: clients, from the event to the record that told the engine.
        releasing: clients, from a decided drop to the release appended.
        taking: clients, from the release to the queue at its position, or from the decided grant
            where that came later.
        decisions: how many decisions were on the way of the last queue.
    """

    waiting: float
    batch: float
    asking: float
    releasing: float
    taking: float
    decisions: int

    @property
    def client(self) -> float:
        """All that was the clients': asking, releasing and taking."""
        return self.asking + self.releasing + self.taking


def cut(change: Change, log: LogTimes, batch_ms: float) -> Phases:
    """Cut a change into its phases.

    Args:
        change: the change.
        log: when records were appended.
        batch_ms: how long a batch takes until its decisions are written, by the job's progress.
    """
    total = change.total_ms
    spans = _in_order(engine_spans(change, log), total)
    engine = [ended - begun for begun, ended in spans]
    batch = sum(min(time, batch_ms) for time in engine)
    asking = spans[0][0] if spans else total
    taking = total - max(spans[-1][1], _opened(change, log)) if spans else 0.0
    releasing = total - asking - taking - sum(engine)
    return Phases(
        batch=batch,
        waiting=sum(engine) - batch,
        asking=asking,
        releasing=releasing,
        taking=taking,
        decisions=len(spans),
    )


def _opened(change: Change, log: LogTimes) -> float:
    """When the release of the last queue was appended that its final owner waited for, if it did.

    In milliseconds after the event; 0: its add had no gate.
    """
    dropped, granted = _on_the_way(change)
    if dropped is None or granted is not dropped:
        return 0.0
    adopted = change.begun_wall_ms + change.total_ms
    releases = log.releases.get(change.last_queue, ())
    appended = [time for time in releases if change.begun_wall_ms < time <= adopted]
    return max(appended, default=change.begun_wall_ms) - change.begun_wall_ms


def _in_order(spans: Sequence[tuple[float, float]], total: float) -> list[tuple[float, float]]:
    """Cut spans so that none begins before the last has ended, or ends after the whole.

    A decision's own record is appended after the assignments it goes with, so a quick client may
    have answered by then; and the two clocks agree to a millisecond or so.
    """
    cut_spans: list[tuple[float, float]] = []
    reached = 0.0
    for begun, ended in spans:
        begins = min(max(begun, reached), total)
        reached = min(max(ended, begins), total)
        cut_spans.append((begins, reached))
    return cut_spans


def engine_spans(change: Change, log: LogTimes) -> list[tuple[float, float]]:
    """The engine's spans on the way of the last queue, in ms after the event.

    Each runs from the record that a decision waited for to the decision's own append. One decision
    drops a queue and adds it to its successor, or grants a queue that somebody had left; a queue
    that the successor gets only after the release passes two.
    """
    dropped, granted = _on_the_way(change)
    spans: list[tuple[float, float]] = []
    if dropped is not None:
        causes = [log.inputs[at] for at in dropped.places() if at in log.inputs]
        spans.append(_span(causes, dropped, change, log))
    if granted is not None and granted is not dropped:
        releases = log.releases.get(change.last_queue, ())
        spans.append(_span(releases, granted, change, log))
    return spans


def _on_the_way(change: Change) -> tuple[DecisionRecord | None, DecisionRecord | None]:
    """The decision that dropped the last queue, and the first one that named its final grant."""
    dropped = granted = None
    for decision in change.decisions:
        for move in decision.moves:
            if move.queue != change.last_queue:
                continue
            if move.stage == "dropped":
                dropped = decision
            elif move.epoch == change.last_epoch and granted is None:
                granted = decision
    return dropped, granted


def _span(
    appended: Sequence[int], decision: DecisionRecord, change: Change, log: LogTimes
) -> tuple[float, float]:
    """From the newest of these records before the decision to the decision, after the event."""
    written = log.decisions[decision.epoch]
    before = [time for time in appended if time <= written]
    began = max([change.begun_wall_ms, *before])
    return began - change.begun_wall_ms, max(began, written) - change.begun_wall_ms
