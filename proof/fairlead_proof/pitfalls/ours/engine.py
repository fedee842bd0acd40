"""Runs the engine's core over a log in memory, batch by batch.

The streaming job runs the same function; only Spark and Kafka are missing here.
"""

from dataclasses import dataclass, field

from fairlead.core.invariants import check
from fairlead.core.model import Source
from fairlead.core.moment import Moment
from fairlead.core.outputs import Output
from fairlead.core.records import Arrival, GroupRecord
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.state import GroupState
from fairlead.core.step import due_ms, step
from strategies.registry import STRATEGIES

__all__ = ["GENERATION", "Engine"]

GENERATION = 1
SWITCH_MS = 2_000
"""How long a growing topic waits for the bounds of its new queues, as in conf/default.toml."""

_TOPICS = ("control", "routes", "offsets", "releases", "heartbeats")


@dataclass(slots=True)
class Engine:
    """One group's state, and the records that it has not read yet."""

    state: GroupState | None = None
    rules: EngineRules = field(
        default_factory=lambda: EngineRules(GENERATION, STRATEGIES, switch_ms=SWITCH_MS)
    )
    _steps: int = 0
    _waiting: list[Arrival] = field(default_factory=list)
    _offsets: dict[str, int] = field(default_factory=dict)

    def append(self, topic: str, record: GroupRecord, now_ms: int) -> None:
        """Append a record of the group to one of the engine's topics."""
        offset = self._offsets.get(topic, 0)
        self._offsets[topic] = offset + 1
        self._waiting.append(Arrival(Source(topic, 0, offset, now_ms), now_ms, record))

    def batch(self, now_ms: int) -> tuple[Output, ...]:
        """Read all records since the last batch; return what the engine writes."""
        if not self._waiting and (self.state is None or due_ms(self.state, self.rules) > now_ms):
            return ()
        arrivals = sorted(
            self._waiting, key=lambda one: (_TOPICS.index(one.source.topic), one.source)
        )
        self._waiting = []
        moment = Moment(now_ms, now_ms, GENERATION, 0, self._steps + 1)
        result = step(self.state, arrivals, moment, self.rules)
        self.state = result.state
        self._steps += bool(result.outputs)
        if self.state is not None:
            check(self.state, self.rules)
        return result.outputs
