"""``fairlead proof sim``: runs the real engine and client in simulated time, with faults."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairlead.cli.interruption import stop_once_on_signals
from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import ExitCode

if TYPE_CHECKING:
    from fairlead_proof.sim.campaign import Campaign
    from fairlead_proof.sim.schedule import Outcome

STORY_LINES = 40


def sim(
    *,
    schedules: Annotated[
        int, typer.Option("--schedules", "-n", min=1, help="How many schedules, one per seed.")
    ] = 500,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Seed of the first schedule; each further one is 1 higher."
        ),
    ] = 1,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", "-j", min=1, max=64, help="Processes that run schedules in parallel."
        ),
    ] = 1,
    story: Annotated[
        bool,
        typer.Option("--story", help="Run one schedule and print everything that happens in it."),
    ] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run the real engine and client session through random events on a virtual clock.

    Brokers, drivers, clients, bridges and operators are simulated, with everything that can go
    wrong with them. At every step the promises are checked: no queue with two owners, no message
    skipped or read twice without need, no epoch used twice. A seed always gives the same schedule.
    """
    if story:
        _tell(seed, output)
        return
    campaign = _run(seed, schedules, jobs)
    _show(campaign, output)
    first = campaign.first_breach
    if first is not None:
        typer.echo(_failure(first.seed), err=True)
    if not campaign.passed:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _run(seed: int, schedules: int, jobs: int) -> "Campaign":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from fairlead_proof.sim.campaign import Campaign, run_campaign

    campaign = Campaign()
    stop_once_on_signals()
    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("schedules"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            task = progress.add_task("", total=schedules)
            for outcome in run_campaign(seed, schedules, jobs):
                campaign.add(outcome)
                broken = f"{len(campaign.breaches)} broken" if campaign.breaches else ""
                progress.update(task, advance=1, description=broken)
    except KeyboardInterrupt:
        typer.echo(f"interrupted after {campaign.schedules} schedules", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    return campaign


def _show(campaign: "Campaign", output: OutputFormat) -> None:
    if output is not OutputFormat.TABLE:
        write_rows([campaign.to_json()], (), output)
        return
    totals = campaign.to_json()
    kinds = [
        {
            "fault": kind.replace("_", " "),
            "times": campaign.happened[kind],
            "schedules": campaign.struck[kind],
            "%": campaign.share(kind),
        }
        for kind in totals["faults"]  # type: ignore[attr-defined]
    ]
    write_rows(kinds, ("fault", "times", "schedules", "%"), output)
    write_rows(_measures(campaign, totals), ("measure", "figure", "least", "passed"), output)
    breaches = [
        {
            "seed": outcome.seed,
            "broken": (outcome.breach or ("", ""))[0],
            "how": _last_line(outcome),
        }
        for outcome in sorted(campaign.breaches, key=lambda outcome: outcome.seed)
    ]
    if breaches:
        write_rows(breaches, ("seed", "broken", "how"), output)


def _last_line(outcome: "Outcome") -> str:
    assert outcome.breach is not None
    return outcome.breach[1].strip().splitlines()[-1]


def _measures(campaign: "Campaign", totals: Any) -> list[dict[str, Any]]:
    targets = campaign.targets()
    kinds = [target for target in targets if target.name.startswith("%")]
    rarest = min(kinds, key=lambda target: target.measured)
    rows: list[dict[str, Any]] = [
        {"measure": "schedules", "figure": campaign.schedules},
        {"measure": "virtual seconds", "figure": totals["virtual_seconds"]},
        *(
            {"measure": f"handovers, {how}", "figure": number}
            for how, number in totals["handovers"].items()
        ),
        {"measure": "messages read again, with a reason", "figure": campaign.repeated},
        {"measure": "ms to come to rest, median", "figure": totals["settled_ms"]["median"]},
        {"measure": "ms to come to rest, most", "figure": totals["settled_ms"]["most"]},
    ]
    for target in (*(each for each in targets if each not in kinds), rarest):
        verdict = {True: "yes", False: "no", None: "too few to judge"}[target.passed]
        rows.append(
            {
                "measure": target.name.replace("_", " "),
                "figure": target.measured,
                "least": target.least,
                "passed": verdict,
            }
        )
    broken = len(campaign.breaches)
    rows.append(
        {
            "measure": "schedules that broke a promise",
            "figure": broken,
            "least": 0,
            "passed": "no" if broken else "yes",
        }
    )
    return rows


def _failure(seed: int) -> str:
    """Return the end of a failed schedule's story, and the command that shows all of it."""
    from fairlead_proof.sim.schedule import run_schedule

    outcome = run_schedule(seed, keep_story=True)
    rule, detail = outcome.breach or ("NOT REPEATED", "the schedule did not fail when run again")
    lines = [
        f"seed {seed}, {_version()}: {rule}",
        detail.rstrip(),
        "",
        *outcome.story[-STORY_LINES:],
        "",
        f"the whole story: fairlead proof sim --story --seed {seed}",
    ]
    return "\n".join(lines)


def _version() -> str:
    """Return the version and, in a working tree, its commit."""
    import subprocess

    import fairlead

    folder = Path(fairlead.__file__).resolve().parent
    git = subprocess.run(
        ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"],  # noqa: S607 - whatever git is there
        capture_output=True,
        text=True,
        check=False,
    )
    commit = git.stdout.strip() if git.returncode == 0 else "no commit known"
    return f"fairlead {fairlead.__version__} ({commit})"


def _tell(seed: int, output: OutputFormat) -> None:
    from fairlead_proof.sim.schedule import run_schedule

    outcome = run_schedule(seed, keep_story=True)
    if output is OutputFormat.TABLE:
        for line in outcome.story:
            typer.echo(line)
    else:
        rows = [
            {"seed": seed, "version": _version(), "breach": outcome.breach, "story": outcome.story}
        ]
        write_rows(rows, (), output)
    if outcome.breach is not None:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
