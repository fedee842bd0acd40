"""`fairlead replay`: run the engine's input again and compare the output, byte for byte."""

from typing import TYPE_CHECKING, Any

import typer

from fairlead.cli.judge.replay_progress import NOT_RECORDED, refusing, watching
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOption, SettingsOptions
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.cli.sources.recordings import RecordingArgument, recorded
from fairlead.errors import ExitCode

if TYPE_CHECKING:
    from fairlead.replay.comparison import Comparison
    from fairlead.verify.replaying import Replay


@takes_sets
def replay(
    recording: RecordingArgument = None,
    *,
    shared: SettingsOptions,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Run the engine's input again, in the same batches, and compare the output.

    Every record must come out again with the same bytes. Give --config as to `fairlead run`, so
    that its own strategies are known. Exit code 1: the outputs differ; the command shows the first
    difference. 9: there was nothing to compare. The command names the parts that it leaves out
    because their state is older than the recording.
    """
    from strategies.own_strategies import all_strategies

    settings = shared.settings()
    strategies = all_strategies(settings.engine.strategies)
    with recorded(recording, settings, strategies) as opened:
        from fairlead.verify.replaying import Replay

        with refusing(opened):
            ready = Replay.of(opened, strategies)
            with watching(len(ready.survey.cuts)) as watch:
                comparison = ready.run(watch)
    document = _document(ready, comparison)
    if output is OutputFormat.TABLE:
        _show(document)
    else:
        write_document(document, output)
    if not comparison.same and not document["compacted"]:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
    if not comparison.same or not comparison.cuts:
        raise typer.Exit(ExitCode.NOTHING_PROVED)


def _document(ready: "Replay", comparison: "Comparison") -> dict[str, Any]:
    """Return the comparison as JSON."""
    manifest = ready.recording.manifest
    return {
        "v": 1,
        "same": comparison.same,
        "shards": manifest.partitions.shards,
        "generations": comparison.generations,
        "cuts": comparison.cuts,
        "records": comparison.records,
        "resent": comparison.resent,
        "unwritten": comparison.unwritten,
        "undecided": comparison.undecided,
        "others": comparison.others,
        "settings_assumed": list(ready.untold),
        "not_compared": [
            {**part._asdict(), "generations": [*part.generations]}
            for part in comparison.not_compared
        ],
        "compacted": _compacted(ready, comparison),
        "recorded_by": sorted({claim.version for claim in ready.drivers.claims.values()}),
        "difference": _difference(comparison),
    }


def _compacted(ready: "Replay", comparison: "Comparison") -> list[str]:
    """Return what was compacted, if something differs: that may be the cause."""
    from fairlead.verify.replaying import compacted_away

    difference = comparison.difference
    return [] if difference is None else compacted_away(ready.recording, difference)


def _difference(comparison: "Comparison") -> dict[str, Any] | None:
    from fairlead.replay.field_difference import first_field

    difference = comparison.difference
    if difference is None:
        return None
    expected, got = difference.expected, difference.got
    field = first_field(expected and expected.value, got and got.value)
    cut = difference.cut
    return {
        "topic": difference.topic,
        "partition": difference.partition,
        "offset": difference.offset,
        "decision": None
        if cut is None
        else {"shard": cut.shard, "generation": cut.generation, "step": cut.step},
        "key_expected": _text(expected and expected.key),
        "key_got": _text(got and got.key),
        "field": field.path or None,
        "expected": field.expected if expected is not None else None,
        "got": field.got if got is not None else None,
    }


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode(errors="backslashreplace")


def _show(document: dict[str, Any]) -> None:
    """Write the comparison for people."""
    typer.echo(
        f"{document['cuts']:,} batches with a decision in {document['shards']} shards, under "
        f"{document['generations']} generations; {document['records']:,} records written"
    )
    for name, words in (
        ("resent", "were written more than once"),
        ("unwritten", "were lost with their driver"),
        ("undecided", "are the last of their driver, of a batch whose decision was not read"),
        ("others", "are of others: members, producers and operators ask bridges too"),
    ):
        if document[name]:
            typer.echo(f"{document[name]:,} records {words}")
    if document["settings_assumed"]:
        numbers = ", ".join(map(str, document["settings_assumed"]))
        typer.echo(f"the claims of generations {numbers} have no settings: using the given ones")
    for part in document["not_compared"]:
        numbers = ", ".join(map(str, part["generations"]))
        typer.echo(f"NOT COMPARED: generations {numbers} in shard {part['shard']}")
        typer.echo(f"  why           {part['reason']}")
        typer.echo(f"  what to do    {NOT_RECORDED}")
    difference = document["difference"]
    if difference is None:
        nothing = "there is no decision: nothing is proved"
        typer.echo("the same, byte for byte" if document["cuts"] else nothing)
        return
    typer.echo("DIFFERENT: the first difference")
    for name in ("topic", "partition", "offset", "decision", "key_expected", "key_got", "field"):
        value = difference[name]
        if name == "decision" and value is not None:
            value = ", ".join(f"{word} {number}" for word, number in value.items())
        typer.echo(f"  {name:13} {'-' if value is None else value}")
    for name in ("expected", "got"):
        typer.echo(f"  {name:13} {'nothing' if difference[name] is None else difference[name]}")
    if document["compacted"]:
        gone = ", ".join(document["compacted"])
        typer.echo(f"the difference proves nothing, since records were compacted away: {gone}")
