"""Writes settings as TOML; the standard library can only read it."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["toml_key", "toml_table", "toml_value"]

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_DELETE: Final = "\x7f"


def toml_key(name: str) -> str:
    """Return a name of a key, in quotes if TOML wants them."""
    return name if _BARE.fullmatch(name) else toml_value(name)


def toml_table(path: tuple[str, ...]) -> str:
    """Return the header of a table."""
    return f"[{'.'.join(toml_key(name) for name in path)}]"


def toml_value(value: Any) -> str:
    """Return a value in one line: a text, a number, a truth value, a list or an inline table.

    Raises:
        TypeError: it is none of these; TOML has no null.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            # TOML reads all of JSON's escapes, and demands one more.
            return json.dumps(value, ensure_ascii=False).replace(_DELETE, "\\u007f")
        case Mapping():
            inner = (f"{toml_key(name)} = {toml_value(each)}" for name, each in value.items())
            return f"{{ {', '.join(inner)} }}" if value else "{}"
        case list() | tuple():
            return f"[{', '.join(toml_value(each) for each in value)}]"
    raise TypeError(f"{type(value).__name__} has no place in TOML")
