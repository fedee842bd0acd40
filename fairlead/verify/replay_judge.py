"""S6, S7 and S13: run the recording again, with the rows of each batch in another order."""

from collections.abc import Callable
from typing import Final

from fairlead.engine.drivers import UnknownStrategiesError
from fairlead.recording.log import FolderLog
from fairlead.replay.comparison import Comparison, Difference, NotCompared
from fairlead.replay.field_difference import first_field
from fairlead.replay.recorded_log import Places
from fairlead.replay.shard_replay import Replayed, ReplayError
from fairlead.verify.replaying import Replay, compacted_away
from fairlead.verify.verdicts import Evidence, Verdicts
from fairlead.wire.raw import RawRecord

__all__ = [
    "STATE_BYTES",
    "STATE_BYTES_EACH",
    "difference_text",
    "judge_replay",
    "not_compared_text",
]

STATE_BYTES: Final = 64 * 1024
STATE_BYTES_EACH: Final = 4 * 1024
"""A shard's state may need STATE_BYTES, and STATE_BYTES_EACH for each member, queue and group."""

_NUMBERS: Final = ("S6", "S7", "S13")


class _OtherOrder(FolderLog):
    """A recorded log that returns the rows of each batch in reverse."""

    def between(self, begin: Places, end: Places) -> list[RawRecord]:
        """Return the rows between two cuts, the newest first."""
        return super().between(begin, end)[::-1]


def judge_replay(
    replay: Replay, verdicts: Verdicts, seen: Callable[[], int], watch: Callable[[Replayed], None]
) -> dict[str, int]:
    """Run every batch again; return counts.

    Args:
        replay: the recording to run.
        verdicts: collects the findings.
        seen: returns how many members, queues and groups the recording has.
        watch: called with each batch.

    Raises:
        RecordingError: the recording is damaged.
    """
    states = _States()

    def measure_and_watch(entry: Replayed) -> None:
        states.measure(entry)
        watch(entry)

    try:
        comparison = replay.run(measure_and_watch, _OtherOrder)
    except UnknownStrategiesError as error:
        names = ", ".join(error.missing)
        for number in _NUMBERS:
            reason = f"generation {error.generation} used {names}, which is unknown here (--config)"
            verdicts.excuse(number, reason)
        return {}
    except ReplayError as error:
        gaps = replay.recording.gaps()
        for number in _NUMBERS:
            verdicts.excuse(number, f"the recording cannot run again: {error}")
        if not gaps:
            verdicts.add_finding("S6", str(error))
        return {}
    _judge_comparison(replay, comparison, verdicts)
    if states.count:
        allowed = STATE_BYTES + STATE_BYTES_EACH * seen()
        verdicts.count("S13", "states of shards", states.count)
        if states.bytes_max > allowed:
            text = f"the state of a shard grew to {states.bytes_max:,} bytes, above {allowed:,}"
            verdicts.add_finding("S13", text)
    return {
        "replayed": comparison.cuts,
        "resent": comparison.resent,
        "unwritten": comparison.unwritten,
        "undecided": comparison.undecided,
        "requests_of_others": comparison.others,
        "state_bytes_max": states.bytes_max,
    }


def _judge_comparison(replay: Replay, comparison: Comparison, verdicts: Verdicts) -> None:
    if replay.untold:
        numbers = ", ".join(map(str, replay.untold))
        reason = f"the claims of generations {numbers} have no settings: the replay used its own"
        verdicts.excuse("S6", reason)
    for part in comparison.not_compared:
        verdicts.excuse("S6", not_compared_text(part))
    verdicts.count("S6", "records", comparison.records)
    verdicts.count("S6", "batches with a decision", comparison.cuts)
    first = comparison.difference
    compacted = [] if first is None else compacted_away(replay.recording, first)
    if first is not None and compacted:
        text = difference_text(first)
        verdicts.clear("S6")
        verdicts.excuse("S6", f"{text}, which compaction may explain: {', '.join(compacted)}")
    elif first is not None:
        verdicts.add_finding("S6", *_difference(first))
        verdicts.excuse("S7", "the replay differs: see S6")
    else:
        verdicts.count("S7", "batches in another order of rows", comparison.cuts)


class _States:
    """The size of the largest state of any shard."""

    def __init__(self) -> None:
        self.bytes_max = self.count = 0

    def measure(self, entry: Replayed) -> None:
        self.count += 1
        stored = entry.result.stored
        self.bytes_max = max(self.bytes_max, len(stored.body) + len(stored.liveness))


def not_compared_text(part: NotCompared) -> str:
    """Return the text about generations that the replay does not compare, and why."""
    numbers = ", ".join(map(str, part.generations))
    return f"not compared: generations {numbers} in shard {part.shard}: {part.reason}"


def difference_text(difference: Difference) -> str:
    """Return the first difference of a replay in one sentence."""
    expected = difference.expected and difference.expected.value
    got = difference.got and difference.got.value
    if difference.offset is None:
        return f"{difference.topic}/{difference.partition} lacks a record that the replay writes"
    place = f"{difference.topic}/{difference.partition}@{difference.offset}"
    if difference.expected is None:
        return f"the replay does not write the record at {place}"
    field = first_field(expected, got)
    where = f" at {field.path}" if field.path else ""
    return f"{place} differs from the replay{where}: {_short(field.expected)} expected"


def _difference(difference: Difference) -> tuple[str, *tuple[Evidence, ...]]:
    offset = "end" if difference.offset is None else difference.offset
    place = f"{difference.topic}/{difference.partition}@{offset}"
    expected = difference.expected and difference.expected.value
    got = difference.got and difference.got.value
    field = first_field(expected, got)
    proof = [Evidence(place, f"got {_short(field.got)}, expected {_short(field.expected)}")]
    if difference.cut is not None:
        cut = difference.cut
        text = f"shard {cut.shard}, generation {cut.generation}, step {cut.step}"
        proof.append(Evidence("the replay", f"writes it in {text}"))
    return difference_text(difference), *proof


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[:_TEXT_MAX]}…"


_TEXT_MAX: Final = 200
