"""Who worked on which queue from when to when: the journals, read as intervals.

An interval that nobody closed is closed by the death of its client, if the script's log says that
the client was killed: SIGKILL cannot be refused, so when the kernel reports the death the work is
over. It is closed at that moment and not at the client's last record: a client owns its queues
between two messages too, and whoever starts before the death is certain starts too early. An
interval without a stop and without a death on record stays open for ever, which is the strictest
reading: nothing proves that the work stopped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fairlead.verify.history import (
    NEVER_ISSUED,
    ClientKilled,
    Consumed,
    Epoch,
    Held,
    Journal,
    JournalRecord,
    Queue,
    Start,
    Stop,
)

Ending = Literal["stopped", "killed", "open", "unowned"]


@dataclass(slots=True)
class Tenure:
    """One client's work on one queue under one epoch.

    Attributes:
        begin_ns: when it started.
        end_ns: when it was over for certain; None if that is not known.
        ending: how it ended. ``unowned`` is the tenure made up for work without a start.
        start_offset: where it began to read.
        stop_offset: what it said to be the next offset to read; None unless it stopped.
        consumed: its messages in order.
        held: the offset in hand when it ended; None if none.
    """

    queue: Queue
    client_id: str
    epoch: Epoch
    begin_ns: int
    start_offset: int
    end_ns: int | None = None
    ending: Ending = "open"
    stop_offset: int | None = None
    consumed: list[Consumed] = field(default_factory=list)
    held: int | None = None

    @property
    def frontier(self) -> int:
        """The offset after the last message consumed; the start offset if there was none."""
        return max((message.offset + 1 for message in self.consumed), default=self.start_offset)

    def covers(self, t_ns: int) -> bool:
        """Tell whether the client owned the queue at that moment."""
        return self.begin_ns <= t_ns and (self.end_ns is None or t_ns < self.end_ns)


@dataclass(frozen=True, slots=True)
class Tenures:
    """All intervals of a run.

    Attributes:
        by_queue: in the order of their begins.
        flaws: what a sound journal cannot contain, one sentence each.
    """

    by_queue: Mapping[Queue, Sequence[Tenure]]
    flaws: tuple[str, ...]

    def owner(self, queue: Queue, t_ns: int) -> Tenure | None:
        """Return the interval in force at that moment, the newest if there are several."""
        found = [tenure for tenure in self.by_queue.get(queue, ()) if tenure.covers(t_ns)]
        return found[-1] if found else None


def read_tenures(journals: Sequence[Journal], killed: Sequence[ClientKilled]) -> Tenures:
    """Turn journals into intervals, and name what is wrong with them."""
    deaths = {kill.client_id: kill for kill in killed}
    found: list[Tenure] = []
    flaws = [
        f"{client_id} was killed, but there is no journal of it"
        for client_id in sorted(deaths.keys() - {journal.client_id for journal in journals})
    ]
    for journal in journals:
        reader = _JournalReader(journal.client_id, deaths.get(journal.client_id))
        for record in journal.records:
            reader.read(record)
        reader.finish()
        found += reader.tenures
        flaws += [f"{journal.client_id}: {fault}" for fault in (*journal.faults, *reader.flaws)]
    by_queue: dict[Queue, list[Tenure]] = {}
    for tenure in sorted(found, key=lambda tenure: (tenure.queue, tenure.begin_ns)):
        by_queue.setdefault(tenure.queue, []).append(tenure)
    return Tenures(by_queue, tuple(flaws))


class _JournalReader:
    """Reads one client's records in order."""

    def __init__(self, client_id: str, death: ClientKilled | None) -> None:
        self.tenures: list[Tenure] = []
        self.flaws: list[str] = []
        self._client_id = client_id
        self._death = death
        self._open: dict[Queue, Tenure] = {}
        self._newest_ns = 0

    def read(self, record: JournalRecord) -> None:
        if record.t_ns < self._newest_ns:
            self.flaws.append(f"time runs backwards at {record}")
        self._newest_ns = max(self._newest_ns, record.t_ns)
        if self._death is not None and record.t_ns > self._death.dead_ns:
            self.flaws.append(f"a record after the client's death: {record}")
        match record:
            case Start():
                self._start(record)
            case Stop():
                self._stop(record)
            case Held():
                self._work(record.queue, record.t_ns).held = record.offset
            case Consumed():
                tenure = self._work(record.queue, record.t_ns)
                tenure.consumed.append(record)
                tenure.held = None

    def finish(self) -> None:
        for queue, tenure in self._open.items():
            if self._death is not None:
                tenure.ending, tenure.end_ns = "killed", self._death.dead_ns
            else:
                self.flaws.append(
                    f"{queue} under {tenure.epoch} was never stopped, and no death is on record"
                )

    def _start(self, record: Start) -> None:
        if record.queue in self._open:
            self.flaws.append(f"{record.queue} was started again without a stop")
            self._open.pop(record.queue).end_ns = record.t_ns
        begun = Tenure(record.queue, self._client_id, record.epoch, record.t_ns, record.offset)
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
        if record.offset != tenure.frontier:
            self.flaws.append(
                f"{record.queue} was released at {record.offset}, but worked on up to"
                f" {tenure.frontier}"
            )
        tenure.ending, tenure.end_ns = "stopped", record.t_ns
        tenure.stop_offset = record.offset

    def _work(self, queue: Queue, t_ns: int) -> Tenure:
        """Return the interval of this work, made up if the client does not own the queue."""
        if queue in self._open:
            return self._open[queue]
        self.flaws.append(f"{queue} was worked on at {t_ns} without being owned")
        stray = Tenure(
            queue, self._client_id, NEVER_ISSUED, t_ns, 0, end_ns=t_ns + 1, ending="unowned"
        )
        self.tenures.append(stray)
        return stray
