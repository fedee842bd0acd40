"""A small Kafka: append-only lists with append times, and what stands beside them."""

from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue, Position, Route, Source
from fairlead.core.outputs import Assignment, Notice
from fairlead.core.records import Arrival, GroupRecord, OffsetsKnown, QueueOffsets, RouteChanged
from tests.core.world import route_of

__all__ = ["DataPlane", "Log", "Tick"]

INPUTS = ("control", "routes", "offsets", "releases", "heartbeats")


@dataclass(frozen=True, slots=True)
class Tick:
    """A driver's tick in the heartbeats partition."""

    generation: int


@dataclass(slots=True)
class DataPlane:
    """The topic whose queues are shared: how far each was processed and committed."""

    queues: int
    done: dict[MessageQueue, int] = field(default_factory=dict)
    committed: dict[MessageQueue, Position] = field(default_factory=dict)
    end: int = 1_000_000

    @property
    def route(self) -> Route:
        """The topic's present route."""
        return route_of(self.queues)


@dataclass(slots=True)
class Log:
    """Every topic as a list; a reader keeps its own place."""

    data: DataPlane
    now_ms: int = 0
    inputs: dict[str, list[tuple[int, GroupRecord | Tick]]] = field(
        default_factory=lambda: {name: [] for name in INPUTS}
    )
    told: list[Assignment | Notice] = field(default_factory=list)
    generations: int = 0

    def append(self, topic: str, record: GroupRecord | Tick) -> None:
        """Append a record at the present time."""
        self.inputs[topic].append((self.now_ms, record))

    def answer(self, what: str) -> None:
        """A bridge answers a request for the route or for offsets."""
        route = self.data.route
        if what == "route":
            self.append("routes", RouteChanged(route.topic, route))
            return
        known = tuple(
            QueueOffsets(queue, 0, self.data.end, self.data.committed.get(queue), None)
            for number in range(self.data.queues)
            for queue in [MessageQueue(route.topic, "main", number)]
        )
        self.append("offsets", OffsetsKnown("orders", route.topic, route.identity, known))

    def arrivals(
        self, start: dict[str, int], end: dict[str, int], clock: "LogClock"
    ) -> list[Arrival]:
        """Return the records between two cuts, dated by the clock, which moves with them."""
        found = []
        for topic in INPUTS:
            for offset in range(start[topic], end[topic]):
                append_ms, record = self.inputs[topic][offset]
                if topic == "heartbeats":
                    clock.read(append_ms)
                if isinstance(record, Tick):
                    clock.marker = max(clock.marker, record.generation)
                    continue
                source = Source(topic, 0, offset, append_ms)
                found.append(Arrival(source, clock.clock_ms, record))
        return found


@dataclass(slots=True)
class LogClock:
    """The shard's clock: the sum of clamped differences of append times."""

    clock_ms: int = 0
    append_ms: int | None = None
    marker: int = 0
    tick_ms: int = 1_000

    def read(self, append_ms: int) -> None:
        """Move to a record of the heartbeats partition."""
        if self.append_ms is not None:
            self.clock_ms += min(max(append_ms - self.append_ms, 0), 2 * self.tick_ms)
        self.append_ms = append_ms
