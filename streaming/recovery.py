"""What an operator sees of a recovery: a gauge, and a line in the log at its begin and its end."""

from collections.abc import Mapping
from typing import Final

import structlog

from streaming.shard_gauge import ShardGauge

log = structlog.get_logger()

RECOVERING_NOW: Final = "recovering_now"
"""The word under which a shard tells that it recovers."""
_GROUPS: Final = "groups_now/recovering"


class Recovery(ShardGauge):
    """Which shards recover, themselves or some of their groups: as of the newest batch."""

    def __init__(self) -> None:
        super().__init__(
            "fairlead_recovering_shards",
            "Shards that recover, or some group of which does: what recovers does not move.",
        )
        self._groups: dict[int, int] = {}

    def take(self, shard: int, counts: Mapping[str, int]) -> None:
        """Take what a shard tells of a batch."""
        groups = counts.get(_GROUPS, 0)
        self._groups = {**self._groups, shard: groups}
        self.put(shard, holds=groups > 0 or counts.get(RECOVERING_NOW, 0) > 0)

    def tell(self) -> None:
        """Say in the log, once each, that the recovery has begun and that it is over."""
        turned = self.turned()
        if turned:
            log.warning(
                "recovering: owners go on, nothing moves until lease and margin have passed and "
                "every client has acknowledged",
                shards=self.shards,
                groups=sum(self._groups.values()),
            )
        elif turned is False:
            log.info("recovered: every group is decided on again")
