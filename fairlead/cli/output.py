"""How results reach the user: as a table to read, or as JSON for programs. Nothing is cut off."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import orjson
import typer

Row = Mapping[str, Any]

TABLE_WIDTH_MAX = 100_000
"""Wider than any row, so that the table takes the width that its rows need."""


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
            typer.echo(orjson.dumps(list(rows), option=orjson.OPT_INDENT_2))
        case OutputFormat.JSONL:
            for row in rows:
                typer.echo(orjson.dumps(row))
        case OutputFormat.TABLE:
            _write_table(list(rows), columns)


def write_document(document: Any, output: OutputFormat) -> None:
    """Write one document to the standard output as JSON: indented, or in one line."""
    indent = orjson.OPT_INDENT_2 if output is OutputFormat.JSON else None
    typer.echo(orjson.dumps(document, option=indent))


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


def _write_table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True, overflow="ignore")
    for row in rows:
        values = (row.get(column) for column in columns)
        table.add_row(*(Text("-" if value is None else visible(str(value))) for value in values))
    Console(highlight=False, width=TABLE_WIDTH_MAX).print(table)


def visible(text: str) -> str:
    """Write what would steer a terminal as Python escapes it; a cell may have several lines."""
    return "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)
