"""Reads JSON as RocketMQ writes it: fastjson writes numbers without quotes as names."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

# A string that nobody closes is one as well, or each quote in it would begin another search.
_NAME_OR_STRING: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?|([{,]\s*+)(-?[0-9]++)(?=\s*+:)', re.DOTALL
)


def load_route_json(text: str, load: Callable[[str], Any] = json.loads) -> Any:
    """Return the value of a JSON text, which may have numbers as names: `{0:"10.0.0.1:10911"}`.

    Args:
        text: the text; proper JSON is read unchanged.
        load: the reader of proper JSON.

    Raises:
        ValueError: it is no JSON, even with quotes around such names.

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
            # The first error is about the text as it was sent.
            raise error from None


def _quoted(match: re.Match[str]) -> str:
    before, name = match.groups()
    return match[0] if name is None else f'{before}"{name}"'
