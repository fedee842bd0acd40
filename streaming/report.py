"""What one shard tells the driver of one batch: numbers for the metrics, lines for the log.

It travels as the last output row of the shard, because nothing else comes back from a worker with
the batch that it belongs to.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import orjson

from fairlead.core.model import Epoch
from fairlead.engine.context import DecisionSummary, ShardResult
from streaming.ages import Ages, ages_at

_FAILURES_MAX: Final = 5
_DECIDED_MAX: Final = 20
"""So many decisions of one shard and batch have a line each; a restart decides on every group."""
_TRACEBACK_CHARACTERS_MAX: Final = 4_000


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A step that failed for one group, which was set back to before the batch."""

    group: str
    error: str
    traceback: str


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The counts of a batch by the names of ``fairlead.engine``, and the first few failures.

    ``ages``: how old the records were that it read, by kind. ``tries_before``: how often its task
    had failed in this batch. ``decided``: the first decisions of ``decided_in_all``.
    """

    counts: Mapping[str, int]
    failures: tuple[FailureReport, ...]
    ages: Mapping[str, Ages]
    tries_before: int
    decided: tuple[DecisionSummary, ...]
    decided_in_all: int


def write_report(result: ShardResult, now_ms: int, tries_before: int = 0) -> bytes:
    """Return the value of the report's row, written at this time of the worker's wall clock."""
    ages = {kind: ages_at(now_ms, times) for kind, times in result.append_times.items()}
    failures = [
        (each.group, each.error, each.traceback[-_TRACEBACK_CHARACTERS_MAX:])
        for each in result.failures[:_FAILURES_MAX]
    ]
    body = {
        "counts": dict(result.counts),
        "failures": failures,
        "ages": {kind: (each.numbers, each.sum_ms) for kind, each in ages.items()},
        "tries_before": tries_before,
        "decided": [_told(each) for each in result.decided[:_DECIDED_MAX]],
        "decided_in_all": len(result.decided),
    }
    return orjson.dumps(body)


def _told(decided: DecisionSummary) -> dict[str, object]:
    return {**asdict(decided), "epoch": list(decided.epoch)}


def read_report(text: str) -> ShardReport:
    """Read what `write_report` wrote."""
    body = orjson.loads(text)
    failures = tuple(FailureReport(*failure) for failure in body["failures"])
    ages = {kind: Ages(tuple(numbers), sum_ms) for kind, (numbers, sum_ms) in body["ages"].items()}
    decided = tuple(
        DecisionSummary(
            each["group"],
            Epoch(*each["epoch"]),
            tuple(each["triggers"]),
            each["moves"],
            each["phase"],
            tuple(each["alarms"]),
        )
        for each in body["decided"]
    )
    return ShardReport(
        body["counts"], failures, ages, body["tries_before"], decided, body["decided_in_all"]
    )
