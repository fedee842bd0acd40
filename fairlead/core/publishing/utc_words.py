"""A moment as people write it: 2026-07-31 09:05:00Z.

The core may not import a library that can read a clock, so it computes the date itself.
"""

from typing import Final

__all__ = ["utc_words"]

_DAY_S: Final = 86_400
_ERA_DAYS: Final = 146_097
"""The days of 400 years, after which the calendar repeats itself."""
_TO_MARCH_DAYS: Final = 719_468
"""The days from 1 March of the year 0 to 1970; years that begin in March end with the leap day."""
_MARCH: Final = 3
_MONTHS: Final = 12
_TO_JANUARY: Final = _MONTHS + 1 - _MARCH
"""The months from March to January."""


def utc_words(at_ms: int) -> str:
    """Return the second of a time in ms since 1970, which is not negative."""
    days, second = divmod(at_ms // 1_000, _DAY_S)
    era, day = divmod(days + _TO_MARCH_DAYS, _ERA_DAYS)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day_of_month = day - (153 * month + 2) // 5 + 1
    year += 400 * era + (month >= _TO_JANUARY)
    month = (month + _MARCH - 1) % _MONTHS + 1
    hours, minutes = divmod(second // 60, 60)
    date = f"{year:04d}-{month:02d}-{day_of_month:02d}"
    return f"{date} {hours:02d}:{minutes:02d}:{second % 60:02d}Z"
