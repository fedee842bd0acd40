"""Shows an operator which shards recover: a gauge, and a log line at the begin and at the end."""

from collections.abc import Mapping
from typing import Final

import structlog

from fairlead.engine.round import GROUPS_NOW, RECOVERING_NOW
from streaming.shard_gauge import ShardGauge

log = structlog.get_logger()

_GROUPS: Final = f"{GROUPS_NOW}/recovering"


class RecoveringShards(ShardGauge):
    """The shards that recover, or that have a recovering group, as of the newest batch."""

    def __init__(self) -> None:
        super().__init__(
            "fairlead_recovering_shards",
            "Shards that recover or have a recovering group: what recovers does not move.",
        )
        self._groups: dict[int, int] = {}

    def update(self, shard: int, counts: Mapping[str, int]) -> None:
        """Note what one shard counted in a batch."""
        groups = counts.get(_GROUPS, 0)
        self._groups = {**self._groups, shard: groups}
        self.put(shard, holds=groups > 0 or counts.get(RECOVERING_NOW, 0) > 0)

    def log_turn(self) -> None:
        """Log once when a recovery begins, and once when it is over."""
        turned = self.turned()
        if turned:
            log.warning(
                "recovering: owners go on; no queue moves until lease and margin have passed and "
                "every client has acknowledged",
                shards=self.shards,
                groups=sum(self._groups.values()),
            )
        elif turned is False:
            log.info("recovered: the engine decides on every group again")
