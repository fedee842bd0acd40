"""`fairlead replay`: run the engine's input again and compare the output, byte for byte."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from fairlead.cli.judge.replay_progress import refusing, watching
from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.comparison import show_comparison
from fairlead.cli.render.output import OutputFormat, write_document
from fairlead.cli.sources.recordings import RecordingArgument, recorded
from fairlead.errors import ExitCode, NothingProvedError, VerdictError

if TYPE_CHECKING:
    from fairlead.replay.comparison import Comparison
    from fairlead.verify.replaying import Replay


@takes_sets
def replay(
    recording: RecordingArgument = None,
    *,
    shared: OutputOptions,
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
    with recorded(recording, settings, strategies) as opened, _told(shared.output):
        from fairlead.verify.replaying import Replay

        with refusing(opened):
            ready = Replay.of(opened, strategies)
            with watching(len(ready.survey.cuts)) as watch:
                comparison = ready.run(watch)
    document = _document(ready, comparison)
    if shared.output is OutputFormat.TABLE:
        show_comparison(document)
    else:
        write_document(document, shared.output)
    if not comparison.same and not document["compacted"]:
        raise typer.Exit(ExitCode.VERDICT_NEGATIVE)
    if not comparison.same or not comparison.cuts:
        raise typer.Exit(ExitCode.NOTHING_PROVED)


@contextlib.contextmanager
def _told(output: OutputFormat) -> Iterator[None]:
    """Tell a program, too, why a recording cannot be replayed."""
    try:
        yield
    except (VerdictError, NothingProvedError) as error:
        if output is not OutputFormat.TABLE:
            told = {"same": None, "error": error.message, "remedy": error.remedy}
            write_document(told, output)
        raise


def _document(ready: "Replay", comparison: "Comparison") -> dict[str, Any]:
    """Return the comparison as JSON."""
    manifest = ready.recording.manifest
    return {
        "same": comparison.same,
        "error": None,
        "remedy": None,
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
            {
                "shard": part.shard,
                "generation_list": [*part.generations],
                "reason": part.reason,
            }
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
        "batch": None
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
