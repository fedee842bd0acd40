"""Who worked on which queue from when to when: the journals, read as intervals.

A STOP closes an interval. Without one, the client's death closes it, if the fault log says that the
client was killed: no process survives SIGKILL, so its work is over when the kernel reports the
death. The interval ends then and not at the last record: a client owns its queues between two
messages too, and a start before the certain death is too early. An interval without a stop and
without a death stays open for ever, the strictest reading: nothing proves that the work stopped.

A frozen process did nothing meanwhile. If its grant lapsed, by the topics, and its journal has
nothing after the freeze began, its work ended at that moment. But if it was awake again for longer
than it had been frozen, before it stopped, it owned the queue meanwhile: another cause ended that
lease.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.history import (
    NEVER_ISSUED,
    ClientFrozen,
    ClientKilled,
    Committed,
    Consumed,
    Failed,
    GrantKey,
    Held,
    Journal,
    JournalRecord,
    Passed,
    Start,
    StepRecord,
    Stop,
)
from fairlead.verify.processes import ProcessRun, processes_of

Ending = Literal["stopped", "lapsed", "killed", "open", "unowned"]


@dataclass(slots=True)
class Tenure:
    """One client's work on one queue under one epoch.

    Attributes:
        begin_ns: when it started.
        end_ns: when it was certainly over; None if unknown.
        ending: how it ended. ``lapsed``: its client stopped at the end of its lease, and the engine
            took the queue back without a release. ``unowned``: the judge invented the tenure for
            work without a start.
        start_offset: where it began to read.
        stop_offset: the next offset to read, by its STOP; None unless it stopped.
        consumed: its messages in order.
        undone: messages of a batch that failed later: they count as not processed.
        failed: offsets that were not processed, and come again.
        batches: the uncommitted batches in hand: first offset → how many.
        passed: skipped offsets: nothing wanted stands there, or the client sent the message back.
        held: the offset in hand when it ended; None if none.
        worked_ns: when it wrote its last line before the STOP.
    """

    queue: MessageQueue
    client_id: str
    epoch: Epoch
    begin_ns: int
    start_offset: int
    end_ns: int | None = None
    ending: Ending = "open"
    stop_offset: int | None = None
    consumed: list[Consumed] = field(default_factory=list)
    undone: list[Consumed] = field(default_factory=list)
    failed: set[int] = field(default_factory=set)
    batches: dict[int, int] = field(default_factory=dict)
    passed: list[range] = field(default_factory=list)
    held: int | None = None
    worked_ns: int = 0
    _done: set[int] = field(default_factory=set)
    """Offsets that it processed, to find quickly whether a failed one is among them."""

    @property
    def key(self) -> GrantKey:
        """The grant under which the work was done."""
        return self.queue, self.client_id, self.epoch

    @property
    def frontier(self) -> int:
        """The offset after the last message consumed or skipped; else the start offset."""
        ends = [self.start_offset, *(each.stop for each in self.passed)]
        return max([*ends, *(message.offset + 1 for message in self.consumed)])

    @property
    def reached(self) -> int:
        """The offset below which the journal shows every message processed or skipped."""
        return min([self.frontier, *self.failed])

    @property
    def stopped_early(self) -> bool:
        """Whether it was released, rightly, below messages that it had processed.

        The message at the stop is unprocessed, or the first of an uncommitted batch: the successor
        rightly reads the processed messages behind it again.
        """
        stop = self.stop_offset
        if stop is None or not self.start_offset <= stop < self.frontier:
            return False
        unfinished = [*self.failed, *self.batches]
        if any(offset < stop for offset in unfinished):
            return False
        return stop in unfinished or all(message.offset != stop for message in self.consumed)

    def apply(self, record: JournalRecord) -> None:
        """Apply a line about messages of the queue."""
        self.worked_ns = record.t_ns
        match record:
            case Held():
                self.held = record.offset
                if record.count > 1:
                    self.batches[record.offset] = record.count
            case Consumed():
                self.consumed.append(record)
                self._done.add(record.offset)
                self.failed.discard(record.offset)
                self.held = None
            case Failed():
                if record.offset in self._done:
                    self._undo(record.offset)
                self.failed.add(record.offset)
                self.held = None
            case Passed():
                passed = range(record.offset, record.offset + record.count)
                self.passed.append(passed)
                self.failed = {each for each in self.failed if each not in passed}
            case Committed():
                for begin in [begin for begin in self.batches if begin < record.offset]:
                    del self.batches[begin]

    def _undo(self, offset: int) -> None:
        """Count a message as not processed after all."""
        self.undone += [each for each in self.consumed if each.offset == offset]
        self.consumed = [each for each in self.consumed if each.offset != offset]
        self._done.discard(offset)

    def covers(self, t_ns: int) -> bool:
        """Tell whether the client owned the queue at that moment."""
        return self.begin_ns <= t_ns and (self.end_ns is None or t_ns < self.end_ns)


@dataclass(frozen=True, slots=True)
class Tenures:
    """All intervals of a run.

    Attributes:
        by_queue: in the order of their beginnings.
        flaws: what a sound journal cannot contain, one sentence each.
        unwritten: the deaths of processes that wrote no line.
    """

    by_queue: Mapping[MessageQueue, Sequence[Tenure]]
    flaws: tuple[str, ...]
    unwritten: tuple[ClientKilled, ...] = ()

    def owner(self, queue: MessageQueue, t_ns: int) -> Tenure | None:
        """Return the interval in force at that moment; of several, the newest."""
        owners = [tenure for tenure in self.by_queue.get(queue, ()) if tenure.covers(t_ns)]
        return owners[-1] if owners else None


def read_tenures(
    journals: Sequence[Journal],
    steps: Iterable[StepRecord],
    lapsed: AbstractSet[GrantKey] = frozenset(),
) -> Tenures:
    """Turn journals into intervals, and name what is wrong with them.

    Args:
        journals: one for each process.
        steps: the fault log; kills and freezes count.
        lapsed: the grants that lapsed, by the topics.
    """
    collected: list[Tenure] = []
    flaws: list[str] = []
    lives, unwritten = processes_of(journals, steps)
    for life in lives:
        reader = _JournalReader(life)
        for record in life.journal.records:
            reader.read(record)
        reader.finish()
        stood = life.stood()
        for tenure in reader.tenures:
            if tenure.key in lapsed:
                _lapse(tenure, stood)
        collected += reader.tenures
        faults = (*life.journal.faults, *reader.flaws)
        flaws += [f"{life.journal.client_id}: {fault}" for fault in faults]
    by_queue: dict[MessageQueue, list[Tenure]] = {}
    for tenure in sorted(collected, key=lambda tenure: (tenure.queue, tenure.begin_ns)):
        flaws += _flaws_of_stop(tenure)
        by_queue.setdefault(tenure.queue, []).append(tenure)
    return Tenures(by_queue, tuple(flaws), tuple(unwritten))


def _lapse(tenure: Tenure, freezes: Sequence[ClientFrozen]) -> None:
    """Apply a lapse: an idle frozen client stopped when its freeze began."""
    if tenure.ending == "stopped":
        tenure.ending = "lapsed"
    for number, freeze in enumerate(freezes):
        idle = tenure.covers(freeze.begin_ns) and tenure.worked_ns <= freeze.begin_ns
        if idle and tenure.end_ns is not None:
            awake_ns = (
                tenure.end_ns
                - freeze.end_ns
                - sum(
                    max(0, min(each.end_ns, tenure.end_ns) - max(each.begin_ns, freeze.end_ns))
                    for each in freezes[number + 1 :]
                )
            )
            if awake_ns <= freeze.end_ns - freeze.begin_ns:
                tenure.end_ns = freeze.begin_ns
                return


def _flaws_of_stop(tenure: Tenure) -> Iterable[str]:
    """Yield what is wrong with the offset at which a tenure was released."""
    stop = tenure.stop_offset
    if stop is None or stop == tenure.reached or tenure.stopped_early:
        return
    who = f"{tenure.client_id}: {tenure.queue} was released at {stop}"
    if stop > tenure.reached and tenure.reached in tenure.failed:
        yield f"{who}, behind {tenure.reached}, which failed"
    elif stop > tenure.frontier:
        yield (
            f"{who}, but worked on up to {tenure.frontier} (a filtered or returned message needs a"
            " line of kind passed)"
        )
    elif tenure.ending != "lapsed":
        # A lapsed client tells nobody where it stopped.
        yield f"{who}, but worked on up to {tenure.frontier}"


def _line(record: JournalRecord) -> str:
    """Name a line of a journal."""
    kind, offset = type(record).__name__.lower(), record.offset
    return f"{kind} {record.queue}@{offset} at {record.t_ns} ns"


class _JournalReader:
    """Reads one process's records in order."""

    def __init__(self, process: ProcessRun) -> None:
        self.tenures: list[Tenure] = []
        self.flaws: list[str] = []
        self._client_id = process.journal.client_id
        self._death = process.death
        self._cut_off = process.journal.cut_off
        self._open: dict[MessageQueue, Tenure] = {}
        self._newest_ns = 0

    def read(self, record: JournalRecord) -> None:
        if record.t_ns < self._newest_ns:
            self.flaws.append(f"time runs backwards at {_line(record)}")
        self._newest_ns = max(self._newest_ns, record.t_ns)
        if self._death is not None and record.t_ns > self._death.dead_ns:
            self.flaws.append(
                f"a record after the client's death: {_line(record)}, and the kernel reported the "
                f"death at {self._death.dead_ns} ns (is it the right process, and the same clock?)"
            )
        match record:
            case Start():
                self._start(record)
            case Stop():
                self._stop(record)
            case Consumed() | Held() | Failed():
                self._work(record.queue, record.t_ns).apply(record)
            case Passed() | Committed():
                # For a queue that the client lost meanwhile these lines are no work.
                if record.queue in self._open:
                    self._open[record.queue].apply(record)

    def finish(self) -> None:
        for queue, tenure in self._open.items():
            if self._death is not None:
                tenure.ending, tenure.end_ns = "killed", self._death.dead_ns
            else:
                self.flaws.append(
                    f"{queue} under {tenure.epoch} has neither a stop nor a death on record"
                    + (" (the last line of its journal is cut off)" if self._cut_off else "")
                )

    def _start(self, record: Start) -> None:
        if record.queue in self._open:
            self.flaws.append(f"{record.queue} was started again without a stop")
            self._open.pop(record.queue).end_ns = record.t_ns
        begun = Tenure(record.queue, self._client_id, record.epoch, record.t_ns, record.offset)
        begun.worked_ns = record.t_ns
        self._open[record.queue] = begun
        self.tenures.append(begun)

    def _stop(self, record: Stop) -> None:
        tenure = self._open.pop(record.queue, None)
        if tenure is None:
            self.flaws.append(f"{record.queue} was stopped without a start")
            return
        if tenure.epoch != record.epoch:
            self.flaws.append(
                f"{record.queue} was started under {tenure.epoch} and stopped under {record.epoch}"
            )
        tenure.ending, tenure.end_ns = "stopped", record.t_ns
        tenure.stop_offset = record.offset

    def _work(self, queue: MessageQueue, t_ns: int) -> Tenure:
        """Return the interval of this work; invent one if the client does not own the queue."""
        if queue in self._open:
            return self._open[queue]
        self.flaws.append(f"{queue} was worked on at {t_ns} without being owned")
        stray = Tenure(
            queue, self._client_id, NEVER_ISSUED, t_ns, 0, end_ns=t_ns + 1, ending="unowned"
        )
        self.tenures.append(stray)
        return stray
