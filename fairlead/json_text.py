"""JSON text in which no text of a record steers the terminal that shows it."""

import json
import re
from typing import Any, Final

import orjson

__all__ = ["json_text"]

_DELETE: Final = re.compile("\x7f")
_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
"""What `visible` escapes in tables, of all that may stand in JSON: controls, marks of direction,
ends of lines, and characters without a width. ASCII's own controls JSON escapes by itself."""


def json_text(document: Any, *, indented: bool = False) -> str:
    """Return a document as JSON.

    Characters that turn, hide or end a line are written as their numbers, which every reader of
    JSON turns back: programs get the same texts.
    """
    written = orjson.dumps(document, option=orjson.OPT_INDENT_2 if indented else None).decode()
    if written.isascii():
        return _DELETE.sub(r"\\u007f", written)
    return _UNSEEN.sub(_as_numbers, written)


def _as_numbers(found: "re.Match[str]") -> str:
    """Return a character as JSON writes it in ASCII: above U+FFFF as two halves."""
    return json.dumps(found[0])[1:-1] if found[0] != "\x7f" else r"\u007f"
