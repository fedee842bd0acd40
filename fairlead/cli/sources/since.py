"""``--since``: the beginning of the past to show."""

import re
from typing import Annotated, Final

import typer

from fairlead.errors import UsageError, sentence

__all__ = ["SinceOption", "since_ms_of"]

_SPAN: Final = re.compile(r"([0-9]{1,6})(s|m|min|h|d)")
_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_REMEDY: Final = "Say how long ago (30m, 1h, 2d), or a time such as 2026-11-23T01:00Z."

SinceOption = Annotated[
    str,
    typer.Option("--since", help="How long ago (30m, 1h, 2d), or a time: 2026-11-23T01:00Z."),
]


def since_ms_of(text: str, now_ms: int) -> int:
    """Return the time of a text, in ms since 1970.

    Raises:
        UsageError: the text is no time, or a time without its zone.
    """
    from fairlead.control.reset_target import BadTargetError, read_target

    span = _SPAN.fullmatch(text)
    if span is not None:
        return max(now_ms - int(span[1]) * _UNITS_MS[span[2]], 0)
    try:
        target = read_target(text)
    except BadTargetError as error:
        if "zone" in error.detail:
            remedy = sentence(error.remedy)
            raise UsageError(f"--since: {error.detail}.", remedy=remedy) from error
        raise UsageError(f"--since: {text!r} is no time.", remedy=_REMEDY) from error
    if target.kind != "timestamp":
        raise UsageError(f"--since: {text!r} is no time.", remedy=_REMEDY)
    return target.number
