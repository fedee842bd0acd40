"""Durations in words, exact enough to act on."""

from typing import Final

__all__ = ["duration_words", "since_words"]

_SECOND: Final = 1_000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_TENTHS_BELOW: Final = 10 * _SECOND


def duration_words(milliseconds: int) -> str:
    """Return a duration in its two largest units: thousandths below a second, tenths below ten.

    >>> [duration_words(each) for each in (31, 2_345, 95_000, 93_900_000)]
    ['31 ms', '2.3 s', '1 min 35 s', '1 d 2 h']
    """
    if milliseconds < 0:
        return f"-{duration_words(-milliseconds)}"
    if milliseconds < _SECOND:
        return f"{milliseconds} ms"
    if milliseconds < _TENTHS_BELOW:
        return f"{milliseconds / _SECOND:.1f} s"
    if milliseconds < _MINUTE:
        return f"{milliseconds // _SECOND} s"
    if milliseconds < _HOUR:
        return _two(milliseconds, _MINUTE, "min", _SECOND, "s")
    if milliseconds < _DAY:
        return _two(milliseconds, _HOUR, "h", _MINUTE, "min")
    return _two(milliseconds, _DAY, "d", _HOUR, "h")


def since_words(at_ms: int | None, now_ms: int) -> str | None:
    """Return how long ago something was; None if the time is unknown."""
    return None if at_ms is None else duration_words(max(now_ms - at_ms, 0))


def _two(milliseconds: int, great: int, great_word: str, small: int, small_word: str) -> str:
    rest = milliseconds % great // small
    first = f"{milliseconds // great} {great_word}"
    return f"{first} {rest} {small_word}" if rest else first
