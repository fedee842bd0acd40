"""``fairlead proof explore``: tries every order of events in small worlds, on the real code."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.documents import read_document
from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from fairlead_proof.explorer.search import Progress, Searched
    from fairlead_proof.explorer.world import WorldBounds

COLUMNS = ("world", "states", "transitions", "ends", "deepest", "cpu s", "verdict")
ROWS_WORDS = "small, required or long"


RowsOption = Annotated[
    str | None,
    typer.Option("--rows", help=f"The set of worlds to search: {ROWS_WORDS} (default: small)."),
]
ClientsOption = Annotated[
    int | None,
    typer.Option("--clients", min=1, max=4, help="Clients in a world of your own (default: 3)."),
]
ThinOption = Annotated[
    int | None,
    typer.Option(
        "--thin", min=0, help="How many of the clients poll gateways over HTTP (default: 0)."
    ),
]
QueuesOption = Annotated[
    int | None,
    typer.Option("--queues", min=1, max=3, help="Queues that the clients share (default: 1)."),
]
MovesOption = Annotated[
    int | None,
    typer.Option("--moves", min=0, help="How often a queue may get another target (default: 1)."),
]
DeathsOption = Annotated[
    int | None,
    typer.Option(
        "--deaths",
        min=0,
        help="How many clients may crash, leave or lose their lease (default: 0).",
    ),
]
LossesOption = Annotated[
    int | None,
    typer.Option(
        "--losses", min=0, help="How often the engine's driver may be replaced (default: 0)."
    ),
]
OffsetsOption = Annotated[
    int | None, typer.Option("--offsets", min=0, help="Messages in each queue (default: 1).")
]
CapOption = Annotated[
    int | None, typer.Option("--cap", min=1, max=4, help="Grants a queue may get (default: 2).")
]
ComebacksOption = Annotated[
    int | None,
    typer.Option(
        "--comebacks",
        min=0,
        help="How often a client may return after losing its lease (default: 0).",
    ),
]
ResetsOption = Annotated[
    int | None,
    typer.Option(
        "--resets", min=0, help="How often an operator may reset a position (default: 0)."
    ),
]
MutesOption = Annotated[
    int | None,
    typer.Option(
        "--mutes", min=0, help="How many clients may be found mute and be passed over (default: 0)."
    ),
]
LostOption = Annotated[
    int | None,
    typer.Option("--lost", min=0, help="How many assignments may be lost for good (default: 0)."),
]
EagerOption = Annotated[
    bool | None, typer.Option("--eager", help="Hand over without waiting for the old owner.")
]
OrderedOption = Annotated[
    bool | None, typer.Option("--ordered", help="The first client consumes in order.")
]
RestartOption = Annotated[
    str | None,
    typer.Option(
        "--restart", help="The state a new driver finds: lost, old or intact (default: lost)."
    ),
]
ZombieOption = Annotated[
    bool | None, typer.Option("--zombie", help="The old driver goes on running beside the new one.")
]
UnprunedOption = Annotated[
    bool, typer.Option("--unpruned", help="Do not skip records without effect; much slower.")
]
StatesMaxOption = Annotated[
    int | None, typer.Option("--states-max", min=1, help="Give up after this many states.")
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        help="Replay a run from a file of -o json, step by step; - reads standard input.",
    ),
]


def explore(
    *,
    rows: RowsOption = None,
    clients: ClientsOption = None,
    thin: ThinOption = None,
    queues: QueuesOption = None,
    moves: MovesOption = None,
    deaths: DeathsOption = None,
    losses: LossesOption = None,
    offsets: OffsetsOption = None,
    cap: CapOption = None,
    comebacks: ComebacksOption = None,
    resets: ResetsOption = None,
    mutes: MutesOption = None,
    lost: LostOption = None,
    eager: EagerOption = None,
    ordered: OrderedOption = None,
    restart: RestartOption = None,
    zombie: ZombieOption = None,
    unpruned: UnprunedOption = False,
    states_max: StatesMaxOption = None,
    replay: ReplayOption = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Search every order of events in small worlds for a broken promise.

    The engine's real core and the real client session run, not models: records are read late, out
    of order and twice, clients crash, drivers lose their state. In each state no queue may have two
    owners, no message may be skipped or repeated without need, and a settled state must be
    reachable. The shortest run that breaks a promise is shown step by step.
    """
    if replay is not None:
        _retell(read_document(replay, "--replay"), output)
        return
    bounds = {
        "clients": clients, "thin": thin, "queues": queues, "moves": moves, "deaths": deaths,
        "losses": losses, "offsets": offsets, "cap": cap, "comebacks": comebacks, "resets": resets,
        "mutes": mutes, "lost": lost, "eager": eager, "ordered": ordered,
        "restart": restart, "zombie": zombie,
    }  # fmt: skip
    given = {name: value for name, value in bounds.items() if value is not None}
    worlds = _worlds(rows, given, prune=not unpruned)
    searched = _search(worlds, states_max)
    _show(searched, output)
    if not all(each.counterexample is None and each.whole for each in searched):
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _worlds(rows: str | None, given: dict[str, Any], *, prune: bool) -> tuple["WorldBounds", ...]:
    from dataclasses import replace

    from fairlead_proof.explorer.rows import ROWS, Rows

    if given and rows is not None:
        raise UsageError(
            "--rows: not with flags that describe a world.",
            remedy=f"Leave out --{next(iter(given))}.",
        )
    if given:
        return (replace(_world(given), prune=prune),)
    if rows is not None and rows not in tuple(Rows):
        raise UsageError(f"--rows: there is no set {rows!r}.", remedy=f"Choose {ROWS_WORDS}.")
    return tuple(replace(world, prune=prune) for world in ROWS[Rows(rows or Rows.SMALL)])


def _world(given: dict[str, Any]) -> "WorldBounds":
    from fairlead_proof.explorer.world import Restart, WorldBounds

    restart = given.get("restart", Restart.LOST)
    if restart not in tuple(Restart):
        raise UsageError(
            f"--restart: {restart!r} is unknown.", remedy="Choose lost, old or intact."
        )
    return WorldBounds(**{**given, "restart": Restart(restart)})


def _search(worlds: Sequence["WorldBounds"], states_max: int | None) -> list["Searched"]:
    from rich.console import Console

    from fairlead_proof.explorer.search import search

    console = Console(stderr=True, highlight=False)
    begun = time.monotonic()

    def report(progress: "Progress") -> None:
        line = f"{time.monotonic() - begun:7.1f} s  {progress.world.name}"
        figures = f"{progress.states:,} states, {progress.open:,} of them not expanded yet"
        console.print(f"{line}: {figures}", markup=False, soft_wrap=True)

    stop_once_on_signals()
    searched = []
    try:
        for world in worlds:
            searched.append(search(world, report, states_max=states_max))
            if searched[-1].counterexample is not None:
                break
    except KeyboardInterrupt:
        typer.echo(f"interrupted; {len(searched)} worlds were searched to the end", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    return searched


def _show(searched: Sequence["Searched"], output: OutputFormat) -> None:
    if output is not OutputFormat.TABLE:
        write_rows((_document(each) for each in searched), (), output)
        return
    write_rows(map(_row, searched), COLUMNS, output)
    for each in searched:
        if each.counterexample is None:
            continue
        typer.echo(each.counterexample.violation)
        for number, step in enumerate(each.counterexample.run, start=1):
            typer.echo(f"{number:4d}  {step}")


def _row(searched: "Searched") -> dict[str, Any]:
    verdict = "holds" if searched.whole else "given up"
    if searched.counterexample is not None:
        verdict = searched.counterexample.violation.partition(":")[0]
    return {
        "world": searched.world.name,
        "states": f"{searched.states:,}",
        "transitions": f"{searched.transitions:,}",
        "ends": f"{searched.ends:,}",
        "deepest": searched.steps,
        "cpu s": f"{searched.seconds:.1f}",
        "verdict": verdict,
    }


def _document(searched: "Searched") -> dict[str, Any]:
    counterexample = searched.counterexample
    return {
        "name": searched.world.name,
        "world": asdict(searched.world),
        "states": searched.states,
        "transitions": searched.transitions,
        "ends": searched.ends,
        "deepest": searched.steps,
        "client_states": searched.client_states,
        "engine_states": searched.engine_states,
        "records": searched.facts,
        "cpu_seconds": round(searched.seconds, 3),
        "whole": searched.whole,
        "violation": None if counterexample is None else counterexample.violation,
        "run": None if counterexample is None else list(counterexample.run),
    }


def _retell(document: dict[str, Any], output: OutputFormat) -> None:
    from fairlead_proof.explorer.counterexample_replay import ImpossibleStepError

    try:
        world = _world(document["world"])
        run = [str(step) for step in document["run"]]
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"--replay: the file has no run ({error}).",
            remedy="Give one object of the list that fairlead proof explore -o json writes.",
        ) from error
    rows: list[dict[str, Any]] = []
    try:
        rows.extend(_replayed_rows(world, run))
    except ImpossibleStepError as error:
        raise UsageError(
            f"--replay: {error}.", remedy="Search again: the code has changed since."
        ) from error
    write_rows(rows, ("step", "what happens", "how things stand"), output)
    if any(row["violation"] for row in rows):
        typer.echo(rows[-1]["violation"], err=True)
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _replayed_rows(world: "WorldBounds", run: Sequence[str]) -> Iterator[dict[str, Any]]:
    from fairlead_proof.explorer.counterexample_replay import replay_run

    for number, replayed in enumerate(replay_run(world, run), start=1):
        yield {
            "step": number,
            "what happens": replayed.step,
            "how things stand": replayed.stand,
            "violation": replayed.violation,
        }
