"""Writes results: a table for people, or JSON for programs. Nothing is cut off."""

import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from textwrap import TextWrapper
from typing import Any, TextIO

import typer

from fairlead.cli.render.tables import block_lines, pair_lines, table_lines, visible
from fairlead.json_text import json_text

__all__ = [
    "OutputFormat",
    "Row",
    "json_text",
    "visible",
    "warn",
    "write_document",
    "write_fitting",
    "write_line",
    "write_objects",
    "write_pairs",
    "write_rows",
]

Row = Mapping[str, Any]


class OutputFormat(StrEnum):
    """A table, one JSON document, or one JSON document per line."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


def write_rows(rows: Iterable[Row], columns: Sequence[str], output: OutputFormat) -> None:
    """Write rows to the standard output.

    JSON has every field of a row. A table has the given columns, with a dash for what is missing or
    None, and is as wide as its longest row.
    """
    match output:
        case OutputFormat.JSON:
            typer.echo(json_text(list(rows), indented=True))
        case OutputFormat.JSONL:
            for row in rows:
                typer.echo(json_text(row))
        case OutputFormat.TABLE:
            typer.echo("\n".join(table_lines(rows, columns) or ()))


def write_document(document: Any, output: OutputFormat) -> None:
    """Write one document to the standard output as JSON: indented, or in one line."""
    typer.echo(json_text(document, indented=output is OutputFormat.JSON))


def write_fitting(
    rows: Iterable[Row],
    columns: Sequence[str],
    output: OutputFormat,
    prose: Collection[str] = (),
    *,
    width: int | None = None,
    fewer: Sequence[str] = (),
) -> None:
    """Write rows as `write_rows` does; on a narrow terminal, in blocks.

    Before that, the function tries a table without empty columns.

    Args:
        rows: the rows.
        columns: the columns of the table.
        output: the form.
        prose: columns of sentences, folded where there is no room.
        width: the width of the terminal; None: ask it.
        fewer: the columns of a table to try before the blocks.
    """
    if output is not OutputFormat.TABLE:
        write_rows(rows, columns, output)
        return
    listed = list(rows)
    width = _terminal_width() if width is None else width
    lines = table_lines(listed, columns, prose, width)
    if lines is None:
        filled = [name for name in columns if any(row.get(name) is not None for row in listed)]
        lines = table_lines(listed, filled, prose, width)
    if lines is None and fewer:
        lines = table_lines(listed, fewer, prose, width)
    if lines is None:
        assert width is not None, "without a width every table fits"
        lines = [line for row in listed for line in block_lines(row, columns, width)]
    typer.echo("\n".join(lines))


def write_objects(
    objects: Sequence[Row],
    cells: Callable[[Row], Row],
    columns: Sequence[str],
    output: OutputFormat,
    prose: Collection[str] = (),
) -> None:
    """Write objects as JSON, or what ``cells`` makes of each as a row of a table."""
    if output is OutputFormat.TABLE:
        write_fitting(map(cells, objects), columns, output, prose)
    else:
        write_rows(objects, (), output)


def write_pairs(pairs: Iterable[tuple[str, str]], width: int | None = None) -> None:
    """Write words and their texts, one below the other; long texts continue indented.

    ``width``: the width of the terminal; None: ask it.
    """
    typer.echo("\n".join(pair_lines(pairs, _terminal_width() if width is None else width)))


def write_line(text: str, *, err: bool = False, width: int | None = None) -> None:
    """Write a sentence; on a narrow terminal it continues indented.

    Args:
        text: the sentence.
        err: write to the standard error.
        width: the width of the terminal; None: ask it.
    """
    width = _terminal_width(sys.stderr if err else sys.stdout) if width is None else width
    fold = TextWrapper(
        width or 0, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    lines = visible(text).split("\n")
    if width is not None:
        lines = [part for line in lines for part in fold.wrap(line)]
    typer.echo("\n".join(lines), err=err)


def warn(text: str) -> None:
    """Write a warning; it changes no exit code."""
    write_line(f"warning: {text}", err=True)


def _terminal_width(stream: TextIO | None = None) -> int | None:
    """Return the width of the terminal; None: the output is no terminal."""
    stream = stream or sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None
