"""What an operator sees of a recovery: a gauge, and a line in the log at its begin and its end."""

from collections.abc import Iterator, Mapping
from typing import Final

import structlog
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

log = structlog.get_logger()

RECOVERING_NOW: Final = "recovering_now"
"""The word under which a shard tells that it recovers."""
_GROUPS: Final = "groups_now/recovering"


class Recovery(Collector):
    """Which shards recover, themselves or some of their groups: as of the newest batch."""

    def __init__(self) -> None:
        self._shards: dict[int, bool] = {}
        self._groups: dict[int, int] = {}
        self._told = False

    def take(self, shard: int, counts: Mapping[str, int]) -> None:
        """Take what a shard tells of a batch."""
        groups = counts.get(_GROUPS, 0)
        self._groups = {**self._groups, shard: groups}
        self._shards = {**self._shards, shard: groups > 0 or counts.get(RECOVERING_NOW, 0) > 0}

    def tell(self) -> None:
        """Say in the log, once each, that the recovery has begun and that it is over."""
        shards, groups = self.shards, sum(self._groups.values())
        if shards and not self._told:
            log.warning(
                "recovering: owners go on, nothing moves until lease and margin have passed and "
                "every client has acknowledged",
                shards=shards,
                groups=groups,
            )
        elif self._told and not shards:
            log.info("recovered: every group is decided on again")
        self._told = shards > 0

    @property
    def shards(self) -> int:
        """How many shards recover now."""
        return sum(self._shards.values())

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge."""
        family = GaugeMetricFamily(
            "fairlead_recovering_shards",
            "Shards that recover, or some group of which does: what recovers does not move.",
        )
        family.add_metric([], self.shards)
        yield family
