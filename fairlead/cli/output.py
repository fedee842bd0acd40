"""How results reach the user: as a table to read, or as JSON for programs. Nothing is cut off."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson
import typer

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

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


def write_fitting(
    rows: Iterable[Row],
    columns: Sequence[str],
    output: OutputFormat,
    prose: Collection[str] = (),
    width: int | None = None,
) -> None:
    """Write rows as `write_rows` does; on a terminal that is too narrow for the table in blocks.

    Args:
        rows: what is to be written.
        columns: those of the table.
        output: in which form.
        prose: columns of sentences, which go on in the next line where there is no room.
        width: of the terminal; None: what it says, and without a terminal all that is needed.
    """
    if output is not OutputFormat.TABLE:
        write_rows(rows, columns, output)
        return
    from rich.console import Console

    listed = list(rows)
    if width is None:
        width = _terminal_width()
    table = _table(listed, columns, prose)
    least = _table([{**row, **dict.fromkeys(prose, "x" * _PROSE_MIN)} for row in listed], columns)
    console = Console(highlight=False, width=width)
    if console.measure(least, options=_unbound(console)).minimum <= width:
        console.print(table)
        return
    for row in listed:
        for line in _block(row, columns, width):
            typer.echo(line)


def write_pairs(pairs: Iterable[tuple[str, str]], width: int | None = None) -> None:
    """Write words and what is said of each, one below the other; long texts go on indented.

    ``width``: of the terminal; None: what it says, and without a terminal all that is needed.
    """
    from textwrap import TextWrapper

    said = [(visible(word), visible(text)) for word, text in pairs]
    margin = max((len(word) for word, _ in said), default=0) + 2
    if width is None:
        width = _terminal_width()
    wrapper = TextWrapper(
        max(width - margin, _PROSE_MIN), break_long_words=False, break_on_hyphens=False
    )
    for word, text in said:
        for number, line in enumerate(wrapper.wrap(text) or [""]):
            typer.echo(f"{'' if number else word:<{margin}}{line}")


def _terminal_width() -> int:
    """Return the width of the terminal; without one all that is needed."""
    from rich.console import Console

    screen = Console()
    return screen.width if screen.is_terminal else TABLE_WIDTH_MAX


_PROSE_MIN = 30
"""A column of sentences that is narrower is no pleasure to read."""


def _unbound(console: "Console") -> "ConsoleOptions":
    return console.options.update(width=TABLE_WIDTH_MAX)


def _block(row: Row, columns: Sequence[str], width: int) -> Iterator[str]:
    """Yield one row as its first cell, and below it what else it has, wrapped to a width."""
    from textwrap import TextWrapper

    first, *others = columns
    yield visible(str(row.get(first)))
    parts = [
        f"{name} {visible(str(row[name]))}".strip().replace(" ", _NO_BREAK)
        if len(str(row[name])) < _PROSE_MIN
        else f"{name} {visible(str(row[name]))}".strip()
        for name in others
        if row.get(name) not in (None, "", "-")
    ]
    wrapper = TextWrapper(
        max(width - 1, _PROSE_MIN),
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in wrapper.wrap(", ".join(parts)):
        yield line.replace(_NO_BREAK, " ")


_NO_BREAK = "\u00a0"


def _write_table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    from rich.console import Console

    Console(highlight=False, width=TABLE_WIDTH_MAX).print(_table(rows, columns))


def _table(rows: Sequence[Row], columns: Sequence[str], prose: Collection[str] = ()) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        if column in prose:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, no_wrap=True, overflow="ignore")
    for row in rows:
        values = (row.get(column) for column in columns)
        table.add_row(*(Text("-" if value is None else visible(str(value))) for value in values))
    return table


def visible(text: str) -> str:
    """Write what would steer a terminal as Python escapes it; a cell may have several lines."""
    return "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)
