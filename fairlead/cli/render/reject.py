"""Refused records as people read them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairlead.cli.render.tables import visible
from fairlead.history.formatting import at_words, time_words

if TYPE_CHECKING:
    from fairlead.history.rejected import Rejected

__all__ = ["reject_lines"]


def reject_lines(rejected: "Rejected") -> Iterator[str]:
    """Yield the lines of a refused record: when, why, where, what to do, its key and beginning."""
    yield from map(visible, _lines(rejected))


def _lines(rejected: "Rejected") -> Iterator[str]:
    field = f" at {rejected.field}" if rejected.field else ""
    group = rejected.group
    of = "" if group is None else f"  group {group}"
    yield (
        f"{time_words(rejected.row.append_ms)}  {rejected.reason}{field}  "
        f"{at_words(*rejected.place)}{of}"
    )
    yield f"    {rejected.detail}"
    yield f"    remedy: {rejected.remedy}"
    if rejected.key_text is not None and rejected.key_text != group:
        yield f"    key {rejected.key_text}"
    if rejected.excerpt_text is None:
        yield "    its value is null"
    else:
        cut = " …" if rejected.is_cut else ""
        yield f"    {rejected.size:,} bytes: {rejected.excerpt_text}{cut}"
