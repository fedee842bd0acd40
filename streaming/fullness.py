"""What an operator sees of shards that hold their share of all state: a gauge, and log lines."""

from collections.abc import Iterator, Mapping

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead.engine.state_share import FULL_NOW

log = structlog.get_logger()


class Fullness(Collector):
    """Which shards are full: as of the newest batch."""

    def __init__(self) -> None:
        self._shards: dict[int, bool] = {}
        self._told = False

    def take(self, shard: int, counts: Mapping[str, int]) -> None:
        """Take what a shard tells of a batch."""
        self._shards = {**self._shards, shard: counts.get(FULL_NOW, 0) > 0}

    def tell(self) -> None:
        """Say in the log, once each, that a shard is full and that none is any more."""
        full = self.shards
        if full and not self._told:
            log.warning(
                "no more room: groups of these shards grow up to their part, and add no topic",
                shards=full,
            )
        elif self._told and not full:
            log.info("room again: every shard holds less than its share of all state")
        self._told = full > 0

    @property
    def shards(self) -> int:
        """How many shards are full now."""
        return sum(self._shards.values())

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge."""
        family = GaugeMetricFamily(
            "fairlead_full_shards",
            "Shards that hold their share of what may be kept: their groups grow up to their "
            "part, and add no topic.",
        )
        family.add_metric([], self.shards)
        yield family
