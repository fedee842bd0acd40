"""A gauge: how many shards are in a certain state now, and when the first entered it."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class ShardGauge(Collector):
    """The shards that are in one state, as of the newest batch.

    Args:
        name: the gauge's name.
        text: its meaning, for an operator.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text
        self._shards: dict[int, bool] = {}
        self._logged = False

    def put(self, shard: int, *, holds: bool) -> None:
        """Note whether a shard is in the state now."""
        self._shards = {**self._shards, shard: holds}

    def turned(self) -> bool | None:
        """Return what changed since the last call.

        True: a first shard has entered the state. False: the last one has left it. None: neither.
        """
        before, self._logged = self._logged, self.shards > 0
        return None if before == self._logged else self._logged

    @property
    def shards(self) -> int:
        """The number of shards in the state now."""
        return sum(self._shards.values())

    def collect(self) -> Iterator[Metric]:
        """Yield the gauge."""
        family = GaugeMetricFamily(self._name, self._text)
        family.add_metric([], self.shards)
        yield family
