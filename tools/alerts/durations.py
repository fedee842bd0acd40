"""Durations in PromQL, all multiplied by one factor: hours of a rule become seconds of a test."""

import re
from fractions import Fraction
from typing import Final

_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_WORD: Final = r"(\d+)(ms|s|m|h|d)"
_SECONDS: Final = re.compile(rf"\bseconds\({_WORD}\)")
# In brackets, behind a colon in them, or after the word: nothing else of PromQL looks like that.
_DURATION: Final = re.compile(rf"(\[|:|\boffset ){_WORD}(?=[\]:\s)]|$)")


def scaled(expression: str, factor: Fraction = Fraction(1)) -> str:
    """Return the PromQL of an expression with every duration multiplied.

    ``seconds(60s)`` becomes a plain number of seconds.
    """
    plain = _SECONDS.sub(lambda found: _number(_ms(found[1], found[2], factor) / 1_000), expression)
    return _DURATION.sub(lambda found: found[1] + written(_ms(found[2], found[3], factor)), plain)


def scaled_duration(duration: str, factor: Fraction = Fraction(1)) -> str:
    """Return one duration, multiplied.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(_WORD, duration)
    if found is None:
        raise ValueError(f"{duration!r} is no duration such as 5m")
    return written(_ms(found[1], found[2], factor))


def written(milliseconds: Fraction) -> str:
    """Write a duration in the largest unit that gives a whole number; never less than 1 ms."""
    whole = max(round(milliseconds), 1) if milliseconds else 0
    if not whole:
        return "0s"
    unit = next(unit for unit in ("d", "h", "m", "s", "ms") if whole % _UNITS_MS[unit] == 0)
    return f"{whole // _UNITS_MS[unit]}{unit}"


def _ms(number: str, unit: str, factor: Fraction) -> Fraction:
    return int(number) * _UNITS_MS[unit] * factor


def _number(seconds: Fraction) -> str:
    return f"{float(seconds):g}"
