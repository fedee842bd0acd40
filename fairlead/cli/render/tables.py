"""Tables as lines of text: quick with thousands of rows, and without cutting anything off.

Decides where sentences fold and when a table is too wide.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import TextWrapper, fill
from typing import Any, Final

__all__ = [
    "PROSE_MIN",
    "block_lines",
    "folded",
    "pair_lines",
    "table_lines",
    "telling_columns",
    "visible",
]

PROSE_MIN: Final = 30
"""A narrower column of sentences is hard to read."""
_GAP: Final = "   "
_NO_BREAK: Final = "\u00a0"
_INDENT: Final = "    "
_FOLD_WIDTH: Final = 110

Row = Mapping[str, Any]


def visible(text: str) -> str:
    """Escape what would steer a terminal, as Python does; a cell may have several lines."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in text)


def table_lines(
    rows: Iterable[Row],
    columns: Sequence[str],
    prose: Collection[str] = (),
    width: int | None = None,
) -> list[str] | None:
    """Return a table: a heading, a rule, a line or more for each row; None: it is too wide.

    Args:
        rows: the rows; a dash stands for what is missing or None.
        columns: the fields to show, in order; they are the heading.
        prose: columns of sentences, folded where there is no room.
        width: the longest line; None: no limit.
    """
    cells = [["-" if row.get(name) is None else visible(str(row[name])) for name in columns]
             for row in rows]  # fmt: skip
    widths = [
        max(map(_cells_len, (name, *(row[index] for row in cells))))
        for index, name in enumerate(columns)
    ]
    if width is not None and _line_len(widths) > width:
        folded = [index for index, name in enumerate(columns) if name in prose]
        _narrow(widths, folded, width)
        if _line_len(widths) > width:
            return None
        for row in cells:
            for index in folded:
                row[index] = "\n".join(_wrapped(row[index], widths[index]))
    heading = [_line(columns, widths), " " + "─" * (_line_len(widths) - 2) + " "]
    blank = " " * _line_len(widths)
    return [blank, *heading, *(line for row in cells for line in _lines(row, widths)), blank]


def telling_columns(
    rows: Iterable[Row], columns: Sequence[str], optional: Collection[str]
) -> tuple[str, ...]:
    """Return the columns without those of ``optional`` that tell nothing in any row."""
    listed = list(rows)

    def tells(name: str) -> bool:
        return bool({row.get(name) for row in listed} - {None, "", 0})

    return tuple(name for name in columns if name not in optional or tells(name))


def block_lines(row: Row, columns: Sequence[str], width: int) -> Iterator[str]:
    """Yield a row as its first cell, and below it the other cells, wrapped to a width.

    The lines of a cell become parts of one sentence, between commas.
    """
    first, *others = columns
    yield visible(str(row.get(first)))
    cells = ((name, row.get(name)) for name in others)
    parts = [
        f"{name} {visible(str(value))}".strip().replace("\n", ", ")
        for name, value in cells
        if value not in (None, "")
    ]
    short = [
        part.replace(" ", _NO_BREAK) if len(part) < PROSE_MIN + len(_GAP) else part
        for part in parts
    ]
    yield from _indented(", ".join(short), max(width - 1, PROSE_MIN))


def _indented(text: str, width: int) -> Iterator[str]:
    """Wrap a text to a width behind an indent.

    A word that does not fit, such as a long client id, gets its own line from the left margin on,
    without a comma, so that it can be copied whole.
    """
    wrapper = TextWrapper(
        width,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    waiting: list[str] = []
    for word in [*text.split(" "), None]:
        if word is not None and len(_INDENT) + _len(word) <= width:
            waiting.append(word)
            continue
        for line in wrapper.wrap(" ".join(waiting)):
            yield line.replace(_NO_BREAK, " ")
        waiting = []
        if word is not None:
            yield word.removesuffix(",").replace(_NO_BREAK, " ")


def pair_lines(pairs: Iterable[tuple[str, str]], width: int | None = None) -> Iterator[str]:
    """Yield words and their texts, one below the other; long texts continue indented."""
    shown = [(visible(word), visible(text)) for word, text in pairs]
    margin = max((_cells_len(word) for word, _ in shown), default=0) + 2
    for word, text in shown:
        lines = [text] if width is None else _wrapped(text, max(width - margin, PROSE_MIN))
        for number, line in enumerate(lines):
            yield f"{'' if number else word:<{margin}}{line}"


def folded(line: str) -> str:
    """Fold a long line; the later lines are indented further.

    Long words stay whole: ids are never cut.
    """
    shown = visible(line)
    indent = " " * (len(shown) - len(shown.lstrip()) + 2)
    return fill(
        shown,
        _FOLD_WIDTH,
        subsequent_indent=indent,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _wrapped(text: str, width: int) -> list[str]:
    wrapper = TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return [line for each in text.split("\n") for line in wrapper.wrap(each) or [""]]


def _narrow(widths: list[int], folded: Sequence[int], width: int) -> None:
    """Narrow the columns of sentences to the width, in proportion to their own widths."""
    over = _line_len(widths) - width
    spare = {index: max(widths[index] - PROSE_MIN, 0) for index in folded}
    total = sum(spare.values())
    for index, left in spare.items():
        if total:
            widths[index] -= min(-(-over * left // total), left)


def _line_len(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1) + 2


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    if not any("\n" in cell for cell in row):
        yield _line(row, widths)
        return
    for cells in zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
        yield _line(cells, widths)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (wide - _len(cell)) for cell, wide in zip(cells, widths, strict=True))
    return f" {_GAP.join(padded)} "


def _cells_len(text: str) -> int:
    return max(map(_len, text.split("\n"))) if "\n" in text else _len(text)


def _len(text: str) -> int:
    """Return the width of a text on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
