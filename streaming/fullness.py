"""What an operator sees of shards that hold their share of all state: a gauge, and log lines."""

from collections.abc import Mapping

import structlog

from fairlead.engine.state_share import FULL_NOW
from streaming.shard_gauge import ShardGauge

log = structlog.get_logger()


class Fullness(ShardGauge):
    """Which shards are full: as of the newest batch."""

    def __init__(self) -> None:
        super().__init__(
            "fairlead_full_shards",
            "Shards that hold their share of what may be kept: their groups grow up to their "
            "part, and add no topic.",
        )

    def take(self, shard: int, counts: Mapping[str, int]) -> None:
        """Take what a shard tells of a batch."""
        self.put(shard, holds=counts.get(FULL_NOW, 0) > 0)

    def tell(self) -> None:
        """Say in the log, once each, that a shard is full and that none is any more."""
        turned = self.turned()
        if turned:
            log.warning(
                "no more room: groups of these shards grow up to their part, and add no topic",
                shards=self.shards,
            )
        elif turned is False:
            log.info("room again: every shard holds less than its share of all state")
