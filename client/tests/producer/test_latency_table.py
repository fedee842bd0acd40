"""For how long a broker is avoided, by both tables."""

import pytest
from fairlead_client.errors import SettingsError
from fairlead_client.produce.latency_table import LatencyTable, not_available_ms
from fairlead_client.produce.queue_selection import Version

OF_4 = [
    (0, 0), (49, 0), (50, 0), (549, 0), (550, 30_000), (999, 30_000), (1_000, 60_000),
    (2_000, 120_000), (3_000, 180_000), (14_999, 180_000), (15_000, 600_000), (10**9, 600_000),
]  # fmt: skip
OF_5 = [
    (0, 0), (549, 0), (550, 2_000), (1_799, 2_000), (1_800, 5_000), (3_000, 6_000),
    (5_000, 10_000), (14_999, 10_000), (15_000, 30_000), (-1, 0),
]  # fmt: skip


@pytest.mark.parametrize(
    "version, latency_ms, avoided_ms",
    [
        *(("4.3", *row) for row in OF_4),
        *(("4.9", *row) for row in OF_4),
        *(("5", *row) for row in OF_5),
    ],
)
def test_the_largest_threshold_reached_counts(
    version: Version, latency_ms: int, avoided_ms: int
) -> None:
    """The largest threshold that is reached counts, and it is reached at its very number."""
    assert not_available_ms(version, latency_ms, isolation=False) == avoided_ms


@pytest.mark.parametrize("version, avoided_ms", [("4.3", 600_000), ("4.9", 600_000), ("5", 10_000)])
def test_a_failure_counts_as_a_latency_of_its_own(version: Version, avoided_ms: int) -> None:
    """A failure counts as a latency of its own, whatever it took."""
    assert not_available_ms(version, 1, isolation=True) == avoided_ms


@pytest.mark.parametrize(
    "latency_max, not_available, field",
    [((50, 100), (0,), "not_available"), ((100, 50), (0, 0), "latency_max")],
)
def test_a_table_that_does_not_ascend_is_refused(
    latency_max: tuple[int, ...], not_available: tuple[int, ...], field: str
) -> None:
    """A table of one's own must be one: a time for each threshold, and they ascend."""
    with pytest.raises(SettingsError, match=f"^{field}: "):
        LatencyTable(latency_max, not_available, 1)
