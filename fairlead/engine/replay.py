"""The shard machine over a recorded log and its recorded cuts, in a plain loop.

A cut says which generation read a batch from where to where when a decision was written. Steps
number the cuts of a shard; a step that two generations wrote was written by the first and not kept
(its driver died), and was run again by the second from the state before it. So a cut always starts
from the state after the step before it, as the newest generation up to then left it: that is its
lineage.

Batches without a decision leave no cut. How they were cut changes nothing, so what was read
between the end of one cut and the begin of the next is read as one batch, under the generation of
the former; that batch must decide nothing.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from fairlead.codec.shard import ShardHeader, open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Cut
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.errors import HigherGenerationError
from fairlead.engine.shard import run_shard
from fairlead.wire.raw import RawRecord

__all__ = ["Contexts", "Recording", "ReplayError", "Replayed", "cuts_of", "replay_shard"]

Contexts = Callable[[int, int], ShardContext]
"""(shard, generation) -> what the driver of that generation ran the shard under."""

_COMPLETE = frozenset({"heartbeats", "releases"})
"""Topics from which nothing between two read rows may be missing; others are compacted."""


class ReplayError(Exception):
    """A recording cannot be replayed: something of it is missing or contradicts itself."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Input topics as they were read back: (topic, partition) -> rows by offset."""

    logs: Mapping[tuple[str, int], Sequence[RawRecord]]

    @classmethod
    def of(cls, rows: Iterable[RawRecord]) -> "Recording":
        """Return the recording of rows that come in any order."""
        logs: dict[tuple[str, int], list[RawRecord]] = {}
        for row in rows:
            logs.setdefault((row.topic, row.partition), []).append(row)
        return cls({place: sorted(log, key=_offset) for place, log in logs.items()})

    def between(
        self, begin: Mapping[str, Mapping[int, int]], end: Mapping[str, Mapping[int, int]]
    ) -> list[RawRecord]:
        """Return the rows from one cut's positions up to another's."""
        rows: list[RawRecord] = []
        for topic in sorted(end):
            for partition, stop in sorted(end[topic].items()):
                log = self.logs.get((topic, partition), ())
                start = begin.get(topic, {}).get(partition, 0)
                first = bisect_left(log, start, key=_offset)
                rows += log[first : bisect_left(log, stop, key=_offset)]
        return rows

    def rest(
        self, context: ShardContext, begin: Mapping[str, Mapping[int, int]]
    ) -> list[RawRecord]:
        """Return what a shard had still to read at these positions."""
        ends: dict[str, dict[int, int]] = {}
        for (topic, partition), log in self.logs.items():
            shared = context.topics.suffix(topic) in {"routes", "offsets"}
            if log and (shared or partition == context.shard):
                ends.setdefault(topic, {})[partition] = log[-1].offset + 1
        return self.between(begin, ends)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One cut, run again.

    ``kept``: its state went into a later cut, or it is the last. ``interrupted``: its driver died
    in it, so it may have written any beginning of this. ``silent`` is what was read before the
    batch without a decision, None if nothing was.
    """

    cut: Cut
    result: ShardResult
    silent: ShardResult | None = None
    kept: bool = True
    interrupted: bool = False


@dataclass(slots=True)
class _Lineage:
    """States of one shard after each step; later generations overwrite what was not kept."""

    states: dict[int, StoredShard | None] = field(default_factory=lambda: {0: None})

    def before(self, cut: Cut) -> StoredShard | None:
        if cut.step - 1 not in self.states:
            raise ReplayError(
                f"shard {cut.shard}, generation {cut.generation}: no decision of step "
                f"{cut.step - 1} was recorded, so the state before step {cut.step} is unknown"
            )
        return self.states[cut.step - 1]


def cuts_of(decisions: Iterable[bytes]) -> list[Cut]:
    """Return the cuts that decision records carry, by shard, generation and step.

    Raises:
        ReplayError: two decisions of one cut name different positions.
    """
    cuts: dict[tuple[int, int, int], Cut] = {}
    for value in decisions:
        cut = _cut(orjson.loads(value)["cut"])
        place = (cut.shard, cut.generation, cut.step)
        if cuts.setdefault(place, cut) != cut:
            raise ReplayError(f"two decisions of shard, generation and step {place} differ")
    return [cuts[place] for place in sorted(cuts)]


def replay_shard(
    recording: Recording, cuts: Sequence[Cut], contexts: Contexts, drivers: Iterable[int] = ()
) -> Iterator[Replayed]:
    """Run the cuts of one shard again, in their order, and the cuts of drivers that died.

    ``drivers`` are generations that wrote something anywhere: one of them may have died in this
    shard before a decision of its last batch was written.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    lineage = _Lineage()
    ordered = sorted(cuts, key=lambda cut: (cut.generation, cut.step))
    known = sorted({*drivers, *(cut.generation for cut in cuts)})
    for index, cut in enumerate(ordered):
        first = index == 0 or ordered[index - 1].generation < cut.generation
        died = [generation for generation in known if generation < cut.generation]
        recorded = index > 0 and ordered[index - 1].step >= cut.step
        if first and died and not recorded:
            # What it may have written is known from this driver, which read the same rows first.
            unrecorded = _run(recording, replace(cut, generation=died[-1]), lineage, contexts)
            yield replace(unrecorded, kept=False, interrupted=True)
        replayed = _run(recording, cut, lineage, contexts)
        later = ordered[index + 1 :]
        kept = all(entry.step > cut.step for entry in later)
        newest = not later or later[0].generation > cut.generation
        lineage.states[cut.step] = replayed.result.stored
        yield replace(replayed, kept=kept, interrupted=newest and not kept)


def _run(recording: Recording, cut: Cut, lineage: _Lineage, contexts: Contexts) -> Replayed:
    stored = lineage.before(cut)
    context = contexts(cut.shard, cut.generation)
    _check_complete(recording, cut, context)
    header = open_shard(stored).header if stored is not None else ShardHeader()
    silent: ShardResult | None = None
    rows = recording.between(header.positions, cut.begin)
    if rows:
        before = contexts(cut.shard, header.generation) if header.generation else context
        silent = _run_silent(stored, rows, (before, context), cut)
        stored = silent.stored
    rows = recording.between(cut.begin, cut.positions)
    result = run_shard(stored, rows, replace(context, first_run=stored is None))
    return Replayed(cut, result, silent)


def _run_silent(
    stored: StoredShard | None,
    rows: Sequence[RawRecord],
    contexts: tuple[ShardContext, ShardContext],
    cut: Cut,
) -> ShardResult:
    before, after = (replace(context, first_run=stored is None) for context in contexts)
    try:
        result = run_shard(stored, rows, before)
    except HigherGenerationError:
        # Only while the shard has no group can a new driver's first batch decide nothing.
        result = run_shard(stored, rows, after)
    if result.counts.get("decisions"):
        raise ReplayError(
            f"shard {cut.shard}: what was read before step {cut.step} of generation "
            f"{cut.generation} leads to decisions, but none was recorded"
        )
    return result


def _check_complete(recording: Recording, cut: Cut, context: ShardContext) -> None:
    for topic in sorted(cut.positions):
        if context.topics.suffix(topic) not in _COMPLETE:
            continue
        for partition, stop in cut.positions[topic].items():
            log = recording.logs.get((topic, partition), ())
            if len(log) < stop or log[stop - 1].offset != stop - 1:
                raise ReplayError(
                    f"{topic}, partition {partition}: the recording does not hold every row "
                    f"below {stop}, which step {cut.step} of shard {cut.shard} had read"
                )


def _cut(plain: dict[str, Any]) -> Cut:
    place = plain["generation"], plain["shard"], plain["step"]
    return Cut(*place, _positions(plain["positions"]), _positions(plain["begin"]))


def _positions(plain: dict[str, dict[str, int]]) -> dict[str, dict[int, int]]:
    return {
        topic: {int(partition): offset for partition, offset in ends.items()}
        for topic, ends in plain.items()
    }


def _offset(row: RawRecord) -> int:
    return row.offset
