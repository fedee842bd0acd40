"""Which messages were missed, and which were read twice: journals against the source topic.

Two reasons excuse a second reading. The first reader was killed or lost its lease, and the engine
had not read its progress when it granted the queue again. Or the first reader released the queue
below the message, since an earlier one had failed or belonged to an uncommitted batch. Any other
second reading breaks S5. An operator's reset begins another reading, and so does a recreated topic.

ADR 0070 gives the reasons.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Consumed, GrantKey, History, ProgressReport
from fairlead.verify.killed_clients import KilledClient, KilledQueue
from fairlead.verify.reset_epochs import Eras
from fairlead.verify.tenures import Tenure, Tenures
from fairlead.verify.unsafe_grants import UnsafeGrants
from fairlead.wire.decision_records import DecisionRecord, MoveRecord


@dataclass(frozen=True, slots=True)
class Reads:
    """The messages, counted.

    Attributes:
        processed: distinct messages of the source that somebody processed.
        missed: messages of the source that nobody processed and no reset skipped, as
            ``queue@offset``.
        silent: queues of the source without a processed message.
        clean_repeats: second readings that nothing excuses, one sentence each.
        excess_repeats: second readings after a death, of messages below the progress that the
            engine had read.
        unsafe_repeats: other second readings, under grants that a decision marked unsafe.
        lapsed_repeats: second readings that a lost lease excuses.
        early_repeats: second readings of messages behind an unfinished one.
        forged: journal entries that the source does not have, one sentence each.
        killed: what each killed client left, with the second readings that its death excuses.
    """

    processed: int
    missed: tuple[str, ...]
    silent: tuple[str, ...]
    clean_repeats: tuple[str, ...]
    excess_repeats: tuple[str, ...]
    unsafe_repeats: int
    lapsed_repeats: int
    early_repeats: int
    forged: tuple[str, ...]
    killed: tuple[KilledClient, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    message: Consumed
    tenure: Tenure


def count_reads(history: History, tenures: Tenures, unsafe: UnsafeGrants | None = None) -> Reads:
    """Compare what was processed with what the source holds.

    Args:
        history: with the source, the decisions and the progress.
        tenures: the journals as intervals.
        unsafe: the unsafe grants, which excuse second readings; None: nothing is unsafe.
    """
    readings = _readings(tenures)
    bounds, eras = _Bounds(history, tenures), Eras(history, tenures)
    clean: list[str] = []
    excess: list[str] = []
    excused: Counter[GrantKey] = Counter()
    beside = lapsed = early = 0
    for first, second in _repeats(readings):
        if eras.of(first.tenure) != eras.of(second.tenure):
            continue
        ended = first.tenure if second.tenure is not first.tenure else None
        dead = ended is not None and ended.ending in ("killed", "lapsed")
        read = bounds.progress_read(first.tenure) if dead else None
        if read is not None and first.message.offset >= read:
            lapsed += first.tenure.ending == "lapsed"
            excused[first.tenure.key] += 1
        elif ended is not None and _released_below(ended, first.message):
            early += 1
        elif unsafe is not None and unsafe.excuse(first.tenure, second.tenure):
            beside += 1
        elif read is not None:
            excess.append(f"{_describe_repeat(first, second)}; the engine had read {read}")
        else:
            clean.append(_describe_repeat(first, second))
    present = _readings(tenures, eras)
    processed = {
        queue: offsets.keys() & present.get(queue, {}).keys()
        for queue, offsets in history.source.items()
    }
    return Reads(
        processed=sum(len(offsets) for offsets in processed.values()),
        missed=tuple(
            f"{queue}@{offset}"
            for queue, offsets in sorted(history.source.items())
            for offset in eras.unread(queue, offsets)
        ),
        silent=tuple(str(queue) for queue in sorted(processed) if not processed[queue]),
        clean_repeats=tuple(clean),
        excess_repeats=tuple(excess),
        unsafe_repeats=beside,
        lapsed_repeats=lapsed,
        early_repeats=early,
        forged=tuple(_forged(history, present)),
        killed=tuple(_killed_clients(tenures, bounds, excused)),
    )


def _released_below(tenure: Tenure, message: Consumed) -> bool:
    """Tell whether a tenure released the queue below this message, to have it read again."""
    stop = tenure.stop_offset
    return tenure.stopped_early and stop is not None and message.offset >= stop


def _readings(
    tenures: Tenures, eras: Eras | None = None
) -> dict[MessageQueue, dict[int, list[_Reading]]]:
    """Return, per queue and offset, who processed it, in the order of time.

    With ``eras``, leave out work before the topic was recreated: the source no longer holds it.
    """
    readings: dict[MessageQueue, dict[int, list[_Reading]]] = {}
    for queue, queue_tenures in tenures.by_queue.items():
        offsets = readings.setdefault(queue, {})
        for tenure in queue_tenures:
            if eras is not None and eras.is_before_recreation(tenure):
                continue
            for message in tenure.consumed:
                offsets.setdefault(message.offset, []).append(_Reading(message, tenure))
        for readers in offsets.values():
            readers.sort(key=lambda reading: reading.message.t_ns)
    return readings


def _repeats(
    readings: Mapping[MessageQueue, Mapping[int, Sequence[_Reading]]],
) -> Iterator[tuple[_Reading, _Reading]]:
    for offsets in readings.values():
        for readers in offsets.values():
            yield from pairwise(readers)


def _describe_repeat(first: _Reading, second: _Reading) -> str:
    return (
        f"{first.message.queue}@{first.message.offset} by {first.tenure.client_id} under"
        f" {first.tenure.epoch} ({first.tenure.ending}), again by {second.tenure.client_id} under"
        f" {second.tenure.epoch}"
    )


def _forged(
    history: History, readings: Mapping[MessageQueue, Mapping[int, Sequence[_Reading]]]
) -> Iterator[str]:
    recorded = {queue.topic for queue in history.source}
    for queue, offsets in sorted(readings.items()):
        if queue.topic not in recorded:
            continue
        source = history.source.get(queue, {})
        # Retention may have deleted the head of the topic: nobody can compare it.
        first = min(source, default=max(offsets, default=0) + 1)
        for offset, readers in sorted(offsets.items()):
            if offset < first:
                continue
            if offset not in source:
                yield f"{queue}@{offset} is in a journal, but not in the source"
                continue
            for reading in readers:
                if source[offset] not in (None, reading.message.number):
                    yield (
                        f"{queue}@{offset} is number {reading.message.number} in a journal, and"
                        f" {source[offset]} in the source"
                    )


def _killed_clients(
    tenures: Tenures, bounds: "_Bounds", excused: Mapping[GrantKey, int]
) -> Iterator[KilledClient]:
    owned: dict[str, list[Tenure]] = {}
    for queue_tenures in tenures.by_queue.values():
        for tenure in queue_tenures:
            if tenure.ending == "killed":
                owned.setdefault(tenure.client_id, []).append(tenure)
    for client_id, held in sorted(owned.items()):
        in_hand = [f"{tenure.queue}@{tenure.held}" for tenure in held if tenure.held is not None]
        yield KilledClient(
            client_id=client_id,
            in_hand=in_hand[0] if in_hand else None,
            queues=tuple(
                KilledQueue(
                    queue=str(tenure.queue),
                    progress=bounds.progress_read(tenure),
                    processed=tenure.frontier,
                    granted=bounds.granted(tenure),
                    read_twice=excused.get(tenure.key, 0),
                )
                for tenure in held
            ),
        )


class _Bounds:
    """How far the engine had read a client's progress when it granted the queue to another."""

    def __init__(self, history: History, tenures: Tenures) -> None:
        self._tenures = tenures
        self._grants: dict[
            tuple[MessageQueue, object], list[tuple[DecisionRecord, MoveRecord]]
        ] = {}
        for decision in history.decisions:
            for move in decision.moves:
                if move.stage in ("gated", "granted"):
                    self._grants.setdefault((move.queue, move.epoch), []).append((decision, move))
        self._progress: dict[tuple[str, MessageQueue, object], list[ProgressReport]] = {}
        for report in history.progress:
            key = (report.client_id, report.queue, report.epoch)
            self._progress.setdefault(key, []).append(report)

    def progress_read(self, tenure: Tenure) -> int:
        """Return this tenure's highest progress below the cut of the decision that ended it.

        Without such a decision every report counts: that is the strictest bound. The start offset
        counts too, since the engine knew it.
        """
        grant = self._successor_grant(tenure)
        cut = grant[0].cut if grant else None
        reports = self._progress.get((tenure.client_id, tenure.queue, tenure.epoch), ())
        known = (
            report.offset
            for report in reports
            if cut is None or report.source_offset < cut.end_of(*report.source)
        )
        return max(known, default=tenure.start_offset)

    def granted(self, tenure: Tenure) -> int | None:
        """Return where the successor was to start, by the decision that granted it the queue."""
        grant = self._successor_grant(tenure)
        start = grant[1].position if grant else None
        return None if start is None else start.offset

    def _successor_grant(self, tenure: Tenure) -> tuple[DecisionRecord, MoveRecord] | None:
        later = (
            other
            for other in self._tenures.by_queue[tenure.queue]
            if other.begin_ns > tenure.begin_ns and other is not tenure
        )
        successor = next(later, None)
        if successor is None:
            return None
        grants = self._grants.get((tenure.queue, successor.epoch))
        return grants[-1] if grants else None
