"""JSON as RocketMQ writes it: fastjson leaves numbers that are names without quotes."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

_NAME_OR_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"|([{,]\s*)(-?[0-9]+)(?=\s*:)', re.DOTALL)


def load_route_json(text: str, load: Callable[[str], Any] = json.loads) -> Any:
    """Return what a JSON text says, numbers as names of an object included: `{0:"10.0.0.1:10911"}`.

    Args:
        text: the text; what is JSON anyhow is read as it stands.
        load: the reader of JSON proper.

    Raises:
        ValueError: it is no JSON even with those names in quotes.

    >>> load_route_json('{"brokerAddrs":{0:"10.0.0.1:10911"}}')
    {'brokerAddrs': {'0': '10.0.0.1:10911'}}
    """
    try:
        return load(text)
    except ValueError as error:
        quoted = _NAME_OR_STRING.sub(_quoted, text)
        if quoted == text:
            raise
        try:
            return load(quoted)
        except ValueError:
            # Of the two complaints the one about what was sent is understood.
            raise error from None


def _quoted(match: re.Match[str]) -> str:
    before, name = match.groups()
    return match[0] if name is None else f'{before}"{name}"'
