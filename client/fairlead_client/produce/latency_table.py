"""For how long RocketMQ avoids a broker after a slow or failed sending."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fairlead_client.errors import SettingsError
from fairlead_client.produce.queue_selection import Version, check_version


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """Latency thresholds, and how long a broker at or above each is not available; all in ms.

    Attributes:
        latency_max: ascending thresholds (MQFaultStrategy.latencyMax).
        not_available: the time for each threshold (MQFaultStrategy.notAvailableDuration).
        isolation_latency: the latency that a failed sending counts as.

    Raises:
        SettingsError: the lists differ in length, or the thresholds do not ascend.
    """

    latency_max: Sequence[int]
    not_available: Sequence[int]
    isolation_latency: int

    def __post_init__(self) -> None:
        """Check the table."""
        if len(self.latency_max) != len(self.not_available):
            raise SettingsError(
                "not_available",
                f"{len(self.not_available)} times for {len(self.latency_max)} thresholds",
                "give one time for each threshold",
            )
        if list(self.latency_max) != sorted(set(self.latency_max)):
            raise SettingsError("latency_max", f"{self.latency_max} do not ascend", "sort them")

    def not_available_ms(self, latency_ms: int, *, isolation: bool) -> int:
        """Return the time of the largest threshold reached, or 0 below the first one.

        Source: MQFaultStrategy#computeNotAvailableDuration.
        """
        counted = self.isolation_latency if isolation else latency_ms
        if not self.latency_max or counted < self.latency_max[0]:
            return 0
        for threshold, duration in zip(
            reversed(self.latency_max), reversed(self.not_available), strict=True
        ):
            if counted >= threshold:
                return duration
        return 0


TABLE_4: Final = LatencyTable(
    (50, 100, 550, 1_000, 2_000, 3_000, 15_000),
    (0, 0, 30_000, 60_000, 120_000, 180_000, 600_000),
    30_000,
)
"""The table of all 4.x."""
TABLE_5: Final = LatencyTable(
    (50, 100, 550, 1_800, 3_000, 5_000, 15_000),
    (0, 0, 2_000, 5_000, 6_000, 10_000, 30_000),
    10_000,
)
"""The table of 5.1.4 and later."""


def latency_table(version: Version) -> LatencyTable:
    """Return the table of a line of RocketMQ.

    Raises:
        SettingsError: an unknown version.
    """
    check_version(version)
    return TABLE_5 if version == "5" else TABLE_4


def not_available_ms(version: Version, latency_ms: int, *, isolation: bool) -> int:
    """Return for how many ms RocketMQ avoids a broker after this latency, or after a failure.

    Raises:
        SettingsError: an unknown version.

    >>> not_available_ms("4.9", 550, isolation=False), not_available_ms("5", 0, isolation=True)
    (30000, 10000)
    """
    return latency_table(version).not_available_ms(latency_ms, isolation=isolation)
