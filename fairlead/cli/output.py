"""How results reach the user: as a table to read, or as JSON for programs. Nothing is cut off."""

import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from textwrap import TextWrapper
from typing import Any, TextIO

import typer

from fairlead.cli.tables import block_lines, pair_lines, table_lines, visible
from fairlead.json_text import json_text

__all__ = [
    "OutputFormat",
    "Row",
    "json_text",
    "queues_text",
    "visible",
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

    JSON has every field of a row; a table has the columns named, with a dash for what is missing or
    None. A table is as wide as its longest row: on a narrow terminal the terminal wraps it.
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


def queues_text(queues: Iterable[Sequence[Any]], between: str = "  ") -> str:
    """Write queues in their order, such as ``orders/main/0-3,7``; a dash for none.

    Each broker's numbers stand behind it; runs of three and more are ranges.
    """
    parts: list[tuple[str, list[int]]] = []
    for topic, broker_name, queue_id in queues:
        place = f"{topic}/{broker_name}/"
        if not parts or parts[-1][0] != place:
            parts.append((place, []))
        parts[-1][1].append(queue_id)
    return between.join(place + ",".join(_runs(numbers)) for place, numbers in parts) or "-"


_RUN_MIN = 3


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Yield numbers in their order, runs of neighbours as first-last."""
    first = 0
    for index in range(1, len(numbers) + 1):
        if index < len(numbers) and numbers[index] == numbers[index - 1] + 1:
            continue
        run = numbers[first:index]
        if len(run) < _RUN_MIN:
            yield from map(str, run)
        else:
            yield f"{run[0]}-{run[-1]}"
        first = index


def write_fitting(
    rows: Iterable[Row],
    columns: Sequence[str],
    output: OutputFormat,
    prose: Collection[str] = (),
    *,
    width: int | None = None,
    fewer: Sequence[str] = (),
) -> None:
    """Write rows as `write_rows` does; on a terminal that is too narrow for the table in blocks.

    Before that, a table is tried without the columns in which no row says anything.

    Args:
        rows: what is to be written.
        columns: those of the table.
        output: in which form.
        prose: columns of sentences, which go on in the next line where there is no room.
        width: of the terminal; None: what it says, and without a terminal all that is needed.
        fewer: the columns of a table that is tried before the blocks.
    """
    if output is not OutputFormat.TABLE:
        write_rows(rows, columns, output)
        return
    listed = list(rows)
    width = _terminal_width() if width is None else width
    lines = table_lines(listed, columns, prose, width)
    if lines is None:
        said = [name for name in columns if any(row.get(name) is not None for row in listed)]
        lines = table_lines(listed, said, prose, width)
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
    """Write words and what is said of each, one below the other; long texts go on indented.

    ``width``: of the terminal; None: what it says, and without a terminal all that is needed.
    """
    typer.echo("\n".join(pair_lines(pairs, _terminal_width() if width is None else width)))


def write_line(text: str, *, err: bool = False, width: int | None = None) -> None:
    """Write a sentence; on a terminal without room for it it goes on in the next line, indented.

    Args:
        text: the sentence.
        err: whether it goes to the standard error.
        width: of the terminal; None: what it says, and without a terminal all that is needed.
    """
    width = _terminal_width(sys.stderr if err else sys.stdout) if width is None else width
    fold = TextWrapper(
        width or 0, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    lines = visible(text).split("\n")
    if width is not None:
        lines = [part for line in lines for part in fold.wrap(line)]
    typer.echo("\n".join(lines), err=err)


def _terminal_width(stream: TextIO | None = None) -> int | None:
    """Return the width of the terminal; None: the output is none."""
    stream = stream or sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None
