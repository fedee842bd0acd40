"""Compares records without a known order with those that a replay writes."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from fairlead.engine.context import ShardContext
from fairlead.replay.difference import Difference, difference_of
from fairlead.replay.output_log import Content, Written, is_foreign_tick, is_refusal, masked
from fairlead.replay.shard_replay import Replayed
from fairlead.wire.raw import OutgoingRecord

__all__ = ["UnorderedMatch"]


@dataclass(slots=True)
class UnorderedMatch:
    """The records of a replay as sets: those that must be in the output, and those that may."""

    expected: dict[tuple[str, int], set[Content]] = field(default_factory=dict)
    allowed: dict[tuple[str, int], set[Content]] = field(default_factory=dict)

    def add_cut(self, entry: Replayed, context: ShardContext) -> None:
        """Add the refusals that a cut writes."""
        for record in (*entry.silent, *entry.result.records):
            if is_refusal(record, context):
                self.add(record, interrupted=entry.interrupted)

    def add(self, record: OutgoingRecord, *, interrupted: bool) -> None:
        """Add a record; ``interrupted``: its driver died, so it may be missing in the output."""
        target = self.allowed if interrupted or is_foreign_tick(record) else self.expected
        content = masked(Content(record.key, record.value))
        target.setdefault((record.topic, record.partition), set()).add(content)

    def knows(self, record: Written) -> bool:
        """Tell whether the replay writes a record."""
        place, content = (record.topic, record.partition), Content(record.key, record.value)
        return any(masked(content) in held.get(place, ()) for held in (self.expected, self.allowed))

    def compare(self, written: Iterable[Written]) -> Difference | None:
        """Return the first record that the replay does not write, or that is missing."""
        missing = {place: set(contents) for place, contents in self.expected.items()}
        for record in written:
            place = (record.topic, record.partition)
            content = masked(Content(record.key, record.value))
            if not self.knows(record) and not is_foreign_tick(record):
                return difference_of(record, None)
            missing.get(place, set()).discard(content)
        for (topic, partition), contents in sorted(missing.items()):
            for content in sorted(contents, key=repr):
                return Difference(topic, partition, None, content, None)
        return None
