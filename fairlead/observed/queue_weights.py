"""What the queues of a group weigh, measured from the progress in the log.

It decides nothing by itself: the functions are the engine's own. The engine has measured for
longer, and changes a weight in force only if it is far off. So its weights may differ a little.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from fairlead.core.apply import apply_record
from fairlead.core.records import Arrival, Progress
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.targets.queue_measures import weigh_queues
from fairlead.core.topics.routes import has_closed_queues
from fairlead.engine.context import ShardContext
from fairlead.engine.parsed_row import ParsedRow
from fairlead.engine.reading import read_rows
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.core_group import CoreGroup
from fairlead.observed.planned_group import PlannedGroup
from fairlead.wire.limits import INT64_MAX
from fairlead.wire.partition import partition_of_group

__all__ = ["measured_for_ms", "weighed"]

_MEASURED_MS_MAX: Final = 600_000
"""The longest time of progress to read, whatever window the rule ``weighing`` has."""


def measured_for_ms(core: CoreGroup, *, measured: bool) -> int:
    """Return how long a time of progress must be read to weigh queues; 0: weights decide nothing.

    That is a window and two trigger periods: one until a queue counts, one to take effect.
    """
    rules, state = core.rules, core.state
    shared = {topic for member in state.members.values() for topic in member.topics}
    closed = any(
        has_closed_queues(route) for topic, route in state.routes.items() if topic in shared
    )
    if rules.weighing.by == "count" and not closed and not measured:
        return 0
    return min(rules.weighing.over_ms + 2 * rules.trigger_ms, _MEASURED_MS_MAX)


def weighed(
    planned: PlannedGroup, source: TopicSource, group: str, tick_ms: int, since_ms: int
) -> PlannedGroup:
    """Return the group with its queues weighed by the progress appended since a time."""
    shard = partition_of_group(group, source.partitions.shards)
    engine = EngineRules(INT64_MAX, planned.engine.strategies)
    context = ShardContext(engine, shard, source.partitions, source.names, tick_ms)
    key = group.encode()
    rows = [
        # A record of another group only moves the clock.
        row if row.key in (key, None) else row._replace(value=None)
        for row in source.read("heartbeats", [shard], since_ms)
    ]
    batch = read_rows(None, rows, context)
    draft, other_clock_ms = planned.draft(), planned.clock_ms - batch.clock.clock_ms
    for arrival in _progress(batch.lines.get(group, ())):
        # These rows begin elsewhere than the rows of the group, and so does their clock.
        apply_record(draft, replace(arrival, clock_ms=arrival.clock_ms + other_clock_ms))
    weigh_queues(draft, planned.clock_ms)
    state = replace(planned.state, measures=draft.state.measures, weights=draft.state.weights)
    return replace(planned, state=state)


def _progress(lines: Iterable[ParsedRow]) -> Iterator[Arrival]:
    for line in lines:
        if isinstance(line.record, Progress):
            yield line.arrival
