"""JSON as the protocol reads it: strict UTF-8, no repeated names, 64-bit integers, 16 levels.

:func:`read_strict` defines the result. :func:`read_fast` is three times as fast; it returns None if
it is not sure. Its values may still hold numbers or depths that the strict reader refuses, which
:func:`check_plain` finds.

ADR 0020 gives the reasons.
"""

import json
import re
from typing import Any

import orjson

from fairlead.wire.errors import WireError
from fairlead.wire.limits import DEPTH_MAX, INT64_MAX, INT64_MIN
from fairlead.wire.reasons import Reason

__all__ = ["check_plain", "read_fast", "read_strict"]

_REMEDY = "send one JSON object as in section 2 of the protocol"
_DIGITS_MAX = 20
# A text always matches as one token, closed or not, so the scan is linear for any input.
_TOKEN = re.compile(r'"(?:[^"\\]+|\\.)*+"?|[\[\]{}]', re.DOTALL)


def read_fast(value: bytes) -> Any | None:
    """Read a value quickly; return None if it may contain a repeated name.

    orjson silently keeps the last of two equal names. Without a backslash in the bytes, each colon
    of the result corresponds to a colon of the input, so a repeated name shows as a missing colon.
    """
    if b"\\" in value:
        return None
    try:
        body = orjson.loads(value)
        if orjson.dumps(body).count(b":") != value.count(b":"):
            return None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return body


def read_strict(value: bytes) -> Any:
    """Read one JSON value; raise WireError for anything that the protocol does not allow."""
    try:
        text = value.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise WireError(
            Reason.NOT_UTF8, None, f"byte {error.start} is not strict UTF-8", _REMEDY
        ) from None
    if text.startswith("\ufeff"):
        raise WireError(Reason.NOT_UTF8, None, "the value begins with a byte order mark", _REMEDY)
    if value.count(b"[") + value.count(b"{") > DEPTH_MAX:
        _check_depth(text)
    try:
        body = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except json.JSONDecodeError as error:
        raise WireError(
            Reason.NOT_JSON, None, f"not one JSON value: character {error.pos}", _REMEDY
        ) from None
    if "\\u" in text:
        _check_surrogates(body)
    return body


def check_plain(value: Any, depth: int) -> None:
    """Check a value at this depth for numbers and depths that the strict reader refuses.

    It is for values that no field rule checks: unknown fields and free-form options.
    """
    kind = type(value)
    if kind is int:
        if not INT64_MIN <= value <= INT64_MAX:
            _refuse_number("")
    elif kind is float:
        _refuse_number("")
    elif kind is dict or kind is list:
        if depth >= DEPTH_MAX:
            raise _too_deep()
        for entry in value.values() if kind is dict else value:
            check_plain(entry, depth + 1)


def _check_depth(text: str) -> None:
    """Refuse too many levels before the parser recurses into them."""
    depth = 0
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > DEPTH_MAX:
                raise _too_deep()
        elif first in "]}":
            depth -= 1


def _check_surrogates(body: Any) -> None:
    """Refuse half a surrogate pair: written as UTF-8, two different ids could become the same."""
    try:
        orjson.dumps(body)
    except orjson.JSONEncodeError:
        raise WireError(
            Reason.BAD_TEXT, None, "a text holds half a surrogate pair", _REMEDY
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    body = dict(pairs)
    if len(body) != len(pairs):
        raise WireError(
            Reason.DUPLICATE_KEY, None, "an object names a field twice", "name each field once"
        )
    return body


def _integer(digits: str) -> int:
    if len(digits) <= _DIGITS_MAX:
        number = int(digits)
        if INT64_MIN <= number <= INT64_MAX:
            return number
    return _refuse_number(digits)


def _refuse_number(_text: str) -> int:
    raise WireError(
        Reason.BAD_NUMBER,
        None,
        "a number has a fraction or an exponent, is not finite, or does not fit 64 bits",
        "send whole numbers between -2^63 and 2^63-1 as plain digits",
    )


def _too_deep() -> WireError:
    return WireError(
        Reason.TOO_DEEP, None, f"more than {DEPTH_MAX} levels of arrays and objects", _REMEDY
    )
