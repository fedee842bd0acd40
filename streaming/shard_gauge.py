"""Of how many shards something holds now: a gauge, and when it began and ended."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class ShardGauge(Collector):
    """Which shards are in a state that the log tells once: as of the newest batch.

    Args:
        name: of the gauge.
        text: what it means, for whoever reads the page at night.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text
        self._shards: dict[int, bool] = {}
        self._told = False

    def put(self, shard: int, *, holds: bool) -> None:
        """Note whether it holds of a shard now."""
        self._shards = {**self._shards, shard: holds}

    def turned(self) -> bool | None:
        """Return True if it has begun to hold of a shard, False if of none any more; else None.

        Since the last call: each turn is returned once.
        """
        before, self._told = self._told, self.shards > 0
        return None if before == self._told else self._told

    @property
    def shards(self) -> int:
        """Of how many shards it holds now."""
        return sum(self._shards.values())

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge."""
        family = GaugeMetricFamily(self._name, self._text)
        family.add_metric([], self.shards)
        yield family
