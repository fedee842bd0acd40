"""What the queues of a group weigh, measured from the progress that stands in the log.

Decides nothing by itself: the functions are the engine's own. The engine has measured for longer,
and changes a weight in force only if it is far off: its weights are near these, and not always the
same.
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
from fairlead.observed.planned_group import Picture
from fairlead.wire.limits import INT64_MAX
from fairlead.wire.partition import partition_of_group

__all__ = ["measured_for_ms", "weighed"]

_MEASURED_MS_MAX: Final = 600_000
"""Progress is read for no longer than this, whatever window the rule ``weighing`` has."""


def measured_for_ms(core: CoreGroup, *, measured: bool) -> int:
    """Return for how long progress must be read to know what queues weigh; 0: it decides nothing.

    A window, and two periods of the trigger: one until a queue counts, one to be in force.
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
    picture: Picture, source: TopicSource, group: str, tick_ms: int, since_ms: int
) -> Picture:
    """Return the group with its queues weighed by the progress that was appended since a time."""
    shard = partition_of_group(group, source.partitions.shards)
    engine = EngineRules(INT64_MAX, picture.engine.strategies)
    context = ShardContext(engine, shard, source.partitions, source.names, tick_ms)
    key = group.encode()
    rows = [
        # Of another group: it moves the clock and no more.
        row if row.key in (key, None) else row._replace(value=None)
        for row in source.read("heartbeats", [shard], since_ms)
    ]
    batch = read_rows(None, rows, context)
    draft, other_clock_ms = picture.draft(), picture.clock_ms - batch.clock.clock_ms
    for arrival in _progress(batch.lines.get(group, ())):
        # These rows begin elsewhere than those that the group was made of, and so does their clock.
        apply_record(draft, replace(arrival, clock_ms=arrival.clock_ms + other_clock_ms))
    weigh_queues(draft, picture.clock_ms)
    state = replace(picture.state, measures=draft.state.measures, weights=draft.state.weights)
    return replace(picture, state=state)


def _progress(lines: Iterable[ParsedRow]) -> Iterator[Arrival]:
    for line in lines:
        if isinstance(line.record, Progress):
            yield line.arrival
