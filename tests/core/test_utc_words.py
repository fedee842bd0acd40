"""The core's own calendar is the library's."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.publishing.utc_words import utc_words
from fairlead.history.formatting import time_words


@given(st.integers(0, 10**13 - 1))
def test_moments_are_worded_as_by_datetime(at_ms: int) -> None:
    """Every moment that a record may name is worded as commands word it, by the library."""
    assert utc_words(at_ms) == time_words(at_ms)


@pytest.mark.parametrize("day", ["2000-02-29", "2024-02-29", "2100-02-28", "2100-03-01"])
def test_dates_around_leap_days_are_right(day: str) -> None:
    """Around leap days, and where there is none."""
    at = datetime.fromisoformat(f"{day}T23:59:59+00:00")
    assert utc_words(round(at.timestamp() * 1_000)) == f"{day} 23:59:59Z"
