"""Walks through a recording, decision by decision, with what had been read before each.

A decision names the cut that it rests on. So the walk reads the inputs of its shard up to there,
shows the decision to the judges beside what the inputs prove, and only then takes its grants for
issued. Adds whose driver died before it wrote its decision were issued as well: somebody may have
read them. They are met before the first decision of the next driver.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from fairlead.core.model import Epoch, MessageQueue
from fairlead.engine.clock import TICKS_PER_MOVE
from fairlead.engine.drivers import Drivers
from fairlead.recording import RecordingFolder
from fairlead.recording.log import FolderLog
from fairlead.replay.recorded_log import Places
from fairlead.replay.shard_replay import portions
from fairlead.verify.decisions import read_decisions
from fairlead.verify.facts import ShardFacts, order_of
from fairlead.verify.grant_facts import GrantFacts
from fairlead.verify.group_facts import GroupFacts
from fairlead.verify.issued_grants import ALL, Told, ToldAdd, read_told
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.verdicts import Docket
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import INPUT_TOPICS

__all__ = ["Ending", "Judge", "Step", "Walk", "WalkCounts"]

_SPEAKERS_MAX: Final = 100_000
"""So many rows before a decision are known by their group: more than any batch has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One decision, beside what was known when it was made.

    ``adds`` are those of its assignment records, as far as they are still there. ``whole``: the
    shard's log was read from its first record. ``behind``: more was read than this decision had:
    its driver began from an older state.
    """

    audit: DecisionRecord
    adds: Sequence[ToldAdd]
    facts: ShardFacts
    group: GroupFacts
    whole: bool
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """A shard after everything recorded was read."""

    shard: int
    facts: ShardFacts
    whole: bool


class Judge(Protocol):
    """Looks at each step, and at each shard's end."""

    def step(self, step: Step) -> None:
        """Look at a decision; its grants are not yet among those that were issued."""
        ...

    def orphan(self, add: ToldAdd, facts: ShardFacts) -> None:
        """Look at an add whose driver died before it wrote its decision."""
        ...

    def end(self, ending: Ending) -> None:
        """Look at a shard when there is nothing more to be read."""
        ...


@dataclass(slots=True)
class WalkCounts:
    """What was met.

    ``handovers`` are grants of a queue to another member than the one before it; ``unsafe`` are
    queues that were granted although somebody might still work, as the records say.
    """

    decisions: int = 0
    adds: int = 0
    handovers: int = 0
    resent: int = 0
    orphans: int = 0
    lapses: int = 0
    moves: dict[str, int] = field(default_factory=dict)
    triggers: dict[str, int] = field(default_factory=dict)
    alarms: dict[str, int] = field(default_factory=dict)
    epochs: set[tuple[str, Epoch]] = field(default_factory=set)
    generations: set[int] = field(default_factory=set)
    unsafe: set[tuple[str, MessageQueue]] = field(default_factory=set)


class Walk:
    """One walk through a recording."""

    def __init__(
        self,
        recording: RecordingFolder,
        drivers: Drivers,
        docket: Docket,
        refused: Mapping[tuple[str, int, int], str],
    ) -> None:
        """Prepare the walk.

        Args:
            recording: the topics.
            drivers: what each generation ran under.
            docket: takes what is found on the way.
            refused: why each row was refused that has a dead letter, by its place.
        """
        self.counts = WalkCounts()
        self._recording, self._drivers, self._docket = recording, drivers, docket
        self._refused = refused
        self._shards: dict[int, _Shard] = {}
        self._seen: dict[tuple[int, int, int, str], Epoch] = {}
        self._generations: dict[int, int] = {}
        self._decided: dict[tuple[str, int], int] = {}
        self.told: Told = read_told(recording, docket)

    def run(self, judges: Sequence[Judge]) -> None:
        """Walk from the first decision to the end of all topics.

        Raises:
            RecordingError: the recording is damaged.
        """
        for audit in read_decisions(self._recording, self._docket):
            if not self._is_new(audit):
                continue
            shard = self._shard(audit.cut.shard)
            self._meet(shard, audit, judges)
        for number in range(self._recording.manifest.partitions.shards):
            shard = self._shard(number)
            shard.read_to(shard.log.ends(self._recording.manifest.names, number))
            self._meet_orphans(shard, ALL, judges)
            for judge in judges:
                judge.end(Ending(number, shard.facts, shard.whole))

    @property
    def read(self) -> dict[tuple[str, int], int]:
        """Return, by topic and partition, below which offset some decision had read."""
        return dict(self._decided)

    @property
    def facts(self) -> Iterator[ShardFacts]:
        """What was read, shard by shard."""
        return (shard.facts for _, shard in sorted(self._shards.items()))

    def _is_new(self, audit: DecisionRecord) -> bool:
        """Tell whether a decision is met for the first time; a batch may be written again."""
        place = (*_place(audit), audit.group)
        known = self._seen.setdefault(place, audit.epoch)
        self.counts.resent += place in self._seen and known is not audit.epoch
        return known is audit.epoch

    def _shard(self, number: int) -> "_Shard":
        if number not in self._shards:
            self._shards[number] = _Shard(self._recording, self._drivers, number, self._refused)
        return self._shards[number]

    def _meet(self, shard: "_Shard", audit: DecisionRecord, judges: Sequence[Judge]) -> None:
        counts = self.counts
        shard.tick_by(audit.cut.generation)
        if not shard.has_begun(audit.cut.positions):
            self.told.drop(audit)
            return
        behind = shard.is_behind(audit.cut.positions)
        shard.read_to(audit.cut.positions)
        # The driver before had read the same rows when it died.
        self._meet_orphans(shard, audit.cut.generation, judges)
        group = shard.facts.group(audit.group)
        counts.lapses += _deaths(shard.facts.lapse(group))
        adds = self.told.take(audit)
        step = Step(audit, adds, shard.facts, group, shard.whole, behind)
        for judge in judges:
            judge.step(step)
        for topic, ends in audit.cut.positions.items():
            for partition, end in ends.items():
                place = (topic, partition)
                self._decided[place] = max(end, self._decided.get(place, 0))
        counts.decisions += 1
        counts.generations.add(audit.cut.generation)
        counts.epochs.add((audit.group, audit.epoch))
        for name, words in (("triggers", audit.triggers), ("alarms", audit.alarms)):
            held: dict[str, int] = getattr(counts, name)
            for word in words:
                held[word] = held.get(word, 0) + 1
        self._issue(group, audit, adds, shard.facts.clock.clock_ms)
        if "group_evicted" in audit.triggers:
            group.positions.reached.clear()
        elif audit.phase != "barrier":
            shard.facts.forget_unread(group)

    def _issue(
        self, group: GroupFacts, audit: DecisionRecord, adds: Sequence[ToldAdd], clock_ms: int
    ) -> None:
        counts = self.counts
        told = {(add.queue, add.epoch): add.member for add in adds}
        for move in audit.moves:
            counts.moves[move.stage] = counts.moves.get(move.stage, 0) + 1
            if move.stage == "dropped":
                dropped = group.grants.get(move.queue, {}).get(move.epoch)
                if dropped is not None and not group.refuses(dropped, audit.cut.generation):
                    dropped.drop(audit.row, audit.cut.generation, clock_ms)
            elif move.stage in ("gated", "granted"):
                known = group.grants.get(move.queue, {})
                if move.epoch not in known and known:
                    newest = known[max(known)]
                    counts.handovers += newest.client_id != move.client_id
                counts.adds += move.epoch not in known
                if move.unsafe:
                    counts.unsafe.add((group.name, move.queue))
                    for overtaken in group.open_grants(move.queue, move.epoch):
                        overtaken.overtaken = True
                member = told.get((move.queue, move.epoch)) or group.effective(move.client_id)
                grant = GrantFacts(move.queue, move.epoch, move.client_id, member, audit.row)
                group.issue(grant, audit.cut.generation)
                group.forget(move.queue)
        for add in adds:
            group.issue(_grant(add), add.generation)

    def _meet_orphans(self, shard: "_Shard", generation: int, judges: Iterable[Judge]) -> None:
        """Take the adds for issued that a driver wrote in the batch in which it died."""
        if self._generations.get(shard.number) == generation:
            return
        self._generations[shard.number] = generation
        shards = self._recording.manifest.partitions.shards
        groups = frozenset(
            key.group
            for key in self.told.adds
            if partition_of_group(key.group, shards) == shard.number
        )
        for add in self.told.left_over(groups, generation):
            self.counts.lapses += _deaths(shard.facts.lapse(shard.facts.group(add.group)))
            for judge in judges:
                judge.orphan(add, shard.facts)
            shard.facts.group(add.group).issue(_grant(add), add.generation)
            self.counts.orphans += 1


def _deaths(lapsed: Iterable[MemberFacts]) -> int:
    """Count those that were silent without having left."""
    return sum(not member.left for member in lapsed)


def _grant(add: ToldAdd) -> GrantFacts:
    return GrantFacts(add.queue, add.epoch, add.member.client_id, add.member, add.row)


def _place(audit: DecisionRecord) -> tuple[int, int, int]:
    return audit.cut.shard, audit.cut.generation, audit.cut.step


class _Shard:
    """One shard's facts and how far they were read."""

    def __init__(
        self,
        recording: RecordingFolder,
        drivers: Drivers,
        number: int,
        refused: Mapping[tuple[str, int, int], str],
    ) -> None:
        self.number = number
        self.log = FolderLog(recording)
        manifest = recording.manifest
        self.whole = all(
            recording.part(suffix, number).first == 0 for suffix in ("heartbeats", "releases")
        )
        self.facts = ShardFacts(
            manifest.partitions.shards,
            manifest.settings.tick_ms,
            refused,
            lambda tick, marker: drivers.wrote(number, tick, marker, whole=self.whole),
            drivers.defaults,
        )
        self._drivers = drivers
        self._names = manifest.names
        self._first = {
            self._names.name(suffix): recording.part(suffix, number).first
            for suffix in ("heartbeats", "releases")
        }
        self._read: dict[str, dict[int, int]] = {
            manifest.names.name(suffix): {
                each: part.first
                for each, part in manifest.topics[suffix].items()
                if suffix in ("routes", "offsets") or each == number
            }
            for suffix in INPUT_TOPICS
            if suffix != "generations"
        }

    def tick_by(self, generation: int) -> None:
        """Let the clock move as the driver of a generation lets it."""
        self.facts.clock.limit_ms = TICKS_PER_MOVE * self._drivers.settings(generation).tick_ms

    def has_begun(self, positions: Places) -> bool:
        """Tell whether a decision rests on rows that are there: its log may begin later."""
        return self.whole or all(
            positions.get(topic, {}).get(self.number, 0) > self._first[topic]
            for topic in self._first
        )

    def is_behind(self, positions: Places) -> bool:
        """Tell whether more heartbeats were read than these positions say."""
        topic = self._names.name("heartbeats")
        read = self._read.get(topic, {}).get(self.number, 0)
        return read > positions.get(topic, {}).get(self.number, 0)

    def read_to(self, positions: Places) -> None:
        """Read the shard's inputs up to these positions; what was read stays read."""
        ends = {
            topic: {
                partition: max(stop, self._read[topic][partition])
                for partition, stop in partitions.items()
                if partition in self._read[topic]
            }
            for topic, partitions in positions.items()
            if topic in self._read
        }
        for begin, end in portions(self._read, ends, (self._names.name("heartbeats"), self.number)):
            rows = self.log.between(begin, end)
            if len(self.facts.speakers) > _SPEAKERS_MAX:
                self.facts.speakers.clear()
            rows.sort(key=lambda row: order_of(self._names.suffix(row.topic) or ""))
            for row in rows:
                self.facts.take(self._names.suffix(row.topic) or "", row)
        for topic, partitions in ends.items():
            self._read[topic].update(partitions)
