"""Who worked on which queue from when to when: the journals, read as intervals.

An interval that nobody closed is closed by the death of its client, if the script's log says that
the client was killed: SIGKILL cannot be refused, so when the kernel reports the death the work is
over. It is closed at that moment and not at the client's last record: a client owns its queues
between two messages too, and whoever starts before the death is certain starts too early. An
interval without a stop and without a death on record stays open for ever, which is the strictest
reading: nothing proves that the work stopped.

A process that stood still did nothing meanwhile. If its grant lapsed, by the topics, and nothing is
written of it behind the moment at which it stood, its work ended at that moment. Who was awake
again for longer than it had stood, before it stopped, had the queue meanwhile: that lease ended
otherwise.
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
from fairlead.verify.lives import Life, lives_of

Ending = Literal["stopped", "lapsed", "killed", "open", "unowned"]


@dataclass(slots=True)
class Tenure:
    """One client's work on one queue under one epoch.

    Attributes:
        begin_ns: when it started.
        end_ns: when it was over for certain; None if that is not known.
        ending: how it ended. ``lapsed``: its client stopped, since its lease had ended, and the
            engine took the queue back without a release. ``unowned`` is the tenure made up for work
            without a start.
        start_offset: where it began to read.
        stop_offset: what it said to be the next offset to read; None unless it stopped.
        consumed: its messages in order.
        undone: messages that count as not processed after all: their batch failed.
        failed: offsets that were not processed, and come again.
        batches: of those in hand together that were not committed, first offset → how many.
        passed: offsets that were passed over: nothing wanted stands there, or it was sent back.
        held: the offset in hand when it ended; None if none.
        worked_ns: when it wrote its last line but the STOP.
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
    """Offsets that it processed: what fails was seldom processed before."""

    @property
    def key(self) -> GrantKey:
        """The grant that it is the work under."""
        return self.queue, self.client_id, self.epoch

    @property
    def frontier(self) -> int:
        """The offset after the last message consumed; the start offset if there was none.

        What was passed over counts as consumed.
        """
        ends = [self.start_offset, *(each.stop for each in self.passed)]
        return max([*ends, *(message.offset + 1 for message in self.consumed)])

    @property
    def reached(self) -> int:
        """Everything below is processed, or was passed over, as far as the journal tells."""
        return min([self.frontier, *self.failed])

    @property
    def stopped_early(self) -> bool:
        """Whether it was released below messages that it had processed, and rightly so.

        The message at the stop was not processed, or is the first of a batch that nobody committed:
        what was processed behind it is read again, as the client told.
        """
        stop = self.stop_offset
        if stop is None or not self.start_offset <= stop < self.frontier:
            return False
        unfinished = [*self.failed, *self.batches]
        if any(offset < stop for offset in unfinished):
            return False
        return stop in unfinished or all(message.offset != stop for message in self.consumed)

    def take(self, record: JournalRecord) -> None:
        """Take a line about messages of the queue."""
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
        """A message counts as not processed after all."""
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
        by_queue: in the order of their begins.
        flaws: what a sound journal cannot contain, one sentence each.
        unwritten: the deaths of processes that wrote no line.
    """

    by_queue: Mapping[MessageQueue, Sequence[Tenure]]
    flaws: tuple[str, ...]
    unwritten: tuple[ClientKilled, ...] = ()

    def owner(self, queue: MessageQueue, t_ns: int) -> Tenure | None:
        """Return the interval in force at that moment, the newest if there are several."""
        found = [tenure for tenure in self.by_queue.get(queue, ()) if tenure.covers(t_ns)]
        return found[-1] if found else None


def read_tenures(
    journals: Sequence[Journal],
    steps: Iterable[StepRecord],
    lapsed: AbstractSet[GrantKey] = frozenset(),
) -> Tenures:
    """Turn journals into intervals, and name what is wrong with them.

    Args:
        journals: one for each process.
        steps: what was done to them; deaths and standstills count.
        lapsed: the grants that lapsed, by the topics.
    """
    found: list[Tenure] = []
    flaws: list[str] = []
    lives, unwritten = lives_of(journals, steps)
    for life in lives:
        reader = _JournalReader(life)
        for record in life.journal.records:
            reader.read(record)
        reader.finish()
        stood = life.stood()
        for tenure in reader.tenures:
            if tenure.key in lapsed:
                _lapse(tenure, stood)
        found += reader.tenures
        faults = (*life.journal.faults, *reader.flaws)
        flaws += [f"{life.journal.client_id}: {fault}" for fault in faults]
    by_queue: dict[MessageQueue, list[Tenure]] = {}
    for tenure in sorted(found, key=lambda tenure: (tenure.queue, tenure.begin_ns)):
        flaws += _flaws_of_stop(tenure)
        by_queue.setdefault(tenure.queue, []).append(tenure)
    return Tenures(by_queue, tuple(flaws), tuple(unwritten))


def _lapse(tenure: Tenure, freezes: Sequence[ClientFrozen]) -> None:
    """Take note that a grant lapsed: a client that stood still stopped there, if it did no more."""
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
    """Yield what is wrong with where a tenure was released."""
    stop = tenure.stop_offset
    if stop is None or stop == tenure.reached or tenure.stopped_early:
        return
    who = f"{tenure.client_id}: {tenure.queue} was released at {stop}"
    if stop > tenure.reached and tenure.reached in tenure.failed:
        yield f"{who}, behind {tenure.reached}, which failed"
    elif stop > tenure.frontier:
        yield (
            f"{who}, but worked on up to {tenure.frontier} (what is filtered out or sent back has"
            " lines of kind passed)"
        )
    elif tenure.ending != "lapsed":
        # Nobody is told where work stopped whose grant has lapsed.
        yield f"{who}, but worked on up to {tenure.frontier}"


def _line(record: JournalRecord) -> str:
    """Name a line of a journal."""
    kind, offset = type(record).__name__.lower(), record.offset
    return f"{kind} {record.queue}@{offset} at {record.t_ns} ns"


class _JournalReader:
    """Reads one process's records in order."""

    def __init__(self, life: Life) -> None:
        self.tenures: list[Tenure] = []
        self.flaws: list[str] = []
        self._client_id = life.journal.client_id
        self._death = life.death
        self._cut_off = life.journal.cut_off
        self._open: dict[MessageQueue, Tenure] = {}
        self._newest_ns = 0

    def read(self, record: JournalRecord) -> None:
        if record.t_ns < self._newest_ns:
            self.flaws.append(f"time runs backwards at {_line(record)}")
        self._newest_ns = max(self._newest_ns, record.t_ns)
        if self._death is not None and record.t_ns > self._death.dead_ns:
            self.flaws.append(
                f"a record after the client's death: {_line(record)}, and the kernel reported its "
                f"end at {self._death.dead_ns} ns (is it the right process, and of one clock?)"
            )
        match record:
            case Start():
                self._start(record)
            case Stop():
                self._stop(record)
            case Consumed() | Held() | Failed():
                self._work(record.queue, record.t_ns).take(record)
            case Passed() | Committed():
                # Said of a queue that was lost meanwhile they are no work.
                if record.queue in self._open:
                    self._open[record.queue].take(record)

    def finish(self) -> None:
        for queue, tenure in self._open.items():
            if self._death is not None:
                tenure.ending, tenure.end_ns = "killed", self._death.dead_ns
            else:
                self.flaws.append(
                    f"{queue} under {tenure.epoch} was never stopped, and no death is on record"
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
        """Return the interval of this work, made up if the client does not own the queue."""
        if queue in self._open:
            return self._open[queue]
        self.flaws.append(f"{queue} was worked on at {t_ns} without being owned")
        stray = Tenure(
            queue, self._client_id, NEVER_ISSUED, t_ns, 0, end_ns=t_ns + 1, ending="unowned"
        )
        self.tenures.append(stray)
        return stray
