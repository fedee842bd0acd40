"""``fairlead proof bench``: times joins, leaves and crashes on the real broker and Spark job."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from fairlead.cli.completions import complete_strategy
from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import CheckOption, OutputOption, OwnBrokerOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from fairlead_proof.bench.results import Results

_COLUMNS = ("in milliseconds", "n", "p50", "p95", "max")

StrategiesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        "-s",
        help="Strategies to measure leaves and joins under (default: STICKY and AVG). Crashes, "
        "starts and rest are measured under the first. Repeatable.",
        autocompletion=complete_strategy,
    ),
]


def bench(
    *,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="Number of leaves, and of joins.")
    ] = 50,
    clients: Annotated[int, typer.Option("--clients", min=2, help="Clients in the group.")] = 20,
    queues: Annotated[int, typer.Option("--queues", min=2, help="Queues they share.")] = 200,
    crashes: Annotated[
        int, typer.Option("--crashes", min=0, help="Clients to kill, one by one.")
    ] = 5,
    starts: Annotated[
        int,
        typer.Option("--starts", min=0, help="Engine starts with the class archive, and without."),
    ] = 3,
    rest: Annotated[
        float, typer.Option("--rest", min=1, help="Seconds to measure the idle engine.")
    ] = 20.0,
    seed: Annotated[
        int, typer.Option("--seed", help="Picks who leaves, and the pauses between events.")
    ] = 1,
    strategy: StrategiesOption = None,
    bootstrap: OwnBrokerOption = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep topics and logs afterwards.")] = False,
    check: CheckOption = False,
    report: Annotated[
        Path, typer.Option("--report", help="The JSON file for all measured values.")
    ] = Path("bench.json"),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Measure joins, leaves and crashes on the real broker and job.

    Client processes share the queues; one after another leaves and joins again, at random moments,
    and some are killed. Measured are the time from each event until the last queue is read by
    its final owner, and how long each moved queue had no owner.
    """
    from rich.console import Console

    from fairlead.jars.progress import ConsoleProgress
    from fairlead_proof.bench.run import STRATEGIES_BESIDE, BenchOptions, run_bench

    console = Console(stderr=True, highlight=False)
    begun = time.monotonic()

    def say(text: str) -> None:
        line = f"{time.monotonic() - begun:6.1f} s  {text}"
        console.print(line, markup=False, soft_wrap=True)

    places = (seed, bootstrap, keep, _known(strategy or STRATEGIES_BESIDE))
    options = BenchOptions(rounds, clients, queues, crashes, starts, rest, *places)
    stop_once_on_signals()
    try:
        results = run_bench(options, say, ConsoleProgress(console))
    except KeyboardInterrupt:
        typer.echo("interrupted; everything was stopped and removed", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    report.write_bytes(orjson.dumps(results.to_json(), option=orjson.OPT_INDENT_2) + b"\n")
    _show(results, report, output)
    if check and not results.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _known(names: Sequence[str]) -> tuple[str, ...]:
    """Return the named strategies in the order given, without repeats.

    Raises:
        UsageError: a strategy is unknown.
    """
    from strategies.registry import STRATEGIES

    for name in names:
        if name not in STRATEGIES:
            known = ", ".join(sorted(STRATEGIES))
            detail = f"--strategy: there is no strategy {name!r}."
            raise UsageError(detail, remedy=f"Name one of {known}.")
    return tuple(dict.fromkeys(names))


def _show(results: "Results", report: Path, output: OutputFormat) -> None:
    from fairlead_proof.bench.target import COLUMNS

    if output is OutputFormat.TABLE:
        write_rows(_summaries(results), _COLUMNS, output)
        write_rows((target.row() for target in results.targets), COLUMNS, output)
        typer.echo(f"engine at rest: {results.at_rest:.1%} of one processor core")
        typer.echo(f"report: {report}")
    else:
        write_rows([results.to_json()], (), output)


def _summaries(results: "Results") -> Iterator[dict[str, Any]]:
    rows = {
        **{f"adopted: {name}": summary for name, summary in results.adopted.items()},
        **{f"  of it {name}": summary for name, summary in results.phases.items()},
        **{f"batch: {name}": summary for name, summary in results.batches.items()},
        **{f"first assignment {kind}": summary for kind, summary in results.starts.items()},
        "gap: old owner stopped to new owner started": results.gaps,
        "crash: last heartbeat to all adopted": results.crashes,
        "count: decisions on the way of the last": results.decisions,
        **{f"adopted: all, under {name}": under.adopted for name, under in results.beside.items()},
        f"count: queues moved by an event, {results.strategy}": results.queues,
        **{
            f"count: queues moved by an event, {name}": under.queues
            for name, under in results.beside.items()
        },
    }
    for name, summary in rows.items():
        if summary is None:
            continue
        yield {"in milliseconds": name, **summary.to_json()}
