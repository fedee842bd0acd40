"""What a job wrote against what a replay of its recording writes, byte for byte.

What decisions carry is compared in order, per topic partition and shard, since one task writes a
shard's records in order while shards interleave freely. A batch that is written twice (a task is
tried again) is found and counted; of the batch in which a driver died, any beginning may have been
written. Dead letters and the notices that go with them depend on the refused row alone: they are
compared as sets.

Shards are run one after the other, and what was written is read as the replay comes to it: nothing
is held of a long recording but its cuts, its refusals and the states that later cuts start from.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Cut
from fairlead.engine.context import ShardContext
from fairlead.replay.difference import Difference, difference_of
from fairlead.replay.output_log import (
    Content,
    Outputs,
    Survey,
    Written,
    WrittenInMemory,
    is_refusal,
    survey,
)
from fairlead.replay.output_streams import Streams
from fairlead.replay.recorded_log import RecordedLog
from fairlead.replay.shard_replay import (
    Contexts,
    Replayed,
    ReplayError,
    lineages_of,
    replay_shard,
    run_rest,
)
from fairlead.replay.unordered_match import AnyOrder

__all__ = [
    "Comparison",
    "Content",
    "Difference",
    "NotCompared",
    "Written",
    "compare",
    "compare_outputs",
]


class NotCompared(NamedTuple):
    """What drivers of a shard wrote and cannot be run again, and why."""

    shard: int
    generations: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, and the first difference if there is one.

    ``cuts`` and ``generations`` are those recorded, ``records`` those read back. ``resent``
    records were written more than once, ``unwritten`` ones died with their driver, ``undecided``
    ones are the last of their driver, of a batch whose decision was not read. ``others`` asked for
    something where engines ask too: members, producers, operators. ``not_compared``: what drivers
    wrote whose state began where nothing was recorded.
    """

    cuts: int
    generations: int
    records: int
    resent: int = 0
    unwritten: int = 0
    undecided: int = 0
    others: int = 0
    difference: Difference | None = None
    not_compared: tuple[NotCompared, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the job wrote what the replay writes."""
        return self.difference is None


Watch = Callable[[Replayed], None]
"""Is shown each cut after it was run again."""


def compare(recording: RecordedLog, written: Iterable[Written], contexts: Contexts) -> Comparison:
    """Replay a recording by the decisions among what was written, and compare all of it.

    Args:
        recording: everything that stood in the input topics.
        written: everything that stood in the output topics.
        contexts: what each shard was run under by each generation.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    outputs = WrittenInMemory(written)
    return compare_outputs(recording, outputs, contexts, survey(outputs, contexts(0, 1)))


def compare_outputs(
    recording: RecordedLog,
    outputs: Outputs,
    contexts: Contexts,
    found: Survey,
    *,
    watch: Watch = lambda _: None,
    running: bool = False,
) -> Comparison:
    """Replay a recording and compare it with what was written.

    Args:
        recording: the input topics.
        outputs: the output topics.
        contexts: what each shard was run under by each generation.
        found: what a pass over the outputs found.
        watch: is shown each cut.
        running: the engine ran while the topics were read, so the last cut of each shard may have
            been on its way.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    context = contexts(0, 1)
    runs, left_out = _runs(recording, contexts, found, context.partitions.shards)
    compared = [cut for cuts in runs.values() for cut in cuts]
    generations = len({cut.generation for cut in compared})
    result = Comparison(len(compared), generations, found.records, not_compared=left_out)
    if found.foreign is not None:
        return replace(result, difference=difference_of(found.foreign, None))
    refused = AnyOrder()
    for shard in range(context.partitions.shards):
        left = frozenset(number for each in left_out if each.shard == shard for number in each[1])
        streams = Streams(outputs, shard, contexts(shard, 1), found, left)
        kept: Replayed | None = None
        cuts = runs[shard]
        for replayed in replay_shard(recording, cuts, contexts, sorted(found.drivers)):
            watch(replayed)
            kept = replayed if replayed.kept else kept
            on_its_way = running and replayed.cut is cuts[-1]
            entry = replace(replayed, interrupted=True) if on_its_way else replayed
            refused.take(entry, context)
            difference = streams.expect(entry)
            if difference is not None:
                return replace(result, difference=difference)
        _take_rest(refused, recording, kept, contexts(shard, 1), contexts)
        difference = streams.finish()
        if difference is not None:
            return replace(result, difference=difference)
        result = replace(
            result,
            resent=result.resent + streams.resent,
            unwritten=result.unwritten + streams.unwritten,
            undecided=result.undecided + streams.undecided,
            others=result.others + streams.others,
        )
    # Of what was not run again nobody knows what was refused.
    known = filter(refused.knows, found.refusals) if left_out else found.refusals
    return replace(result, difference=refused.compare(known))


def _runs(
    recording: RecordedLog, contexts: Contexts, found: Survey, shards: int
) -> tuple[dict[int, list[Cut]], tuple[NotCompared, ...]]:
    """Return the cuts of each shard that can be run again, and what is left out.

    Raises:
        ReplayError: none can.
    """
    runs: dict[int, list[Cut]] = {}
    left_out: list[NotCompared] = []
    for shard in range(shards):
        runs[shard], broken = lineages_of(recording, found.cuts_of(shard), contexts)
        left_out += [NotCompared(shard, tuple(numbers), reason) for numbers, reason in broken]
    if left_out and not any(runs.values()):
        raise ReplayError(left_out[0].reason)
    return runs, tuple(left_out)


def _take_rest(
    refused: "AnyOrder",
    recording: RecordedLog,
    kept: Replayed | None,
    context: ShardContext,
    contexts: Contexts,
) -> None:
    stored: StoredShard | None = None
    if kept is not None:
        stored = kept.result.stored
        context = contexts(context.shard, kept.cut.generation)
    for record in run_rest(recording, stored, context, contexts):
        if is_refusal(record, context):
            refused.add(record, interrupted=True)
