"""The numbers of a batch, from what Spark tells: what is missing takes nothing else along."""

from typing import Any

import orjson
import pytest
from prometheus_client import generate_latest

from streaming.metrics import EngineMetrics
from streaming.progress import record_progress
from tests.kit.scrape import Scrape

REPORT = orjson.dumps(
    {
        "counts": {"decisions": 2, "rows/read": 5},
        "failures": [],
        "ages": {},
        "tries_before": 0,
        "decided": [],
        "decided_in_all": 0,
    }
).decode()
PROGRESS: dict[str, Any] = {
    "durationMs": {"triggerExecution": 250, "addBatch": 200},
    "sources": [{"endOffset": {"a": {"0": 5}}, "latestOffset": {"a": {"0": 7}}}],
    "stateOperators": [{"operatorName": "a", "numRowsTotal": 4, "memoryUsedBytes": 1_000}],
    "observedMetrics": {"shards": {"0": REPORT, "1": None}},
}
SHOWN = {
    "durationMs": ("fairlead_batch_duration_seconds_count", {"phase": "total"}, 1.0),
    "sources": ("fairlead_input_lag_records", {"topic": "a"}, 2.0),
    "stateOperators": ("fairlead_state_rows", {"operator": "a"}, 4.0),
    "observedMetrics": ("fairlead_decisions_total", None, 2.0),
}
"""Per key of the report, a number that comes from it."""


def _taken(progress: dict[str, Any]) -> dict[str, float]:
    metrics = EngineMetrics("4.0.1")
    record_progress(progress, metrics)
    page = Scrape(generate_latest(metrics.registry).decode())
    assert page.value("fairlead_batches_total", {"outcome": "committed"}) == 1
    return {key: page.value(sample, labels) for key, (sample, labels, _) in SHOWN.items()}


def test_each_part_of_a_report_is_shown() -> None:
    """Each part of a report is shown."""
    assert _taken(PROGRESS) == {key: number for key, (_, _, number) in SHOWN.items()}


@pytest.mark.parametrize("missing", PROGRESS)
def test_a_missing_part_of_a_report_is_left_out(missing: str) -> None:
    """A part that Spark leaves out is not there, and every other one is."""
    found = _taken({key: part for key, part in PROGRESS.items() if key != missing})
    assert found == {
        key: 0.0 if key == missing else number for key, (_, _, number) in SHOWN.items()
    }


def test_a_source_without_offsets_has_no_lag() -> None:
    """A source that does not tell how far it is has no lag, and the rest counts."""
    found = _taken({**PROGRESS, "sources": [{"description": "kafka"}]})
    assert (found["sources"], found["observedMetrics"]) == (0.0, 2.0)
