"""``fairlead proof bench-strategies``: compares our strategies with Kafka's assignors."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import orjson
import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import CheckOption, OutputOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from fairlead_proof.bench.assignors.grid import Axes
    from fairlead_proof.bench.assignors.results import Results
    from fairlead_proof.bench.assignors.run import StrategyBenchOptions

_COLUMNS = (
    "contestant", "settled by", "processor ms", "clock ms", "runs", "ours / theirs",
    "moved", "least", "spread", "in a topic", "squares",
)  # fmt: skip
_HUNDRED, _TEN = 100, 10
Name = TypeVar("Name", bound=str)


MembersOption = Annotated[
    str | None, typer.Option("--members", help="Member counts, separated by commas: 1000,10000.")
]
QueuesPerMemberOption = Annotated[
    str | None,
    typer.Option("--queues-per-member", help="Queues for each member, separated by commas: 10."),
]
TopicsOption = Annotated[
    str | None, typer.Option("--topics", help="Topic counts, separated by commas: 100.")
]
SubscriptionsOption = Annotated[
    str | None,
    typer.Option(
        "--subscriptions", help="Any of equal, buckets and overlapping, separated by commas."
    ),
]
RunsOption = Annotated[
    str | None, typer.Option("--runs", help="Any of full and join, separated by commas.")
]


def bench_strategies(
    *,
    members: MembersOption = None,
    queues_per_member: QueuesPerMemberOption = None,
    topics: TopicsOption = None,
    subscriptions: SubscriptionsOption = None,
    runs: RunsOption = None,
    whole: Annotated[
        bool,
        typer.Option("--full", help="Run the whole grid of Kafka's own benchmark; takes hours."),
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", min=0, help="Seconds to warm each contestant up, and then to measure it."
        ),
    ] = 2.0,
    limit: Annotated[
        float,
        typer.Option(
            "--limit",
            min=0.1,
            help="Seconds one run may take; a longer run is stopped and counted as too slow.",
        ),
    ] = 10.0,
    check: CheckOption = False,
    report: Annotated[
        Path,
        typer.Option("--report", help="The JSON file for all figures, rewritten after each one."),
    ] = Path("bench-strategies.json"),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Compare our strategies with Kafka's own assignors on the same groups.

    Kafka's UniformAssignor, RangeAssignor and CooperativeStickyAssignor run from their released
    jars. Each contestant runs in its own process; a time is the median of its runs after warm-up.
    """
    from fairlead_proof.bench.assignors.grid import DEFAULT, RUNS, SUBSCRIPTIONS, WHOLE, Axes
    from fairlead_proof.bench.assignors.run import StrategyBenchOptions

    base = WHOLE if whole else DEFAULT
    axes = Axes(
        # A join needs at least two members.
        _numbers("--members", members, base.members, least=2),
        _numbers("--queues-per-member", queues_per_member, base.queues_per_member),
        _numbers("--topics", topics, base.topics),
        _names("--subscriptions", subscriptions, SUBSCRIPTIONS),
        _names("--runs", runs, RUNS),
    )
    _refuse_nothing(axes)
    results = _measured(StrategyBenchOptions(axes, seconds, limit), report)
    _show(results, report, output)
    if check and not results.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _measured(options: "StrategyBenchOptions", report: Path) -> "Results":
    """Measure, show the progress, and rewrite the report after each figure."""
    from rich.console import Console

    from fairlead.jars.progress import ConsoleProgress
    from fairlead_proof.bench.assignors.results import Figure, Results
    from fairlead_proof.bench.assignors.run import run_strategy_bench

    console = Console(stderr=True, highlight=False)
    begun = time.monotonic()

    def say(text: str) -> None:
        line = f"{time.monotonic() - begun:6.1f} s  {text}"
        console.print(line, markup=False, soft_wrap=True)

    stop_once_on_signals()
    figures: list[Figure] = []
    results = Results(figures, options.limit_s * 1_000)
    try:
        for figure in run_strategy_bench(options, say, ConsoleProgress(console)):
            figures.append(figure)
            document = {**_conditions(options.seconds), **results.to_json()}
            report.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {report} has the figures measured so far", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    return results


def _conditions(seconds: float) -> dict[str, Any]:
    """Return the versions and the machine's state that the figures depend on."""
    import os
    import platform

    from fairlead.java import find_java
    from fairlead_proof.bench.assignors.kafka import kafka_release

    return {
        "kafka": kafka_release(),
        "java": find_java().banner.splitlines()[0],
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "seconds": seconds,
    }


def _numbers(
    flag: str, text: str | None, otherwise: Sequence[int], *, least: int = 1
) -> Sequence[int]:
    if text is None:
        return otherwise
    words = text.split(",")
    if not all(word.isdecimal() and int(word) >= least for word in words):
        raise UsageError(
            f"{flag}: {text!r} is not a list of numbers of at least {least}.",
            remedy=f"For example: {flag} 10,100",
        )
    return tuple(int(word) for word in words)


def _names(flag: str, text: str | None, known: tuple[Name, ...]) -> tuple[Name, ...]:
    if text is None:
        return known
    words = text.split(",")
    unknown = [word for word in words if word not in known]
    if unknown:
        raise UsageError(f"{flag}: {unknown[0]!r} is unknown.", remedy=f"Known: {', '.join(known)}")
    return tuple(name for name in known if name in words)


def _refuse_nothing(axes: "Axes") -> None:
    from fairlead_proof.bench.assignors.grid import points

    if next(points(axes), None) is None:
        raise UsageError(
            "--topics: no topic would have a queue.", remedy="Give more members or fewer topics."
        )


def _show(results: "Results", report: Path, output: OutputFormat) -> None:
    from fairlead_proof.bench.target import COLUMNS

    if output is not OutputFormat.TABLE:
        write_rows([results.to_json()], (), output)
        return
    for title, rows in _tables(results):
        typer.echo(title)
        write_rows(rows, _COLUMNS, output)
    write_rows((target.row() for target in results.targets), COLUMNS, output)
    typer.echo(f"report: {report}")


def _tables(results: "Results") -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the title and the rows of each measured group, in order."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for figure, row in zip(results.figures, results.rows(), strict=True):
        beyond = f"> {results.limit_ms:,.0f}"
        rows.setdefault(str(figure.point), []).append(
            {
                "contestant": row["contestant"],
                "settled by": row["settled_by"],
                "processor ms": _rounded(row["processor_ms"]),
                "clock ms": beyond if row["beyond_limit"] else _rounded(row["clock_ms"]),
                "runs": row["runs"],
                "ours / theirs": _rounded(row["ours_to_theirs"]),
                "moved": row["moved"],
                "least": row["least"],
                "spread": row["spread"],
                "in a topic": row["spread_in_a_topic"],
                "squares": None if row["squares"] is None else f"{row['squares']:,}",
            }
        )
    yield from rows.items()


def _rounded(number: float | None) -> str | None:
    """Return a number as text with two or three significant digits."""
    if number is None:
        return None
    if number >= _HUNDRED:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= _TEN else f"{number:.2g}" if number < 1 else f"{number:.2f}"
