"""What one shard counted in one batch, on its way from a worker to the metrics of the driver."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """The counts of a batch by name, as ``fairlead.engine`` names them."""

    numbers: Mapping[str, int]

    def write(self) -> bytes:
        """Return the value of the row of counts."""
        return orjson.dumps(dict(self.numbers))

    @classmethod
    def read(cls, text: str) -> "ShardCounts":
        """Read what `write` wrote."""
        return cls(orjson.loads(text))
