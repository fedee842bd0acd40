"""The shard machine over a recorded log and its recorded cuts, in a plain loop.

A cut says which generation read a batch with a decision, from where to where. Steps number the
cuts of a shard. If two generations wrote one step, the first driver died before its state was kept,
and the second ran the step again from the state before it. So a cut always starts from the state
after the step before it, as the newest generation up to then left it: that is its lineage.

A cut also says where its state began, if that was not with the first driver: an engine that lost
its state began with an empty one, and counts steps from 1 again. That is a lineage of its own; an
older checkpoint that is put back goes on with its own lineage.

Batches without a decision leave no cut. Their cut changes nothing, so the replay reads everything
between two cuts as one batch, under the former generation; that batch must decide nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

import orjson

from fairlead.codec.shard import ShardHeader, open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Cut, Origin
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.errors import AppendTimeMissingError, HigherGenerationError
from fairlead.engine.shard import begin_anew, run_shard
from fairlead.replay.recorded_log import Places, RecordedLog
from fairlead.replay.takeover import is_taken_over
from fairlead.wire.decision_records import read_cut
from fairlead.wire.raw import OutgoingRecord, RawRecord

__all__ = [
    "Contexts",
    "ReplayError",
    "Replayed",
    "cuts_of",
    "lineages_of",
    "portions",
    "replay_shard",
    "run_rest",
]

Contexts = Callable[[int, int], ShardContext]
"""(shard, generation) -> the context in which that driver ran the shard."""

_COMPLETE = frozenset({"heartbeats", "releases"})
"""Topics without gaps between two rows; the others are compacted."""

_BEATS_MAX: Final = 20_000
"""The replay runs at most so many heartbeats without a decision at once."""

_NO_STEP: Final = 2**63
"""Above every step."""


class ReplayError(Exception):
    """A recording cannot be replayed: something of it is missing or contradicts itself."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replayed cut.

    ``kept``: a later cut started from its state, or it is the last. ``interrupted``: its driver
    died in it, so it may have written any beginning of this. ``silent`` are the refusals of earlier
    rows without a decision.
    """

    cut: Cut
    result: ShardResult
    silent: tuple[OutgoingRecord, ...] = ()
    kept: bool = True
    interrupted: bool = False


@dataclass(slots=True)
class _Lineage:
    """States of one shard after each step; later generations overwrite what was not kept.

    A state goes when no later cut starts from it: ``uses`` counts those cuts. ``origin`` None: it
    began with the first driver.
    """

    origin: Origin | None
    cuts: list[Cut] = field(default_factory=list)
    uses: Counter[int] = field(default_factory=Counter)
    states: dict[int, StoredShard | None] = field(default_factory=lambda: {0: None})

    def add(self, cut: Cut) -> None:
        self.cuts.append(cut)
        self.uses[cut.step - 1] += 1

    def check(self, recording: RecordedLog, context: ShardContext) -> None:
        """Raise a ReplayError if rows or decisions of its cuts are missing."""
        steps = {0, *(cut.step for cut in self.cuts)}
        for cut in self.cuts:
            _check_complete(recording, cut, context)
            if cut.step - 1 not in steps:
                raise _unknown_state(cut)

    def context(self, contexts: Contexts, shard: int, generation: int) -> ShardContext:
        begin = {} if self.origin is None else self.origin.begin
        return replace(contexts(shard, generation), first_run=self.origin is None, begin=begin)

    def before(self, cut: Cut) -> StoredShard | None:
        if cut.step - 1 not in self.states:
            raise _unknown_state(cut)
        return self.states[cut.step - 1]

    def keep(self, cut: Cut, stored: StoredShard) -> None:
        self.uses[cut.step - 1] -= 1
        if not self.uses[cut.step - 1]:
            self.states.pop(cut.step - 1, None)
        if self.uses[cut.step]:
            self.states[cut.step] = stored


def _unknown_state(cut: Cut) -> ReplayError:
    return ReplayError(
        f"shard {cut.shard}, generation {cut.generation}: no decision of step {cut.step - 1} was "
        f"recorded, so the state before step {cut.step} is unknown"
    )


def cuts_of(decisions: Iterable[bytes]) -> list[Cut]:
    """Return the cuts in decision records, by shard, generation and step.

    Raises:
        ReplayError: two decisions of one cut name different positions.
    """
    cuts: dict[tuple[int, int, int], Cut] = {}
    for value in decisions:
        cut = read_cut(orjson.loads(value)["cut"])
        place = (cut.shard, cut.generation, cut.step)
        if cuts.setdefault(place, cut) != cut:
            raise ReplayError(f"two decisions of shard, generation and step {place} differ")
    return [cuts[place] for place in sorted(cuts)]


def replay_shard(
    recording: RecordedLog, cuts: Sequence[Cut], contexts: Contexts, drivers: Iterable[int] = ()
) -> Iterator[Replayed]:
    """Replay the cuts of one shard in their order, and those of drivers that died.

    ``drivers`` are all generations that wrote anything: one of them may have died in this shard
    before it wrote the decision of its last batch.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    ordered = sorted(cuts, key=lambda cut: (cut.generation, cut.step))
    lineages: dict[int, _Lineage] = {}
    for cut in ordered:
        lineages.setdefault(_began(cut), _Lineage(cut.origin)).add(cut)
    replays = {
        began: _replay_lineage(recording, lineages, began, contexts, drivers) for began in lineages
    }
    for cut in ordered:
        # A replay may yield a lost cut before the recorded one.
        for replayed in replays[_began(cut)]:
            abandoned = replayed.cut is lineages[_began(cut)].cuts[-1] and cut is not ordered[-1]
            yield replace(replayed, interrupted=replayed.interrupted or abandoned)
            if replayed.cut is cut:
                break


def lineages_of(
    recording: RecordedLog, cuts: Sequence[Cut], contexts: Contexts
) -> tuple[list[Cut], list[tuple[list[int], str]]]:
    """Return the cuts of one shard that can be replayed, and (generations, reason) of the others.

    A lineage is replayed from its beginning: if the log or the decisions begin later, all of it is
    left out. A state that was rebuilt later is a beginning of its own.
    """
    lineages: dict[int, _Lineage] = {}
    for cut in sorted(cuts, key=lambda cut: (cut.generation, cut.step)):
        lineages.setdefault(_began(cut), _Lineage(cut.origin)).add(cut)
    whole: list[Cut] = []
    broken: list[tuple[list[int], str]] = []
    for began, lineage in sorted(lineages.items()):
        try:
            lineage.check(recording, contexts(lineage.cuts[0].shard, began))
        except ReplayError as error:
            broken.append((sorted({cut.generation for cut in lineage.cuts}), str(error)))
        else:
            whole += lineage.cuts
    return whole, broken


def _began(cut: Cut) -> int:
    return 1 if cut.origin is None else cut.origin.generation


def _replay_lineage(
    recording: RecordedLog,
    lineages: Mapping[int, _Lineage],
    began: int,
    contexts: Contexts,
    drivers: Iterable[int],
) -> Iterator[Replayed]:
    lineage = lineages[began]
    ordered = lineage.cuts
    lowest_later = _lowest_later(ordered)
    known = _drivers_of(lineages, began, drivers)
    for index, cut in enumerate(ordered):
        first = index == 0 or ordered[index - 1].generation < cut.generation
        died = [generation for generation in known if generation < cut.generation] if first else []
        recorded = index > 0 and ordered[index - 1].step >= cut.step
        if died and not recorded:
            # The dead driver read the same rows as this one, unless this one's tick is among them:
            # then the other has never read them.
            former = lineage.context(contexts, cut.shard, died[-1])
            rows = recording.between(cut.begin, cut.positions)
            if not is_taken_over(rows, former, cut.generation, contexts):
                with suppress(HigherGenerationError, AppendTimeMissingError):
                    unrecorded = _run(
                        recording, replace(cut, generation=died[-1]), lineage, contexts
                    )
                    yield replace(unrecorded, kept=False, interrupted=True)
        try:
            replayed = _run(recording, cut, lineage, contexts)
        except (HigherGenerationError, AppendTimeMissingError) as error:
            raise ReplayError(
                f"shard {cut.shard}, generation {cut.generation}: no engine could have read what "
                f"step {cut.step} names ({error.message})"
            ) from error
        kept = lowest_later[index] > cut.step
        newest = index + 1 == len(ordered) or ordered[index + 1].generation > cut.generation
        lineage.keep(cut, replayed.result.stored)
        yield replace(replayed, kept=kept, interrupted=newest and not kept)


def _drivers_of(lineages: Mapping[int, _Lineage], began: int, drivers: Iterable[int]) -> list[int]:
    """Return the drivers that may have run a lineage, sorted."""
    own = {cut.generation for cut in lineages[began].cuts}
    others = {cut.generation for each in lineages.values() for cut in each.cuts} - own
    return sorted(each for each in {*drivers, *own} - others if each >= began)


def _lowest_later(ordered: Sequence[Cut]) -> list[int]:
    """Return for each cut the lowest step of the later ones."""
    lowest = accumulate((cut.step for cut in reversed(ordered)), min, initial=_NO_STEP)
    return list(lowest)[-2::-1]


def run_rest(
    recording: RecordedLog, stored: StoredShard | None, context: ShardContext, contexts: Contexts
) -> Iterator[OutgoingRecord]:
    """Yield the records of rows behind the last decision, which perhaps nobody has read.

    Their cut is unknown: only the refusals of rows by their form are certain.
    """
    begin = open_shard(stored).header.positions if stored is not None else {}
    place = (context.topics.name("heartbeats"), context.shard)
    for start, end in portions(begin, recording.ends(context.topics, context.shard), place):
        rows = recording.between(start, end)
        while True:
            try:
                result = run_shard(stored, rows, replace(context, first_run=stored is None))
                break
            except HigherGenerationError as error:
                context = contexts(context.shard, error.generation)
            except AppendTimeMissingError:
                # No engine reads beyond such a record.
                return
        stored = result.stored
        yield from result.records


def _run(recording: RecordedLog, cut: Cut, lineage: _Lineage, contexts: Contexts) -> Replayed:
    stored = lineage.before(cut)
    context = lineage.context(contexts, cut.shard, cut.generation)
    _check_complete(recording, cut, context)
    header, reader = ShardHeader(), cut.generation
    if stored is not None:
        header = open_shard(stored).header
        reader = header.generation
    elif lineage.origin is not None:
        reader = lineage.origin.generation
        header = begin_anew(lineage.context(contexts, cut.shard, reader)).header
    before = lineage.context(contexts, cut.shard, reader)
    silent: list[OutgoingRecord] = []
    place = (context.topics.name("heartbeats"), cut.shard)
    for begin, end in portions(header.positions, cut.begin, place):
        rows = recording.between(begin, end)
        if rows:
            reads = before
            if is_taken_over(rows, before, cut.generation, contexts):
                reads = context
            result = _run_silent(stored, rows, (reads, context), cut)
            stored = result.stored
            silent += result.records
    rows = recording.between(cut.begin, cut.positions)
    return Replayed(cut, run_shard(stored, rows, context), tuple(silent))


def portions(begin: Places, end: Places, beats: tuple[str, int]) -> Iterator[tuple[Places, Places]]:
    """Cut a stretch without a decision: all other topics first, heartbeats piece by piece.

    One batch would apply them in that order. ``beats`` are the topic and the partition of the
    heartbeats.
    """
    heartbeats, shard = beats
    start = begin.get(heartbeats, {}).get(shard, 0)
    stop = end.get(heartbeats, {}).get(shard, start)
    reached = min(start + _BEATS_MAX, stop)
    yield begin, {**end, heartbeats: {shard: reached}} if heartbeats in end else end
    while reached < stop:
        start, reached = reached, min(reached + _BEATS_MAX, stop)
        yield {heartbeats: {shard: start}}, {heartbeats: {shard: reached}}


def _run_silent(
    stored: StoredShard | None,
    rows: Sequence[RawRecord],
    contexts: tuple[ShardContext, ShardContext],
    cut: Cut,
) -> ShardResult:
    before, after = contexts
    try:
        result = run_shard(stored, rows, before)
    except HigherGenerationError:
        # A new driver's first batch decides nothing only while the shard has no group.
        result = run_shard(stored, rows, after)
    if result.counts.get("decisions"):
        raise ReplayError(
            f"shard {cut.shard}: what was read before step {cut.step} of generation "
            f"{cut.generation} leads to decisions, but none was recorded"
        )
    return result


def _check_complete(recording: RecordedLog, cut: Cut, context: ShardContext) -> None:
    for topic in sorted(cut.positions):
        if context.topics.suffix(topic) not in _COMPLETE:
            continue
        for partition, stop in cut.positions[topic].items():
            begin = 0 if cut.origin is None else cut.origin.begin.get(topic, {}).get(partition, 0)
            if not recording.holds_all_below(topic, partition, stop, begin):
                raise ReplayError(
                    f"{topic}, partition {partition}: the recording does not hold every row "
                    f"below {stop}, which step {cut.step} of shard {cut.shard} had read"
                )
