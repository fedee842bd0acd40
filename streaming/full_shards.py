"""Shows an operator which shards have used up their share of all state: a gauge and log lines."""

from collections.abc import Mapping

import structlog

from fairlead.engine.state_share import FULL_NOW
from streaming.shard_gauge import ShardGauge

log = structlog.get_logger()


class FullShards(ShardGauge):
    """The shards that are full, as of the newest batch."""

    def __init__(self) -> None:
        super().__init__(
            "fairlead_full_shards",
            "Shards that have used up their share of all state: their groups may grow up to their "
            "own part only, and cannot add topics.",
        )

    def update(self, shard: int, counts: Mapping[str, int]) -> None:
        """Note what one shard counted in a batch."""
        self.put(shard, holds=counts.get(FULL_NOW, 0) > 0)

    def log_turn(self) -> None:
        """Log once when a shard becomes full, and once when no shard is full any more."""
        turned = self.turned()
        if turned:
            log.warning(
                "shards full: their groups may grow up to their own part only, and cannot add "
                "topics",
                shards=self.shards,
            )
        elif turned is False:
            log.info("shards no longer full: every shard holds less than its share of all state")
