"""Figures are summed up one way, and compared with what must hold."""

import json
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from fairlead_proof.bench import run
from fairlead_proof.bench.changes import Change, LogTimes
from fairlead_proof.bench.percentiles import summarise
from fairlead_proof.bench.results import Results
from fairlead_proof.cli import bench

from fairlead.cli.main import main
from fairlead.core.model import Epoch, MessageQueue
from fairlead.errors import ExitCode


def _change(kind: str, total_ms: float) -> Change:
    assert kind in ("join", "leave")
    return Change(
        kind="join" if kind == "join" else "leave",
        client_id="a",
        begun_ns=0,
        adopted_ns=round(total_ms * 1e6),
        wall_ahead_ns=0,
        queues=4,
        last_queue=MessageQueue("orders", "main", 0),
        last_epoch=Epoch(1, 1),
        decisions=(),
    )


def _results(
    *totals_ms: float,
    batch_ms: float = 200.0,
    start_ms: float = 9_000.0,
    gap_ms: float = 20.0,
    crash_ms: float = 14_000.0,
) -> Results:
    changes = [_change(kind, total) for total in totals_ms for kind in ("leave", "join")]
    starts = {"with the archive": [8_000.0, start_ms], "without the archive": [19_000.0]}
    batches = {"total": [batch_ms] * 3, "commit": [20.0] * 3}
    return Results.of(
        changes,
        LogTimes(),
        batches,
        0.25,
        starts,
        gaps_ms=[10.0, gap_ms, 400.0],
        crashes_ms=[13_100.0, crash_ms],
        waits_ms=13_000.0,
    )


def test_a_percentile_is_a_measured_value() -> None:
    """A percentile is a value that was measured: the nearest rank."""
    summary = summarise([float(n) for n in range(1, 101)])
    assert (summary.n, summary.p50, summary.p95, summary.max) == (100, 50.0, 95.0, 100.0)
    assert summarise([7.0]).p95 == 7.0


def test_a_run_that_measured_nothing_fails() -> None:
    """No values have no percentile: a run that measured nothing fails."""
    with pytest.raises(ValueError, match="no values"):
        summarise([])
    with pytest.raises(ValueError, match="no batch"):
        Results.of([_change("join", 1.0)], LogTimes(), {}, at_rest=0.0, starts={})


@pytest.mark.parametrize(
    "totals, figures, broken",
    [
        ((400.0, 410.0), {}, None),
        ((470.0, 480.0), {}, "p50, against the run's own batches"),
        ((510.0, 600.0), {"batch_ms": 400.0}, "p50"),
        ((400.0, 910.0), {}, "p95"),
        ((400.0, 410.0), {"gap_ms": 51.0}, "gap of a moved queue, p50"),
        ((400.0, 410.0), {"crash_ms": 14_501.0}, "crash, p95, against lease and margin"),
        ((400.0, 410.0), {"start_ms": 11_000.0}, "each start with the archive"),
    ],
    ids=["all", "too_many_batches", "median", "tail", "gap", "crash", "start"],
)
def test_each_target_fails_alone(
    totals: tuple[float, ...], figures: dict[str, float], broken: str | None
) -> None:
    """Each target fails alone, and any one fails the run."""
    results = _results(*totals, **figures)
    missed = [target.name for target in results.targets if not target.holds]
    assert missed == ([] if broken is None else [broken])
    assert results.passed is (broken is None)


@pytest.mark.parametrize(
    "totals, code",
    [((400.0, 410.0), ExitCode.OK), ((400.0, 1_700.0), ExitCode.VERDICT_NEGATIVE)],
    ids=["others_hold", "another_fails"],
)
def test_a_target_that_was_not_measured_is_named(
    totals: tuple[float, ...],
    code: ExitCode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without starts their target is said to be not measured, and the others alone decide."""
    results = replace(_results(*totals, batch_ms=400.0), starts={})
    monkeypatch.setattr(run, "run_bench", lambda *_: results)
    monkeypatch.setattr(bench, "stop_once_on_signals", lambda: None)
    report = tmp_path / "bench.json"
    with pytest.raises(SystemExit) as end:
        main(["proof", "bench", "--check", "--starts", "0", "--report", str(report)])
    assert end.value.code == code
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "each start" in line)
    assert " ".join(line.split()) == "each start with the archive not measured 10000.0 -"
    assert orjson.loads(report.read_bytes())["targets"][-1] == {
        "name": "each start with the archive",
        "measured": None,
        "at_most": 10_000.0,
        "holds": None,
        "note": "not measured",
    }


def test_the_document_holds_every_figure_and_event() -> None:
    """The document holds every figure by name and every event on its own."""
    document = json.loads(json.dumps(_results(300.0, 320.0).to_json()))
    assert document["adopted"]["join"] == {"n": 2, "p50": 300.0, "p95": 320.0, "max": 320.0}
    assert {"waiting for the batch", "the batch", "client hops"} <= set(document["phases"])
    assert document["batches"]["total"]["p50"] == 200.0
    assert document["starts"]["without the archive"]["p50"] == 19_000.0
    assert document["engine_at_rest_cpu"] == 0.25
    assert document["gaps"]["p50"] == 20.0
    assert document["crashes"] == {"n": 2, "p50": 13_100.0, "p95": 14_000.0, "max": 14_000.0}
    assert [change["kind"] for change in document["changes"]] == ["leave", "join"] * 2
