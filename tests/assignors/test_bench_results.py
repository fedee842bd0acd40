"""Figures are held against each other and against what must hold, and shown to whoever ran them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson
import pytest
from fairlead_proof.bench.assignors import run
from fairlead_proof.bench.assignors.contestant import Answer, Contestant, ours
from fairlead_proof.bench.assignors.grid import Point, Run, Subscriptions
from fairlead_proof.bench.assignors.outcome import Outcome
from fairlead_proof.bench.assignors.results import Figure, Results
from fairlead_proof.cli import bench_strategies

from fairlead.cli.main import main
from fairlead.errors import ExitCode

EVEN: Final = Outcome(moved=5, loads=(2, 2, 2), topic_spread=1)
STICKY: Final = ours("STICKY", sticky=True)
UNIFORM: Final = Contestant("UNIFORM", "uniform", (), sticky=True, is_ours=False)
RANGE: Final = Contestant("RANGE", "range", (), sticky=False, is_ours=False)
SECONDS: Final = 120.0


def _figure(
    contestant: Contestant,
    ms: float | None,
    outcome: Outcome = EVEN,
    *,
    point: Point | None = None,
    settled_by: str | None = "UNIFORM",
) -> Figure:
    where = point or Point(1_000, 10, 100, "equal", "join")
    if ms is None:
        return Figure(where, contestant, settled_by)
    answer = Answer((), clock_ms=2 * ms, processor_ms=ms, runs=5, warm_ups=3, rounds=1)
    return Figure(where, contestant, settled_by, answer, outcome, 5)


def _held(*figures: Figure) -> dict[str, bool | None]:
    """Which targets hold, without those that were not measured."""
    targets = Results(figures, 10_000.0).targets
    return {target.name: target.holds for target in targets if target.holds is not None}


@pytest.mark.parametrize(
    "members, subscriptions, run_, ms_max",
    [
        (1_000, "equal", "full", 50.0),
        (1_000, "overlapping", "join", 250.0),
        (10_000, "equal", "full", 500.0),
        (10_000, "equal", "join", 100.0),
        (10_000, "buckets", "full", 5_000.0),
        (10_000, "overlapping", "join", 1_000.0),
    ],
)
def test_each_size_and_run_has_its_longest_time(
    members: int, subscriptions: Subscriptions, run_: Run, ms_max: float
) -> None:
    """Each size, kind and run has its longest time; the slowest of its figures decides."""
    point = Point(members, 10, 100, subscriptions, run_)
    kind = "equal" if subscriptions == "equal" else "unequal"
    name = f"ms: {kind}, {members:,} members, {members * 10:,} queues, {run_}"
    quick = _figure(STICKY, 1.0, point=replace(point, topics=10))
    assert _held(quick, _figure(STICKY, ms_max, point=point))[name] is True
    assert _held(quick, _figure(STICKY, ms_max + 0.1, point=point))[name] is False
    assert _held(quick, _figure(STICKY, None, point=point))[name] is False
    assert _held(_figure(UNIFORM, 1.0, point=point)) == {}


@pytest.mark.parametrize(
    "theirs, held",
    [
        (EVEN, [True, True]),
        (Outcome(5, (3, 2, 1), 1), [True, True]),
        (Outcome(4, (3, 2, 1), 1), [True, True]),
        (Outcome(4, (2, 2, 2), 9), [True, False]),
    ],
)
def test_fewer_moves_count_only_at_the_same_loads(theirs: Outcome, held: list[bool]) -> None:
    """Fewer moves of a rival count at the same loads, and at no others."""
    name = "ms: equal, 1,000 members, 10,000 queues, join"
    found = _held(_figure(STICKY, 1.0), _figure(UNIFORM, 1.0, theirs))
    assert list(found.values()) == [True, *held]
    assert name in found
    uneven = _figure(STICKY, 1.0, Outcome(0, (4, 1, 1), 1))
    assert list(_held(uneven, _figure(UNIFORM, 1.0)).values()) == [True, False, True]


def test_rivals_had_the_same_owners() -> None:
    """Groups that different strategies had settled are not held against each other."""
    own = _figure(STICKY, 1.0, Outcome(9, (4, 1, 1), 1), settled_by="STICKY")
    assert len(_held(own, _figure(UNIFORM, 1.0), _figure(RANGE, 1.0, settled_by="RANGE"))) == 1


def test_the_ratio_is_our_time_over_that_of_each_assignor() -> None:
    """Our time from Kafka's owners over that of each of Kafka's assignors, and of them alone."""
    own = _figure(STICKY, 7.0, settled_by="STICKY")
    rivals = (_figure(UNIFORM, 0.5), _figure(RANGE, 4.0, settled_by="RANGE"))
    results = Results((own, *rivals, _figure(STICKY, 8.0), _figure(UNIFORM, None)), 10_000.0)
    assert [results.ratio(figure) for figure in results.figures] == [None, 16.0, 2.0, None, None]
    rows = list(results.rows())
    assert [row["ours_to_theirs"] for row in rows] == [None, 16.0, 2.0, None, None]
    assert (rows[-1]["beyond_limit"], rows[-1]["processor_ms"]) == (True, None)


def _shown(
    figures: Sequence[Figure], folder: Path, monkeypatch: pytest.MonkeyPatch, *flags: str
) -> object:
    """Run the command with these figures as measured; return its exit code."""
    monkeypatch.setattr(run, "run_strategy_bench", lambda *_: iter(figures))
    monkeypatch.setattr(bench_strategies, "stop_once_on_signals", lambda: None)
    with pytest.raises(SystemExit) as end:
        main(["proof", "bench-strategies", "--report", str(folder / "report.json"), *flags])
    return end.value.code


@pytest.mark.java
@pytest.mark.parametrize("ms, code", [(50.0, ExitCode.OK), (51.0, ExitCode.VERDICT_NEGATIVE)])
def test_the_check_turns_the_verdict_into_the_exit_code(
    ms: float,
    code: ExitCode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The exit code is the verdict if that is asked for; the table has a row for each figure."""
    figures = (_figure(UNIFORM, 0.25), _figure(STICKY, ms), _figure(RANGE, None))
    assert _shown(figures, tmp_path, monkeypatch) == ExitCode.OK
    assert _shown(figures, tmp_path, monkeypatch, "--check") == code
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "1,000 members, 10,000 queues, 100 topics, equal, join" in lines
    assert f"UNIFORM UNIFORM 0.25 0.5 5 {ms / 0.25:.0f} 5 5 0 1 12" in lines
    assert "RANGE UNIFORM - > 10,000 - - - - - - -" in lines
    document = orjson.loads((tmp_path / "report.json").read_bytes())
    assert document["passed"] is (code == ExitCode.OK)
    assert document["cores"] >= 1


@pytest.mark.parametrize(
    "flags, message",
    [
        (("--members", "1"), "--members: '1' is not a list of numbers of at least 2."),
        (("--topics", "10,x"), "--topics: '10,x' is not a list of numbers"),
        (("--runs", "leave"), "--runs: 'leave' is unknown."),
        (("--members", "2", "--topics", "100"), "--topics: no topic would have a queue."),
    ],
)
def test_a_flag_that_makes_no_sense_is_refused_by_name(
    flags: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flag that makes no sense is refused by its name before anything is started."""
    with pytest.raises(SystemExit) as end:
        main(["proof", "bench-strategies", *flags])
    assert end.value.code == ExitCode.USAGE
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.timeout(SECONDS + 60)
def test_a_small_grid_leaves_nothing_but_the_report(tmp_path: Path) -> None:
    """A small grid is measured by the real parts, and nothing is left behind but the report."""
    report, temporary = tmp_path / "report.json", tmp_path / "tmp"
    temporary.mkdir()
    flags = ["--members", "20", "--topics", "4", "--subscriptions", "buckets", "--seconds", "0"]
    ended = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "fairlead",
                "proof",
                "bench-strategies",
                *flags,
                "--runs",
                "join",
            ),
            *("--report", str(report), "-o", "json", "--check"),
        ],
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == ExitCode.OK, ended.stderr.decode()
    (document,) = orjson.loads(ended.stdout)
    assert document.items() <= orjson.loads(report.read_bytes()).items()
    figures = document["figures"]
    assert [(row["contestant"], row["settled_by"]) for row in figures] == [
        ("UNIFORM", "UNIFORM"),
        ("RANGE", "RANGE"),
        ("COOPERATIVE_STICKY", "UNIFORM"),
        ("STICKY", "UNIFORM"),
        ("STICKY", "STICKY"),
        ("AVG", "AVG"),
        ("CONSISTENT_HASH", "CONSISTENT_HASH"),
    ]
    assert [row["moved"] for row in figures[3:5]] == [row["least"] for row in figures[3:5]]
    assert all(row["ours_to_theirs"] > 0 for row in figures[:3])
    assert all(row["runs"] == 3 for row in figures[:5])
    assert b"1 of 1: 20 members, 200 queues, 4 topics, buckets, join" in ended.stderr
    assert list(temporary.iterdir()) == []
