"""S6, S7 and S13: the recording run again, with the rows of each batch in another order."""

from collections.abc import Callable
from typing import Final

from fairlead.engine.drivers import UnknownStrategiesError
from fairlead.recording.log import FolderLog
from fairlead.replay.comparison import Comparison, Difference, NotCompared
from fairlead.replay.field_difference import first_field
from fairlead.replay.recorded_log import Places
from fairlead.replay.shard_replay import Replayed, ReplayError
from fairlead.verify.replaying import Replay, compacted_away
from fairlead.verify.verdicts import Docket, Evidence
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
"""What a shard's state may need, and more for each member, queue and group ever seen."""

_NUMBERS: Final = ("S6", "S7", "S13")


class _OtherOrder(FolderLog):
    """A recorded log that gives the rows of each stretch back to front."""

    def between(self, begin: Places, end: Places) -> list[RawRecord]:
        """Return the rows from one cut's positions up to another's, the newest first."""
        return super().between(begin, end)[::-1]


def judge_replay(
    replay: Replay, docket: Docket, seen: Callable[[], int], watch: Callable[[Replayed], None]
) -> dict[str, int]:
    """Run everything again; return counts of what was compared.

    Args:
        replay: ready to be run.
        docket: takes what is found.
        seen: how many members, queues and groups were ever seen.
        watch: is shown each cut.

    Raises:
        RecordingError: the recording is damaged.
    """
    states = _States()

    def look(entry: Replayed) -> None:
        states.look(entry)
        watch(entry)

    try:
        comparison = replay.run(look, _OtherOrder)
    except UnknownStrategiesError as error:
        names = ", ".join(error.missing)
        for number in _NUMBERS:
            reason = f"generation {error.generation} had {names}, not known here (--config)"
            docket.excuse(number, reason)
        return {}
    except ReplayError as error:
        gaps = replay.recording.gaps()
        for number in _NUMBERS:
            docket.excuse(number, f"it cannot be run again: {error}")
        if not gaps:
            docket.find("S6", str(error))
        return {}
    _judge_comparison(replay, comparison, docket)
    if states.looks:
        allowed = STATE_BYTES + STATE_BYTES_EACH * seen()
        docket.look("S13", "states of shards", states.looks)
        if states.bytes_max > allowed:
            text = f"the state of a shard grew to {states.bytes_max:,} bytes, above {allowed:,}"
            docket.find("S13", text)
    return {
        "replayed": comparison.cuts,
        "resent": comparison.resent,
        "unwritten": comparison.unwritten,
        "undecided": comparison.undecided,
        "requests_of_others": comparison.others,
        "state_bytes_max": states.bytes_max,
    }


def _judge_comparison(replay: Replay, comparison: Comparison, docket: Docket) -> None:
    if replay.untold:
        numbers = ", ".join(map(str, replay.untold))
        reason = f"the claims of generations {numbers} tell no settings: those given were taken"
        docket.excuse("S6", reason)
    for part in comparison.not_compared:
        docket.excuse("S6", not_compared_text(part))
    docket.look("S6", "records", comparison.records)
    docket.look("S6", "batches with a decision", comparison.cuts)
    found = comparison.difference
    compacted = [] if found is None else compacted_away(replay.recording, found)
    if found is not None and compacted:
        text = difference_text(found)
        docket.clear("S6")
        docket.excuse("S6", f"{text}, but these were compacted: {', '.join(compacted)}")
    elif found is not None:
        docket.find("S6", *_difference(found))
        docket.excuse("S7", "the replay differs, see S6")
    else:
        docket.look("S7", "batches with their rows in another order", comparison.cuts)


class _States:
    """The size of the greatest state of a shard."""

    def __init__(self) -> None:
        self.bytes_max = self.looks = 0

    def look(self, entry: Replayed) -> None:
        self.looks += 1
        stored = entry.result.stored
        self.bytes_max = max(self.bytes_max, len(stored.body) + len(stored.liveness))


def not_compared_text(part: NotCompared) -> str:
    """Say of whom nothing is compared, and why."""
    numbers = ", ".join(map(str, part.generations))
    return f"not compared: generations {numbers} in shard {part.shard}: {part.reason}"


def difference_text(found: Difference) -> str:
    """Return the first difference of a replay in one sentence."""
    expected = found.expected and found.expected.value
    got = found.got and found.got.value
    if found.offset is None:
        return f"{found.topic}/{found.partition} lacks a record that the replay writes"
    place = f"{found.topic}/{found.partition}@{found.offset}"
    if found.expected is None:
        return f"{place} is a record that the replay does not write"
    field = first_field(expected, got)
    where = f" at {field.path}" if field.path else ""
    return f"{place} differs from the replay{where}: {_short(field.expected)} expected"


def _difference(found: Difference) -> tuple[str, *tuple[Evidence, ...]]:
    place = f"{found.topic}/{found.partition}@{'end' if found.offset is None else found.offset}"
    expected = found.expected and found.expected.value
    got = found.got and found.got.value
    field = first_field(expected, got)
    proof = [Evidence(place, f"got {_short(field.got)}, expected {_short(field.expected)}")]
    if found.cut is not None:
        cut = found.cut
        text = f"shard {cut.shard}, generation {cut.generation}, step {cut.step}"
        proof.append(Evidence("the replay", f"writes it in {text}"))
    return difference_text(found), *proof


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[:_TEXT_MAX]}…"


_TEXT_MAX: Final = 200
