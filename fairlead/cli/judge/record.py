"""`fairlead record`: write the topics of a live cluster into a folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions
from fairlead.cli.render.output import OutputFormat, write_rows
from fairlead.cli.sources.recordings import SourceOption

COLUMNS = ("topic", "partitions", "records", "first_offset", "recorded")


@takes_sets
def record(
    *,
    to: Annotated[Path, typer.Option("--to", help="A folder that is new or empty.")],
    source: SourceOption = None,
    shared: OutputOptions,
) -> None:
    """Record Fairlead's topics into a folder, for `verify` and `replay`.

    The command writes nothing to the cluster. Of a --source it records only the offsets of
    messages; the column recorded says so.
    """
    from fairlead.recording.capture import Capture, capture, driver_settings
    from strategies.own_strategies import all_strategies

    settings = shared.settings()
    strategies = all_strategies(settings.engine.strategies)
    plan = Capture(settings.kafka, to, driver_settings(settings, strategies), tuple(source or ()))
    recording = capture(plan, lambda line: typer.echo(line, err=True))
    rows: list[dict[str, Any]] = [
        {
            "topic": recording.manifest.names.name(suffix),
            "partitions": len(parts),
            "records": sum(part.records for part in parts.values()),
            "first_offset": min(part.first for part in parts.values()),
            "recorded": "whole" if all(part.whole for part in parts.values()) else "part",
        }
        for suffix, parts in recording.manifest.topics.items()
    ]
    rows += [
        {
            "topic": topic,
            "partitions": len(parts),
            "records": sum(last - first + 1 for runs in parts.values() for first, last in runs),
            "first_offset": min((runs[0][0] for runs in parts.values() if runs), default=None),
            "recorded": "offsets",
        }
        for topic, parts in recording.manifest.sources.items()
    ]
    write_rows(rows, COLUMNS, shared.output)
    if shared.output is OutputFormat.TABLE:
        typer.echo(f"recorded: {to}")
