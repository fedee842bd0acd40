"""``python -m tests.mutants``: drop the rules of the handover one by one, and see who notices.

The source tree is copied, and the source itself must pass first. Then one patch at a time is
applied to the copy, and the explorer, the simulator and the stories are run on it. Exit code 1:
a mutant was not caught, or a patch does not fit.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.cli.options import OutputOption
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.errors import ExitCode
from tests.mutants.catchers import Catch
from tests.mutants.hunt import Verdict, unpatched
from tests.mutants.hunters import hunted
from tests.mutants.mutant import Mutant, catalogue
from tests.mutants.tree import Tree

COLUMNS = ("mutant", "rule", "drops", "caught by", "as", "where", "steps", "s")


def main(
    *,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="A mutant by name; may be given again.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Ask no other catcher once one has found a mutant."),
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Copies that run at once.")] = 1,
    run: Annotated[
        bool, typer.Option("--run", help="Show the shortest run that the explorer found.")
    ] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Patch the real source so that a rule of the handover is gone, and let it be found."""
    mutants = _chosen(only)
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree.of_source(Path(folder) / "source")
        if not _source_passes(mutants, tree, every=not quick):
            raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
        for verdict in hunted(mutants, tree, jobs, every=not quick):
            verdicts.append(verdict)
            _tell(verdict, len(verdicts), len(mutants), run=run)
    verdicts.sort(key=lambda verdict: verdict.mutant.order)
    if output is OutputFormat.TABLE:
        write_rows([row for each in verdicts for row in _rows(each)], COLUMNS, output)
    else:
        write_rows([_document(verdict) for verdict in verdicts], (), output)
    lost = [verdict.mutant.name for verdict in verdicts if not verdict.caught]
    _say(f"{len(verdicts) - len(lost)} of {len(verdicts)} mutants caught")
    if lost:
        _say(f"not caught: {', '.join(lost)}")
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)


def _chosen(only: Sequence[str] | None) -> list[Mutant]:
    mutants = catalogue()
    if not only:
        return mutants
    unknown = sorted(set(only) - {mutant.name for mutant in mutants})
    if unknown:
        names = ", ".join(mutant.name for mutant in mutants)
        raise typer.BadParameter(f"no mutant is called {', '.join(unknown)}; there are {names}")
    return [mutant for mutant in mutants if mutant.name in only]


def _source_passes(mutants: Sequence[Mutant], tree: Tree, *, every: bool) -> bool:
    for catch in unpatched(mutants, tree, every=every):
        said = catch.violation or "nothing violated"
        _say(f"source: {catch.catcher}, {catch.where}: {said} ({catch.seconds} s)")
        if catch.violation is not None:
            return False
    return True


def _tell(verdict: Verdict, number: int, count: int, *, run: bool) -> None:
    said = "; ".join(
        f"{catch.catcher}: {catch.violation or 'nothing'} ({catch.where}, {catch.seconds} s)"
        for catch in verdict.catches
    )
    wrong = "" if verdict.mistake is None else f" MISTAKE: {verdict.mistake}"
    caught = "caught" if verdict.caught else "NOT CAUGHT"
    _say(f"{number}/{count} {verdict.mutant.name} {caught}: {said}{wrong}")
    if run:
        for catch in verdict.catches:
            for line, step in enumerate(catch.run, start=1):
                _say(f"    {line}. {step}")


def _rows(verdict: Verdict) -> Iterator[dict[str, Any]]:
    mutant = verdict.mutant
    named: dict[str, Any] = {"mutant": mutant.name, "rule": mutant.rule, "drops": mutant.drops}
    for catch in verdict.catches:
        if catch.violation is not None:
            yield {**named, **_cells(catch)}
            named = {"mutant": "", "rule": "", "drops": ""}
    if not verdict.caught:
        yield {**named, "caught by": "nobody" if verdict.mistake is None else "mistake"}


def _cells(catch: Catch) -> dict[str, Any]:
    return {
        "caught by": catch.catcher,
        "as": catch.kind,
        "where": catch.where,
        "steps": catch.steps,
        "s": catch.seconds,
    }


def _document(verdict: Verdict) -> dict[str, Any]:
    mutant = verdict.mutant
    return {
        "mutant": mutant.name,
        "rule": mutant.rule,
        "drops": mutant.drops,
        "caught": verdict.caught,
        "mistake": verdict.mistake,
        "catchers": [
            {
                "catcher": catch.catcher,
                "violation": catch.violation,
                "where": catch.where,
                "steps": catch.steps,
                "processor_s": catch.seconds,
                "run": list(catch.run),
            }
            for catch in verdict.catches
        ],
    }


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    typer.run(main)
