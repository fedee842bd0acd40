"""Reads RocketMQ's consumeTimestamp, yyyyMMddHHmmss, as its clients do: UtilAll#parseDate.

Java's SimpleDateFormat is lenient: a thirteenth month is the next January, blanks before a field
are passed over, the seconds take every digit that is left, and whatever follows is ignored.
"""

import unicodedata
from datetime import datetime, timedelta, tzinfo
from typing import Final

__all__ = ["parse_consume_timestamp"]

_WIDTHS: Final = (4, 2, 2, 2, 2)
"""Of year, month, day, hour and minute; the seconds have none."""
_BLANKS: Final = " \t"
_LAST_OF_ONE_UNIT: Final = "\uffff"
_INT_BITS: Final = 32
_DAY_S: Final = 86_400
_EPOCH_DAY: Final = 719_163
"""1970-01-01, when 0001-01-01 is 1."""
_GREGORIAN_DAY: Final = 577_736
"""1582-10-15, the first day of Java's Gregorian calendar."""
_MONTHS: Final = 12
_MARCH: Final = 2
_JULIAN_SHIFT_DAYS: Final = 2
"""How far the Julian calendar is ahead of the Gregorian one in the year 1."""


def parse_consume_timestamp(text: str, zone: tzinfo) -> int | None:
    """Return the ms since 1970 that a text says in a time zone, None if it is no date.

    A time that is skipped when clocks go forward is an hour later, one that comes twice is the
    second: as Java has it.

    >>> from datetime import UTC
    >>> parse_consume_timestamp("19700101000001", UTC)
    1000
    """
    fields = _fields(text)
    if fields is None:
        return None
    year, month, day, hour, minute, second = fields
    seconds = hour * 3_600 + minute * 60 + second
    day_of = _day(year, month, gregorian=True) + day - 1
    if day_of + seconds // _DAY_S < _GREGORIAN_DAY:
        day_of = _day(year, month, gregorian=False) + day - 1
    local = (day_of - _EPOCH_DAY) * _DAY_S + seconds
    return (local - _offset_s(local, zone)) * 1_000


def _fields(text: str) -> list[int] | None:
    fields, at = [], 0
    for width in _WIDTHS:
        if at + width > len(text):
            return None
        field = _number(text[: at + width], at)
        if field is None:
            return None
        number, at = field
        fields.append(number)
    last = _number(text, at)
    return None if last is None else [*fields, last[0]]


def _number(text: str, at: int) -> tuple[int, int] | None:
    """Return the number that stands there and where it ends; None if none does."""
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    negative = text[at : at + 1] == "-"
    start = at = at + negative
    number = 0
    while at < len(text) and (digit := _digit(text[at])) is not None:
        number = min(number * 10 + digit, 1 << 64)
        at += 1
    if at == start:
        return None
    return _as_int(-number if negative else number), at


def _digit(letter: str) -> int | None:
    return None if letter > _LAST_OF_ONE_UNIT else unicodedata.decimal(letter, None)


def _as_int(number: int) -> int:
    """Return Number#intValue: the lower bits of a long, and the nearest int of anything greater."""
    bound = 1 << (_INT_BITS - 1)
    if not -(1 << 63) <= number < 1 << 63:
        return bound - 1 if number > 0 else -bound
    return (number + bound) % (1 << _INT_BITS) - bound


def _day(year: int, month: int, *, gregorian: bool) -> int:
    """Return the number of a month's first day in a calendar; month 13 is the next year's first."""
    years, month = divmod(month - 1, _MONTHS)
    year += years
    # Counted from March, so that a leap day is the last of its year.
    if month < _MARCH:
        year, month = year - 1, month + _MONTHS
    days = 365 * year + year // 4 + (153 * (month - _MARCH) + 2) // 5
    if gregorian:
        days += year // 400 - year // 100
    else:
        days -= _JULIAN_SHIFT_DAYS
    return days - 305


def _offset_s(local: int, zone: tzinfo) -> int:
    """Return how far a zone's clocks are ahead at a local time."""
    try:
        wall = datetime(1970, 1, 1, tzinfo=zone) + timedelta(seconds=local)
        offsets = [wall.replace(fold=fold).utcoffset() for fold in (0, 1)]
    except OverflowError:
        # Beyond Python's years; a zone keeps its last rule there.
        wall = datetime.max.replace(tzinfo=zone) if local > 0 else datetime.min.replace(tzinfo=zone)
        offsets = [(wall + (timedelta(days=-2) if local > 0 else timedelta(days=2))).utcoffset()]
    return min(int(offset.total_seconds()) for offset in offsets if offset is not None)
