"""What one shard tells the driver of one batch: counts for the metrics, failures for the log.

It travels as the last output row of the shard, because nothing else comes back from a worker with
the batch that it belongs to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from fairlead.engine import ShardResult

_FAILURES_MAX: Final = 5
_TRACEBACK_CHARACTERS_MAX: Final = 4_000


@dataclass(frozen=True, slots=True)
class FailureReport:
    """A step that failed for one group, which was set back to before the batch."""

    group: str
    error: str
    traceback: str


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The counts of a batch by the names of ``fairlead.engine``, and the first few failures."""

    counts: Mapping[str, int]
    failures: tuple[FailureReport, ...]


def write_report(result: ShardResult) -> bytes:
    """Return the value of the report's row."""
    failures = [
        (each.group, each.error, each.traceback[-_TRACEBACK_CHARACTERS_MAX:])
        for each in result.failures[:_FAILURES_MAX]
    ]
    return orjson.dumps({"counts": dict(result.counts), "failures": failures})


def read_report(text: str) -> ShardReport:
    """Read what `write_report` wrote."""
    body = orjson.loads(text)
    failures = tuple(FailureReport(*failure) for failure in body["failures"])
    return ShardReport(body["counts"], failures)
