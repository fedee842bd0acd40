"""A shard's report of one batch to the driver: numbers for the metrics, lines for the log.

It is the last output row of the shard, because a worker can return nothing else together with its
batch.
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
"""The most decisions that are logged per shard and batch; a restart decides on every group."""
_TRACEBACK_CHARACTERS_MAX: Final = 4_000


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A step that failed for one group, which keeps its state from before the batch."""

    group: str
    error: str
    traceback: str


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The counts of a batch by the words of ``fairlead.engine``, and the first few failures.

    ``ages``: the ages of the records it read, by kind. ``tries_before``: how often its task had
    failed in this batch. ``decided``: the first of ``decided_in_all`` decisions.
    """

    counts: Mapping[str, int]
    failures: tuple[FailureReport, ...]
    ages: Mapping[str, Ages]
    tries_before: int
    decided: tuple[DecisionSummary, ...]
    decided_in_all: int


def write_report(result: ShardResult, now_ms: int, tries_before: int = 0) -> bytes:
    """Return the value of the report's row; ``now_ms`` is the worker's wall clock."""
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
        "decided": [_decision_json(each) for each in result.decided[:_DECIDED_MAX]],
        "decided_in_all": len(result.decided),
    }
    return orjson.dumps(body)


def _decision_json(decided: DecisionSummary) -> dict[str, object]:
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
