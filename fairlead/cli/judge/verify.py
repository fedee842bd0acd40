"""`fairlead verify`: judge recorded topics and journals by every invariant."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.judge.replay_progress import watching
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.cli.sources.recordings import RecordingArgument, SourceOption, recorded
from fairlead.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairlead.core.allocation import Strategy
    from fairlead.recording import RecordingFolder
    from fairlead.verify.judgement import Journals, Judgement


@takes_sets
def verify(
    recording: RecordingArgument = None,
    *,
    journals: Annotated[
        Path | None,
        typer.Option("--journals", help="A folder with journals of the group's clients."),
    ] = None,
    faults: Annotated[
        Path | None,
        typer.Option("--faults", help="The log of the faults of the run."),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", help="The group of the journals, if the topics have several."),
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", help="Explain an invariant: S2, L1, …")
    ] = None,
    source: SourceOption = None,
    shared: OutputOptions,
) -> None:
    """Judge what happened by the records alone, by the invariants S1 to S15 and L1 to L4.

    Each is held, broken (with the fewest records that show it) or not judged (and why). Exit code
    1: one is broken; 9: the history is empty, or no queue changed its owner.
    """
    from strategies.own_strategies import all_strategies

    if explain is not None:
        _explain(explain)
        return
    settings = shared.settings()
    strategies = all_strategies(settings.engine.strategies)
    given = _journals(journals, faults, group)
    with recorded(recording, settings, strategies, source or ()) as opened:
        judgement = _judge(opened, strategies, given)
    _show(judgement, shared.output)
    if judgement.broken:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
    if judgement.nothing:
        raise typer.Exit(ExitCode.NOTHING_PROVED)


def _judge(
    opened: "RecordingFolder", strategies: "Mapping[str, Strategy]", given: "Journals | None"
) -> "Judgement":
    from fairlead.verify.judgement import UnknownGroupError, judge_recording

    decided = opened.part("decisions", 0).records
    try:
        with watching(decided) as watch:
            return judge_recording(opened, strategies, given, watch)
    except UnknownGroupError as error:
        known = ", ".join(error.known) or "none"
        named = f"there is no group {error.group}" if error.group else "there are several groups"
        raise UsageError(
            f"--group: {named} in the recording.",
            remedy=f"Name the group of the journals; groups with decisions: {known}.",
        ) from error


def _journals(folder: Path | None, faults: Path | None, group: str | None) -> "Journals | None":
    from fairlead.verify.fault_log import read_faults
    from fairlead.verify.journal import read_journals
    from fairlead.verify.judgement import Journals

    if folder is None:
        if faults is not None or group is not None:
            raise UsageError(
                "--faults, --group: they need journals, and there are none.",
                remedy="Give --journals too.",
            )
        return None
    if not folder.is_dir():
        raise UsageError(f"--journals: {folder} is no folder.", remedy="Name the journals' folder.")
    try:
        read = read_journals(folder)
    except OSError as error:
        raise UsageError(
            f"--journals: {error.filename} cannot be read ({error.strerror}).",
            remedy="Allow this user to read it.",
        ) from error
    if not read:
        raise UsageError(
            f"--journals: {folder} holds no file that ends in .jsonl.",
            remedy="See docs/journals.md for what a journal is.",
        )
    return Journals(read, group, () if faults is None else read_faults(faults))


def _explain(number: str) -> None:
    from fairlead.verify.invariants import INVARIANTS

    rule = INVARIANTS.get(number.upper())
    if rule is None:
        raise UsageError(
            f"--explain: there is no invariant {number}.",
            remedy=f"Give one of {', '.join(INVARIANTS)}.",
        )
    typer.echo(f"{number.upper()}: {rule.title}")
    typer.echo(f"judged from: {rule.judged_from}")
    typer.echo(rule.how)


def _show(judgement: "Judgement", output: OutputFormat) -> None:
    from fairlead.cli.render.judgement import show_judgement

    if output is OutputFormat.TABLE:
        show_judgement(judgement)
    else:
        write_document(judgement.to_json(), output)
