"""What a job read and wrote, read back from Kafka and compared with a replay of it."""

from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from fairlead.engine.context import ShardContext
from fairlead.replay.comparison import Comparison, Written, compare
from fairlead.replay.recorded_log import Recording
from fairlead.settings import Settings
from fairlead.wire.raw import raw_record
from sinks import FileSink
from strategies.registry import STRATEGIES
from streaming.checkpoint import Checkpoint
from streaming.query import QueryPlan, shard_context
from tests.kit.kafka_log import Log, body_of

INPUTS: Final = ("control", "routes", "offsets", "releases", "heartbeats")
OUTPUTS: Final = ("assignments", "decisions", "requests", "rejects")


Place = tuple[str, int, int]
"""Topic, partition, offset."""


def compare_with_replay(settings: Settings, log: Log, others: Container[Place] = ()) -> Comparison:
    """Replay everything in the topics of a test, and compare it with what stands there.

    ``others``: records of output topics that the engine did not write.
    """
    recording = Recording.of(raw_record(entry) for topic in INPUTS for entry in log.records(topic))
    written = [
        Written(entry.topic, entry.partition, entry.offset, entry.key, entry.value)
        for topic in OUTPUTS
        for entry in log.records(topic)
        if (entry.topic, entry.partition, entry.offset) not in others
    ]
    seals = {
        record.offset + 1: tuple(body_of(record).get("seals", ()))
        for record in log.records("generations")
    }
    return compare(recording, written, lambda *run: _context(settings, seals, *run))


def _context(
    settings: Settings, seals: Mapping[int, tuple[str, ...]], shard: int, generation: int
) -> ShardContext:
    """Return what the driver of a generation ran a shard under."""
    layout = Checkpoint(settings.engine.checkpoint).stored_layout()
    assert layout is not None
    sealed = seals.get(generation, ())
    plan = QueryPlan(settings, layout, generation, STRATEGIES, FileSink(Path()), seals=sealed)
    return replace(shard_context(plan), shard=shard)
