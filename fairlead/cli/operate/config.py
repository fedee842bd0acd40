"""``fairlead config``: show, check and describe the settings."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairlead.cli.option_sets import takes_sets
from fairlead.cli.options import OutputOptions, SettingsOptions
from fairlead.cli.render.output import OutputFormat, write_document, write_rows
from fairlead.counts import counted
from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead.settings import Examination
    from fairlead.settings.effective_settings import ShownSetting
    from fairlead.settings.problems import Problem

app = typer.Typer(no_args_is_help=True, add_completion=False)

SHOWN_COLUMNS = ("setting", "value", "unit", "place")
KAFKA_COLUMNS = ("setting", "library", "option", "value")


class ConfigFormat(StrEnum):
    """A table, JSON, JSON lines, or TOML that can be read back."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    TOML = "toml"


@app.callback()
def config() -> None:
    """Show the settings and their sources, check files, print their schema."""


@app.command()
@takes_sets
def show(
    *,
    resolved: Annotated[bool, typer.Option("--resolved", help="Also show the defaults.")] = False,
    section: Annotated[
        str | None,
        typer.Option("--section", help="Only this table, such as kafka.security or group.orders."),
    ] = None,
    shared: SettingsOptions,
    output: Annotated[
        ConfigFormat,
        typer.Option("--output", "-o", help="toml can be read back with --config."),
    ] = ConfigFormat.TABLE,
) -> None:
    """Show the settings that differ from the defaults, and the source of each value.

    Secrets appear as stars; TOML leaves them out.
    """
    from fairlead.settings.effective_settings import shown_settings
    from fairlead.settings.layers import Kind

    examined = _examined(shared, ())
    assert examined.settings is not None
    rows = shown_settings(examined.settings, examined.layers)
    if section is not None:
        rows = _of_section(rows, section)
    if not resolved:
        rows = [row for row in rows if row.kind not in (None, Kind.DEFAULT)]
    if output is ConfigFormat.TOML:
        _write_toml(rows)
    elif output is ConfigFormat.TABLE:
        _write_table(rows)
    else:
        write_rows((row.to_json() for row in rows), (), OutputFormat(output.value))


@app.command()
@takes_sets
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="More files, over those of --config."),
    ] = None,
    *,
    shared: OutputOptions,
) -> None:
    """Show every error in the settings, and every warning.

    The command reads defaults, profile, files and environment as a start does. Exit code 2 if there
    are errors.
    """
    from fairlead.settings.warnings import settings_warnings

    examined = shared.examined(files or ())
    errors, warnings = list(examined.problems), []
    if examined.settings is not None:
        errors += _refused_rules(examined)
        warnings = settings_warnings(examined.settings, examined.layers)
    weighed = [*(("error", each) for each in errors), *(("warning", each) for each in warnings)]
    if shared.output is OutputFormat.TABLE:
        for severity, each in weighed:
            # The form of compilers: editors and terminals link to the line.
            typer.echo(f"{each.place}: {severity}: {each.key}: {each.reason}\n    {each.remedy}")
    else:
        write_rows((_row(severity, each) for severity, each in weighed), (), shared.output)
    if errors:
        raise UsageError(
            f"settings: {counted(len(errors), 'error')}",
            remedy="docs/configuration.md has every setting.",
        )
    if shared.output is OutputFormat.TABLE:
        typer.echo(f"OK, {counted(len(warnings), 'warning')}" if warnings else "OK")


@app.command()
def schema() -> None:
    """Print the JSON Schema (2020-12) of a settings file, for editors."""
    from fairlead.settings.schema import file_schema

    write_document(file_schema(), OutputFormat.JSON)


@app.command()
@takes_sets
def kafka(
    *,
    shared: OutputOptions,
) -> None:
    """Show the options that kafka-python and Spark get from the kafka table; secrets are stars."""
    from fairlead.settings.kafka_options import effective_options

    settings = shared.settings()
    write_rows(
        (each._asdict() for each in effective_options(settings.kafka)), KAFKA_COLUMNS, shared.output
    )


def _examined(shared: SettingsOptions, files: "list[Path] | tuple[()]") -> "Examination":
    """Return valid settings.

    Raises:
        SettingsError: the settings have errors.
    """
    from fairlead.settings import SettingsError

    examined = shared.examined(files)
    if examined.settings is None:
        raise SettingsError(examined.problems)
    return examined


def _of_section(rows: "list[ShownSetting]", section: str) -> "list[ShownSetting]":
    """Return the rows of one table, and of the tables in it.

    Raises:
        UsageError: there is no such table.
    """
    from fairlead.settings.known_keys import ANY_GROUP, sections
    from fairlead.settings.suggestions import suggestion_for

    # A group's name may have dots.
    path = tuple(section.split(".", 1) if section.startswith("group.") else section.split("."))
    known = {key[: len(path)] for key in sections()}
    if path not in {*known, ("engine", "spark")} and path[0] != "group":
        raise UsageError(f"--section: there is no [{section}]; {suggestion_for(path, {})}.")
    if path == ("group", ANY_GROUP):
        path = path[:1]
    return [row for row in rows if row.key[: len(path)] == path]


def _refused_rules(examined: "Examination") -> "list[Problem]":
    """Return rules of the right type and bounds that the engine would refuse at its start."""
    from fairlead.settings.known_keys import path_of
    from fairlead.settings.loading import winner
    from strategies.own_strategies import all_strategies
    from streaming.rules import wanted_rules

    settings = examined.settings
    assert settings is not None
    try:
        wanted_rules(settings, all_strategies(settings.engine.strategies))
    except UsageError as error:
        key, _, reason = error.message.partition(": ")
        path = path_of(key.partition("[")[0])
        return [winner(examined.layers, path).problem(path, reason or error.message, error.remedy)]
    return []


def _row(severity: str, problem: "Problem") -> dict[str, str | int | None]:
    return {
        "severity": severity,
        "source": problem.source,
        "line": problem.line,
        "setting": problem.key,
        "says": problem.reason,
        "remedy": problem.remedy,
    }


def _write_table(rows: "list[ShownSetting]") -> None:
    """Write each value as in a file."""
    from fairlead.settings.toml_text import toml_value

    if not rows:
        typer.echo("nothing is set: the defaults are in force (--resolved shows them)", err=True)
        return
    table = (
        {
            "setting": row.name,
            "value": None if row.value is None else toml_value(row.value),
            "unit": row.unit,
            "place": row.place,
        }
        for row in rows
    )
    write_rows(table, SHOWN_COLUMNS, OutputFormat.TABLE)


def _write_toml(rows: "list[ShownSetting]") -> None:
    from fairlead.settings.effective_settings import toml_document

    typer.echo(toml_document(rows), nl=False)
