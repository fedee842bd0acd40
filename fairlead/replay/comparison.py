"""Compares what a job wrote with what a replay of its recording writes, byte for byte.

Records of decisions are compared in order, per topic partition and shard: one task writes a shard's
records in order, while shards interleave freely. A batch that was written twice (Spark retried the
task) counts as resent; of the batch in which a driver died, any beginning may have been written.
Dead letters and their notices depend on the refused row alone, and are compared as sets.

The replay runs one shard after the other and reads the output as it comes to it. Of a long
recording it holds only the cuts, the refusals and the states that later cuts start from.
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
from fairlead.replay.unordered_match import UnorderedMatch

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
    """Drivers of a shard whose output cannot be replayed, and why."""

    shard: int
    generations: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The counts of a comparison, and the first difference if there is one.

    ``cuts`` and ``generations`` are those in the recording, ``records`` the output records.
    ``resent`` records were written more than once, ``unwritten`` ones were lost with their driver,
    ``undecided`` ones belong to a driver's last batch, whose decision is missing. ``others`` are
    requests of members, producers and operators. ``not_compared``: drivers whose state began before
    the recording.
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
"""Gets each cut after its replay."""


def compare(recording: RecordedLog, written: Iterable[Written], contexts: Contexts) -> Comparison:
    """Replay a recording by the decisions in the output, and compare all output.

    Args:
        recording: all records of the input topics.
        written: all records of the output topics.
        contexts: the context of each shard and generation.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    outputs = WrittenInMemory(written)
    return compare_outputs(recording, outputs, contexts, survey(outputs, contexts(0, 1)))


def compare_outputs(
    recording: RecordedLog,
    outputs: Outputs,
    contexts: Contexts,
    surveyed: Survey,
    *,
    watch: Watch = lambda _: None,
    running: bool = False,
) -> Comparison:
    """Replay a recording and compare it with the output.

    Args:
        recording: the input topics.
        outputs: the output topics.
        contexts: the context of each shard and generation.
        surveyed: the result of a pass over the outputs.
        watch: gets each cut.
        running: the engine ran while the topics were read, so the last cut of each shard may be
            incomplete.

    Raises:
        ReplayError: rows or decisions are missing.
    """
    context = contexts(0, 1)
    runs, left_out = _runs(recording, contexts, surveyed, context.partitions.shards)
    compared = [cut for cuts in runs.values() for cut in cuts]
    generations = len({cut.generation for cut in compared})
    result = Comparison(len(compared), generations, surveyed.records, not_compared=left_out)
    if surveyed.foreign is not None:
        return replace(result, difference=difference_of(surveyed.foreign, None))
    refused = UnorderedMatch()
    for shard in range(context.partitions.shards):
        left = frozenset(number for each in left_out if each.shard == shard for number in each[1])
        streams = Streams(outputs, shard, contexts(shard, 1), surveyed, left)
        kept: Replayed | None = None
        cuts = runs[shard]
        for replayed in replay_shard(recording, cuts, contexts, sorted(surveyed.drivers)):
            watch(replayed)
            kept = replayed if replayed.kept else kept
            on_its_way = running and replayed.cut is cuts[-1]
            entry = replace(replayed, interrupted=True) if on_its_way else replayed
            refused.add_cut(entry, context)
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
    # The refusals of what was not replayed are unknown.
    known = filter(refused.knows, surveyed.refusals) if left_out else surveyed.refusals
    return replace(result, difference=refused.compare(known))


def _runs(
    recording: RecordedLog, contexts: Contexts, surveyed: Survey, shards: int
) -> tuple[dict[int, list[Cut]], tuple[NotCompared, ...]]:
    """Return the cuts of each shard that can be replayed, and what is left out.

    Raises:
        ReplayError: none can.
    """
    runs: dict[int, list[Cut]] = {}
    left_out: list[NotCompared] = []
    for shard in range(shards):
        runs[shard], broken = lineages_of(recording, surveyed.cuts_of(shard), contexts)
        left_out += [NotCompared(shard, tuple(numbers), reason) for numbers, reason in broken]
    if left_out and not any(runs.values()):
        raise ReplayError(left_out[0].reason)
    return runs, tuple(left_out)


def _take_rest(
    refused: "UnorderedMatch",
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
