"""Walks through a recording, decision by decision, with the facts before each.

A decision names the cut that it rests on. So the walk reads the inputs of its shard up to there,
shows the decision and the facts to the judges, and only then counts its grants as issued. An add
whose driver died before it wrote the decision is issued too, since a client may have read it. The
walk meets such adds before the first decision of the next driver.
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
from fairlead.verify.issued_grants import ALL, IssuedAdd, IssuedGrants, read_issued_grants
from fairlead.verify.member_facts import MemberFacts
from fairlead.verify.verdicts import Verdicts
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import INPUT_TOPICS

__all__ = ["Judge", "ShardEnd", "Step", "Walk", "WalkCounts"]

_FOLLOWING: Final = "following"
"""The footing of a group that RocketMQ's own strategy shares out."""
_TAKEN_OVER: Final = "taken_over"
"""The trigger of the decision that takes such a group over."""

_SPEAKERS_MAX: Final = 100_000
"""The walk knows the groups of this many rows before a decision: more than a batch has."""


@dataclass(frozen=True, slots=True)
class Step:
    """One decision, and the facts when it was made.

    ``adds`` are those of its assignment records that the topic still holds. ``whole``: the walk
    read the shard's log from its first record. ``behind``: the walk has read more than the
    decision's driver, which began from an older state.
    """

    decision: DecisionRecord
    adds: Sequence[IssuedAdd]
    facts: ShardFacts
    group: GroupFacts
    whole: bool
    behind: bool = False


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """A shard after the walk has read all of its recording."""

    shard: int
    facts: ShardFacts
    whole: bool


class Judge(Protocol):
    """Judges each step, and each shard at its end."""

    def step(self, step: Step) -> None:
        """Judge a decision; its grants are not issued yet."""
        ...

    def orphan(self, add: IssuedAdd, facts: ShardFacts) -> None:
        """Judge an add whose driver died before it wrote the decision."""
        ...

    def finish(self, end: ShardEnd) -> None:
        """Judge a shard at the end of its recording."""
        ...


@dataclass(slots=True)
class WalkCounts:
    """Counts of a walk.

    ``handovers`` are grants of a queue to another client than the grant before; ``unsafe`` are
    queues with a grant that a decision marked unsafe.
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
        verdicts: Verdicts,
        refused: Mapping[tuple[str, int, int], str],
    ) -> None:
        """Prepare the walk.

        Args:
            recording: the topics.
            drivers: what each generation ran under.
            verdicts: collects the findings.
            refused: the reason of each dead letter, by the place of its row.
        """
        self.counts = WalkCounts()
        self._recording, self._drivers, self._verdicts = recording, drivers, verdicts
        self._refused = refused
        self._shards: dict[int, _Shard] = {}
        self._seen: dict[tuple[int, int, int, str], Epoch] = {}
        self._generations: dict[int, int] = {}
        self._decided: dict[tuple[str, int], int] = {}
        self.issued: IssuedGrants = read_issued_grants(recording, verdicts)

    def run(self, judges: Sequence[Judge]) -> None:
        """Walk from the first decision to the end of all topics.

        Raises:
            RecordingError: the recording is damaged.
        """
        for decision in read_decisions(self._recording, self._verdicts):
            if not self._is_new(decision):
                continue
            shard = self._shard(decision.cut.shard)
            self._meet(shard, decision, judges)
        for number in range(self._recording.manifest.partitions.shards):
            shard = self._shard(number)
            shard.read_to(shard.log.ends(self._recording.manifest.names, number))
            self._meet_orphans(shard, ALL, judges)
            for judge in judges:
                judge.finish(ShardEnd(number, shard.facts, shard.whole))

    @property
    def read(self) -> dict[tuple[str, int], int]:
        """The offset up to which some decision had read, by topic and partition."""
        return dict(self._decided)

    @property
    def facts(self) -> Iterator[ShardFacts]:
        """The facts of each shard, in order."""
        return (shard.facts for _, shard in sorted(self._shards.items()))

    def _is_new(self, decision: DecisionRecord) -> bool:
        """Tell whether a decision is new: the engine may write a batch again."""
        place = (*_place(decision), decision.group)
        known = self._seen.setdefault(place, decision.epoch)
        self.counts.resent += place in self._seen and known is not decision.epoch
        return known is decision.epoch

    def _shard(self, number: int) -> "_Shard":
        if number not in self._shards:
            self._shards[number] = _Shard(self._recording, self._drivers, number, self._refused)
        return self._shards[number]

    def _meet(self, shard: "_Shard", decision: DecisionRecord, judges: Sequence[Judge]) -> None:
        counts = self.counts
        shard.tick_by(decision.cut.generation)
        if not shard.has_begun(decision.cut.positions):
            self.issued.drop(decision)
            return
        behind = shard.is_behind(decision.cut.positions)
        shard.read_to(decision.cut.positions)
        # The driver before had read the same rows when it died.
        self._meet_orphans(shard, decision.cut.generation, judges)
        group = shard.facts.group(decision.group)
        counts.lapses += _deaths(shard.facts.lapse(group))
        if decision.state.footing == _FOLLOWING:
            # Its members work on by themselves, and the engine has no part in that.
            group.let_go(decision.row)
        elif _TAKEN_OVER in decision.triggers:
            group.positions.forget_ends()
        adds = self.issued.pop_adds(decision)
        step = Step(decision, adds, shard.facts, group, shard.whole, behind)
        for judge in judges:
            judge.step(step)
        for topic, ends in decision.cut.positions.items():
            for partition, end in ends.items():
                place = (topic, partition)
                self._decided[place] = max(end, self._decided.get(place, 0))
        counts.decisions += 1
        counts.generations.add(decision.cut.generation)
        counts.epochs.add((decision.group, decision.epoch))
        for name, words in (("triggers", decision.triggers), ("alarms", decision.alarms)):
            held: dict[str, int] = getattr(counts, name)
            for word in words:
                held[word] = held.get(word, 0) + 1
        self._issue(group, decision, adds, shard.facts.clock.clock_ms)
        if "group_evicted" in decision.triggers:
            group.positions.reached.clear()
        elif decision.phase != "barrier":
            shard.facts.forget_unread(group)

    def _issue(
        self, group: GroupFacts, decision: DecisionRecord, adds: Sequence[IssuedAdd], clock_ms: int
    ) -> None:
        counts = self.counts
        members = {(add.queue, add.epoch): add.member for add in adds}
        for move in decision.moves:
            counts.moves[move.stage] = counts.moves.get(move.stage, 0) + 1
            if move.stage == "dropped":
                dropped = group.grants.get(move.queue, {}).get(move.epoch)
                if dropped is not None and not group.refuses(dropped, decision.cut.generation):
                    dropped.drop(decision.row, decision.cut.generation, clock_ms)
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
                member = members.get((move.queue, move.epoch)) or group.effective(move.client_id)
                grant = GrantFacts(move.queue, move.epoch, move.client_id, member, decision.row)
                group.issue(grant, decision.cut.generation)
                group.forget(move.queue)
        for add in adds:
            group.issue(_grant(add), add.generation)

    def _meet_orphans(self, shard: "_Shard", generation: int, judges: Iterable[Judge]) -> None:
        """Count as issued the adds that a driver wrote in the batch in which it died."""
        if self._generations.get(shard.number) == generation:
            return
        self._generations[shard.number] = generation
        shards = self._recording.manifest.partitions.shards
        groups = frozenset(
            key.group
            for key in self.issued.adds
            if partition_of_group(key.group, shards) == shard.number
        )
        for add in self.issued.left_over(groups, generation):
            self.counts.lapses += _deaths(shard.facts.lapse(shard.facts.group(add.group)))
            for judge in judges:
                judge.orphan(add, shard.facts)
            shard.facts.group(add.group).issue(_grant(add), add.generation)
            self.counts.orphans += 1


def _deaths(lapsed: Iterable[MemberFacts]) -> int:
    """Count the lapsed members that had not left."""
    return sum(not member.left for member in lapsed)


def _grant(add: IssuedAdd) -> GrantFacts:
    return GrantFacts(add.queue, add.epoch, add.member.client_id, add.member, add.row)


def _place(decision: DecisionRecord) -> tuple[int, int, int]:
    return decision.cut.shard, decision.cut.generation, decision.cut.step


class _Shard:
    """One shard's facts, and how far the walk has read."""

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
        """Limit the steps of the clock as the driver of a generation does."""
        self.facts.clock.limit_ms = TICKS_PER_MOVE * self._drivers.settings(generation).tick_ms

    def has_begun(self, positions: Places) -> bool:
        """Tell whether the log begins before this decision, so that it can be judged."""
        return self.whole or all(
            positions.get(topic, {}).get(self.number, 0) > self._first[topic]
            for topic in self._first
        )

    def is_behind(self, positions: Places) -> bool:
        """Tell whether the walk has read more heartbeats than these positions."""
        topic = self._names.name("heartbeats")
        read = self._read.get(topic, {}).get(self.number, 0)
        return read > positions.get(topic, {}).get(self.number, 0)

    def read_to(self, positions: Places) -> None:
        """Read the shard's inputs up to these positions; skip what was read before."""
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
                self.facts.read_row(self._names.suffix(row.topic) or "", row)
        for topic, partitions in ends.items():
            self._read[topic].update(partitions)
