"""Sentences that are longer than a terminal is wide, as several lines."""

import textwrap
from typing import Final

from fairlead.cli.render.output import visible

__all__ = ["folded"]

_WIDTH: Final = 110


def folded(line: str) -> str:
    """Write a line as several where it is long, the later ones indented further.

    A word that is longer stays whole: ids are never cut.
    """
    shown = visible(line)
    indent = " " * (len(shown) - len(shown.lstrip()) + 2)
    return textwrap.fill(
        shown,
        _WIDTH,
        subsequent_indent=indent,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
