"""One driver of the engine: batches as Spark cuts, runs, writes and commits them.

It writes the cut to the checkpoint, runs the shard over the rows, writes the records one by one,
and commits the batch. It may die between any two of these steps, and another driver runs the same
cut again. The shard machine is the real one, from stored bytes to bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import orjson

from fairlead.codec.stored import StoredShard
from fairlead.core.records import Generation, Tick
from fairlead.core.rules.group_rules import EngineRules
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.seals import seal_of
from fairlead.engine.shard import run_shard
from fairlead.wire.encode import encode_generation, encode_tick
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.raw import OutgoingRecord, Partitions, RawRecord
from fairlead.wire.topics import TopicNames
from fairlead_proof.sim.chance import Chance
from fairlead_proof.sim.checkpoint import Checkpoint, Ends, Saved
from fairlead_proof.sim.client import ASSIGNMENTS_PARTITIONS
from fairlead_proof.sim.kafka import CLOCK_BEGIN_MS, Kafka
from fairlead_proof.sim.scenario import Scenario
from fairlead_proof.sim.story import Story
from fairlead_proof.sim.timeline import Happening, Timeline
from fairlead_proof.sim.violation import BreachError
from strategies.registry import STRATEGIES

__all__ = ["Death", "Driver", "DriverEnvironment", "Judge"]

WINDOWED = ("heartbeats", "releases")
INPUTS = ("control", "routes", "offsets", "releases", "heartbeats")
NAMES = TopicNames()
PARTITIONS = Partitions(1, ASSIGNMENTS_PARTITIONS)
START_MS = (200, 1_500)
POLL_MS = (20, 150)
RUN_MS = (50, 350)
COMMIT_MS = (20, 150)
SUPERSEDED_MS = 600
WAITS_MS = 200


class Death(StrEnum):
    """The step of a batch at which a driver dies."""

    BEFORE_SINK = "before_sink"
    PARTLY_WRITTEN = "partly_written"
    AFTER_SINK = "after_sink"


class Judge(Protocol):
    """Observes drivers, and judges them."""

    def engine_started(self, stored: StoredShard | None) -> None:
        """A driver starts from this state."""

    def written(
        self,
        driver: "Driver",
        batch: "Batch",
        records: Sequence[OutgoingRecord],
        decided: Sequence[OutgoingRecord],
    ) -> None:
        """The driver has just appended ``records``, some or all of ``decided``."""


class DriverEnvironment(Protocol):
    """The environment of a driver."""

    timeline: Timeline
    chance: Chance
    kafka: Kafka
    scenario: Scenario

    @property
    def story(self) -> Story | None:
        """The story for people; None: nobody asked for it."""

    @property
    def judge(self) -> Judge:
        """The judge."""

    def narrate(self, who: str, what: str, *values: object) -> None:
        """Add a line to the story."""

    def note(self, kind: str) -> None:
        """Count something of this kind."""

    def died(self) -> None:
        """A driver has died by itself."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch under way: its bounds, the state before it, its rows."""

    begin: Ends
    ends: Ends
    stored: StoredShard | None
    rows: list[RawRecord]


@dataclass(slots=True)
class Driver:
    """One process of the engine, from its start to its end.

    Attributes:
        deaf: it learns of other drivers' claims only from their ticks, after its own batch.
        death: the step at which it dies, in its next batch that writes anything.
        loses: how many of its next records get lost on their way to the client.
    """

    world: DriverEnvironment
    checkpoint: Checkpoint
    number: int
    deaf: bool = False
    generation: int = 0
    alive: bool = True
    stands_until_ms: int = 0
    death: Death | None = None
    retries: int = 0
    loses: int = 0
    slow_ms: int = 0
    ticks_late: int = 0
    ticks_late_ms: int = 0
    begin: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start the process, which claims a generation a little later."""
        self.world.timeline.after(self.world.chance.between(*START_MS), self._claim)

    @property
    def name(self) -> str:
        """Its generation as a name, once it has one."""
        return f"driver-{self.generation or '?'}"

    def kill(self) -> None:
        """End at once, at whatever step."""
        if self.alive:
            self.world.narrate(self.name, "is killed")
            self.alive = False

    def freeze(self, wait_ms: int) -> None:
        """Stand still for this time."""
        self.world.narrate(self.name, "is frozen for", wait_ms, "ms")
        self.stands_until_ms = max(self.stands_until_ms, self.world.timeline.now_ms + wait_ms)

    def _runs(self, again: Happening) -> bool:
        """Tell whether the process runs now; a frozen one repeats the step after its thaw."""
        if not self.alive:
            return False
        now_ms = self.world.timeline.now_ms
        if self.stands_until_ms > now_ms:
            self.world.timeline.after(min(WAITS_MS, self.stands_until_ms - now_ms), again)
            return False
        if not self.world.kafka.up:
            self.world.timeline.after(WAITS_MS, again)
            return False
        return True

    def _claim(self) -> None:
        if not self._runs(self._claim):
            return
        world = self.world
        driver = f"00000000-0000-4000-8000-{self.number:012d}"
        started_ms = CLOCK_BEGIN_MS + world.timeline.now_ms
        seals = (seal_of(self._secret),)
        claim = encode_generation(Generation(driver, started_ms, "0", seals=seals), NAMES)
        generations = world.kafka.partition("generations")
        ends = {suffix: world.kafka.partition(suffix).end for suffix in WINDOWED}
        self.generation = world.kafka.append(generations, claim.key, claim.value).offset + 1
        world.narrate(self.name, "has claimed its generation")
        generations.followers.append(self._superseded)
        wait_ms = world.chance.between(1, 20)
        world.timeline.after(wait_ms, lambda: self._mark(ends))

    def _mark(self, ends: Ends) -> None:
        """Append the first tick; without a state, find the offsets to read from."""
        if not self._runs(lambda: self._mark(ends)):
            return
        world, kafka = self.world, self.world.kafka
        control_end = kafka.partition("control").end
        tick = encode_tick(Tick(self.generation, control_end, secret=self._secret))
        marked_ms = kafka.append(kafka.partition("heartbeats"), None, tick).append_ms
        if self.checkpoint.newest.stored is None and self.generation > 1:
            self._begin_without_state(ends, marked_ms)
        world.judge.engine_started(self.checkpoint.newest.stored)
        world.timeline.after(world.scenario.tick_ms, self._tick)
        self._plan()

    def _begin_without_state(self, ends: Ends, marked_ms: int) -> None:
        """Read a window before the marker, which begins at the latest at the claim.

        The window for the longest possible lease is a schedule's whole log. For the group's own
        lease, lease and margin are enough.
        """
        scenario = self.world.scenario
        shortest_ms = scenario.lease_ms + scenario.margin_ms
        since_ms = marked_ms - self.world.chance.pick((LEASE_MS_MAX, shortest_ms))
        begin = {}
        for suffix, end in ends.items():
            records = self.world.kafka.partition(suffix).between(0, end)
            young_enough = (record.offset for record in records if record.append_ms >= since_ms)
            begin[suffix] = next(young_enough, end)
        self.begin = {NAMES.name(suffix): {0: offset} for suffix, offset in begin.items()}
        self.checkpoint.saved[:] = [Saved(begin, None)]
        self.checkpoint.planned = None
        self.world.note("engine_without_state")
        self.world.narrate(self.name, "has no state and reads from", begin)

    def _superseded(self, record: RawRecord) -> None:
        if record.offset + 1 > self.generation and not self.deaf:
            wait_ms = self.world.chance.between(1, SUPERSEDED_MS)
            self.world.timeline.after(wait_ms, self._yield)

    def _yield(self) -> None:
        if self._runs(self._yield):
            self.world.narrate(self.name, "has been superseded and stops")
            self.alive = False

    def _tick(self) -> None:
        if not self._runs(self._tick):
            return
        timeline = self.world.timeline
        wait_ms = self.world.chance.between(1, 20)
        if self.ticks_late:
            self.ticks_late -= 1
            wait_ms += self.ticks_late_ms
        timeline.after(wait_ms, self._pulse)
        timeline.after(self.world.scenario.tick_ms, self._tick)

    def _pulse(self) -> None:
        # A tick on its way arrives even if its driver dies.
        kafka = self.world.kafka
        if kafka.up:
            kafka.append(kafka.partition("heartbeats"), None, encode_tick(Tick(self.generation)))

    def _plan(self) -> None:
        """Fix the cut of the next batch, unless the checkpoint already has one."""
        if not self._runs(self._plan):
            return
        checkpoint, timeline = self.checkpoint, self.world.timeline
        if checkpoint.owner > self.generation:
            self.world.narrate(self.name, "finds another query in its checkpoint and stops")
            self.alive = False
            return
        checkpoint.owner = self.generation
        begin = checkpoint.newest.ends
        if checkpoint.planned is None:
            ends = self._ends(begin)
            if ends == begin:
                timeline.after(self.world.chance.between(*POLL_MS), self._plan)
                return
            checkpoint.planned = ends
        batch = self._batch(begin, checkpoint.planned)
        wait_ms = self.world.chance.between(*RUN_MS) + self.slow_ms
        self.slow_ms = 0
        timeline.after(wait_ms, lambda: self._run(batch))

    def _ends(self, begin: Ends) -> Ends:
        """Ask for the end of each topic; at times one answer is older than the others."""
        kafka, chance = self.world.kafka, self.world.chance
        ends = {suffix: kafka.partition(suffix).end for suffix in INPUTS}
        if chance.happens(0.1):
            suffix = chance.pick(INPUTS)
            ends[suffix] = chance.between(begin.get(suffix, 0), ends[suffix])
        return ends

    def _batch(self, begin: Ends, ends: Ends) -> Batch:
        rows: list[RawRecord] = []
        for suffix in INPUTS:
            partition = self.world.kafka.partition(suffix)
            rows += partition.between(begin.get(suffix, 0), ends[suffix])
        return Batch(begin, ends, self.checkpoint.newest.stored, rows)

    @property
    def context(self) -> ShardContext:
        """The context in which the shard runs."""
        scenario = self.world.scenario
        rules = EngineRules(
            self.generation,
            STRATEGIES,
            scenario.rules,
            chain_cap=scenario.chain_cap,
            switch_ms=scenario.switch_ms,
        )
        return ShardContext(
            rules,
            0,
            PARTITIONS,
            NAMES,
            scenario.tick_ms,
            engine_version="0",
            first_run=self.generation == 1,
            begin=self.begin,
            seals=(seal_of(self._secret),),
        )

    @property
    def _secret(self) -> str:
        """The secret that its first tick reveals."""
        return f"{self.number:064x}"

    def _run(self, batch: Batch) -> None:
        if not self._runs(lambda: self._run(batch)):
            return
        result = run_shard(batch.stored, batch.rows, self.context)
        for failure in result.failures:
            raise BreachError("STEP", failure.traceback)
        newest = self.world.kafka.partition("generations").end
        if result.counts.get("events/tick/rejected") and newest > self.generation:
            self.world.timeline.after(self.world.chance.between(1, SUPERSEDED_MS), self._yield)
        if self.retries and result.records:
            self.retries -= 1
            self._run_twice(batch, result)
        self._write(batch, result)

    def _run_twice(self, batch: Batch, first: ShardResult) -> None:
        """Let the task die after some records, and check that a second run gives the same bytes."""
        again = run_shard(batch.stored, self.world.chance.shuffled(batch.rows), self.context)
        if (again.stored, again.records) != (first.stored, first.records):
            raise BreachError("REPLAY", f"{self.name}: the same cut gave other bytes")
        self.world.note("task_run_twice")
        some = self.world.chance.below(len(first.records) + 1)
        self.world.narrate(self.name, "runs a task twice after", some, "records")
        self._append(batch, first.records, some)

    def _write(self, batch: Batch, result: ShardResult) -> None:
        records, chance = result.records, self.world.chance
        death = self.death if records else None
        if death is not None:
            written = {
                Death.BEFORE_SINK: 0,
                Death.PARTLY_WRITTEN: chance.below(len(records)),
                Death.AFTER_SINK: len(records),
            }[death]
            self._append(batch, records, written)
            words = "dies", death.value, written, "of", len(records), "records"
            self.world.narrate(self.name, *words)
            self.world.note(f"engine_dies_{death.value}")
            self.alive = False
            self.world.died()
            return
        self._append(batch, records, len(records))
        wait_ms = chance.between(*COMMIT_MS)
        self.world.timeline.after(wait_ms, lambda: self._commit(batch, result))

    def _append(self, batch: Batch, decided: Sequence[OutgoingRecord], count: int) -> None:
        """Write the first ``count`` records of a batch."""
        kafka, records = self.world.kafka, decided[:count]
        for record in self._kept(records):
            suffix = NAMES.suffix(record.topic)
            assert suffix is not None
            partition = kafka.partition(suffix, record.partition)
            kafka.append(partition, record.key, record.value)
            if suffix == "decisions" and self.world.story is not None:
                self._tell_decision(record.value or b"")
        self.world.judge.written(self, batch, records, decided)

    def _tell_decision(self, value: bytes) -> None:
        """Add a decision and its reason to the story."""
        decision = orjson.loads(value)
        moves = [
            f"{move['stage']} {move['queue'][0]}/{move['queue'][2]} {move['client_id']}"
            for move in decision["moves"]
            if move["stage"] != "resolved"
        ]
        why = ", ".join(decision["triggers"]) or "no cause"
        phase, alarms = decision["state"]["phase"], " ".join(decision["alarms"])
        words = why, f"-> {phase}", alarms, "; ".join(moves)
        epoch = (decision["epoch"][0], decision["epoch"][1])
        self.world.narrate(self.name, "decides", epoch, *(word for word in words if word))

    def _kept(self, records: Sequence[OutgoingRecord]) -> Iterator[OutgoingRecord]:
        """Yield the records that do not get lost on their way."""
        for record in records:
            if self.loses and NAMES.suffix(record.topic) == "assignments" and record.value:
                self.loses -= 1
                self.world.note("record_lost")
                self.world.narrate(self.name, "loses a record to", record.key)
            else:
                yield record

    def _commit(self, batch: Batch, result: ShardResult) -> None:
        if not self._runs(lambda: self._commit(batch, result)):
            return
        checkpoint = self.checkpoint
        if checkpoint.owner != self.generation:
            self.world.narrate(self.name, "finds another query in its checkpoint and stops")
            self.alive = False
            return
        checkpoint.commit(Saved(batch.ends, result.stored))
        self.world.timeline.after(self.world.chance.between(*POLL_MS), self._plan)
