"""A whole running system to break: broker, bridge, engine, a producer and two groups (ADR 0114).

The *quick* group has a short lease, so that a fault is over in seconds; the *patient* one has a
long lease and nothing is done to it: what a fault does to it is what the fault must not do.
"""

import contextlib
import logging
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Final, Self

import orjson
from fairlead_proof.demo.floor import Floor
from fairlead_proof.local.child import Child
from fairlead_proof.local.system import BROKER_NAME, LocalSystem, SystemPlan

from fairlead.core.model import MessageQueue
from fairlead.core.records import Reset, RuleSet
from fairlead.kafka.rule_writer import write_rules
from fairlead.recording.capture import Capture, capture, driver_settings
from fairlead.settings import Settings, load_settings
from fairlead.verify.evidence import source_content
from fairlead.verify.judgement import Judgement as RecordsJudgement
from fairlead.verify.judgement import judge_recording
from fairlead.wire.encode import encode_reset
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames
from strategies.registry import STRATEGIES
from tests.faults.judgement import Evidence, Judgement, judge, read_lives
from tests.faults.machine import absences, excuse, watched
from tests.faults.tail import Tail
from tests.faults.trial import FaultLog, Lapse, Phase, Trial
from tests.faults.troop import Troop, TroopPlan
from tests.kit.kafka_log import Log

logger = logging.getLogger(__name__)

LEASE_SECONDS: Final = 5.0
"""Shorter, and a busy machine that gives a client no time for it ends leases by itself."""
MARGIN_SECONDS: Final = 1.0
QUEUES: Final = 15
RATE: Final = 60
"""Messages a second, over all queues."""
SHARDS: Final = 4
_CLIENT: Final[dict[str, Any]] = {"progress_ms": 300, "commit_ms": 1_000}
QUICK: Final = TroopPlan(
    "quick", "q", 5, {**_CLIENT, "lease_ms": round(LEASE_SECONDS * 1_000), "heartbeat_ms": 600}
)
PATIENT: Final = TroopPlan(
    "patient", "p", 2, {**_CLIENT, "lease_ms": 120_000, "heartbeat_ms": 1_000}
)
JOIN_STARTS_MAX: Final = ceil(QUEUES / QUICK.size)
"""So many queues at most change hands for one client that joins."""
_SETTINGS: Final = {
    "engine.tick_ms": "250",
    "client.heartbeat_ms": "600",
    "group_defaults.lease_ms": str(round(LEASE_SECONDS * 1_000)),
    "group_defaults.margin_ms": str(round(MARGIN_SECONDS * 1_000)),
    "group_defaults.strategy": "STICKY",
}
_READ: Final = ("decisions", "assignments", "heartbeats", "rejects")


class Stage:
    """The system; as a context it is started, and ended on exit.

    Attributes:
        system: broker, bridge and engine.
        quick: the group that faults are for.
        patient: the group that no fault may touch.
        log: what was done so far.
        sound: the last trial ended in order; else the next one needs another stage.
        judgements: what each trial came to, by its name and group.
        checkpoint: where the engine keeps its state.
        engine_down: there is no engine, and shall be none.
        bridge_down: the same of a bridge.
        generation: of the newest engine.
    """

    def __init__(self, folder: Path, quick: TroopPlan = QUICK, queues: int = QUEUES) -> None:
        """Describe it.

        Args:
            folder: takes its data and logs.
            quick: the group that faults are for, in place of the usual one; of the same name.
            queues: of the topic that both groups read.
        """
        assert quick.group == QUICK.group
        self._quick, self._queues = quick, queues
        self.plan = SystemPlan(
            folder=folder,
            bootstrap=None,
            prefix="faults.",
            source="fault-orders",
            partitions=queues,
            settings=_SETTINGS,
        )
        self.system = LocalSystem(self.plan, lambda _text: None)
        self.log = FaultLog()
        self.sound = False
        self.judgements: dict[tuple[str, str], Judgement] = {}
        self.checkpoint = folder / "checkpoint"
        self.engine_down = False
        self.bridge_down = False
        self.generation = 0
        self._outlived: set[str] = set()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Start everything; return when both groups are in order and messages flow."""
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything."""
        self._stack.close()

    @property
    def troops(self) -> tuple[Troop, Troop]:
        """Both groups."""
        return self.quick, self.patient

    def _start(self) -> None:
        stack = self._stack
        self._looks = stack.enter_context(watched())
        system = stack.enter_context(self.system)
        system.start_broker()
        system.make_topics()
        system.start_bridge()
        system.start_engine()
        arguments = {
            "bootstrap": system.bootstrap,
            "prefix": self.plan.prefix,
            "topic": self.plan.source,
        }
        self.quick, self.patient = (
            Troop(plan, self.plan.folder, arguments, self._queues, self.check)
            for plan in (self._quick, PATIENT)
        )
        for troop in self.troops:
            stack.callback(troop.stop)
            stack.enter_context(troop.follower)
            troop.start()
        self._producer = self._start_producer(stack)
        topics = [f"{self.plan.prefix}{suffix}" for suffix in _READ]
        self._tail = Tail(system.bootstrap, [*topics, self.plan.source])
        stack.callback(self._tail.close)
        self.generation = system.await_engine()
        for troop in self.troops:
            troop.join(*(f"{troop.plan.letter}{n + 1}" for n in range(troop.plan.size)))
        for troop in self.troops:
            troop.await_settled()
        self.sound = True

    def _start_producer(self, stack: contextlib.ExitStack) -> Child:
        command = [
            sys.executable, "-m", "fairlead_proof.demo.producer_process",
            "--bootstrap", self.system.bootstrap,
            "--topic", self.plan.source,
            "--rate", str(RATE),
        ]  # fmt: skip
        producer = Child(
            "producer",
            command,
            self.plan.folder / "producer.log",
            on_line=lambda _name, _line: None,
        )
        stack.callback(producer.kill)
        return producer

    def check(self) -> None:
        """Raise if a part has died that was not meant to."""
        assert self._producer.exit_code is None, self._producer.log_tail()
        if not self.engine_down and not self.bridge_down:
            self.system.check()

    # A trial.
    @contextlib.contextmanager
    def trial(self, name: str) -> Iterator[Trial]:
        """One fault, in the context; at its end everything is in order again, and judged.

        Raises:
            AssertionError: something happened that must not; the message says what.
        """
        self.sound = False
        self._tail.catch_up()
        begun_ns = time.monotonic_ns()
        groups = [body["group"] for _, body in self.bodies("decisions")]
        counts = {troop.plan.group: groups.count(troop.plan.group) for troop in self.troops}
        trial = Trial(name, begun_ns, counts)
        # An incarnation of before may be found dead only now.
        trial.may_expire[QUICK.group] = set(self._outlived)
        yield trial
        for troop in self.troops:
            troop.await_settled()
            if not any(phase.group == troop.plan.group for phase in trial.phases):
                trial.phases.append(
                    Phase(troop.plan.group, name, begun_ns, time.monotonic_ns(), owners=frozenset())
                )
        self._judge(trial)
        self._outlived = trial.lapsed
        self.sound = True

    @contextlib.contextmanager
    def phase(
        self,
        trial: Trial,
        name: str,
        *,
        owners: set[str] | None = None,
        starts_max: int | None = None,
        settles: bool = True,
    ) -> Iterator[None]:
        """A part of a trial on the quick group: what may move in it, see `Phase`.

        ``owners`` are processes, or client ids.
        """
        begun_ns = time.monotonic_ns()
        yield
        if settles:
            self.quick.await_settled()
        trial.phases.append(
            Phase(
                QUICK.group,
                name,
                begun_ns,
                time.monotonic_ns(),
                None if owners is None else frozenset(map(self.quick.client_id, owners)),
                starts_max,
                settles,
            )
        )

    def grow(self, queues: int) -> None:
        """Add queues to the topic; from now on a group is in order when all of them are owned."""
        self.system.grow(queues)
        for troop in self.troops:
            troop.queues = queues

    def look_anew(self) -> None:
        """Read all topics from their beginning: some have queues that they did not have."""
        self._tail.begin()

    def reinforce(self, trial: Trial) -> None:
        """Let one more client join the quick group, in place of one that is gone."""
        with self.phase(trial, "replaced", starts_max=JOIN_STARTS_MAX):
            self.quick.reinforce()

    @contextlib.contextmanager
    def leases_lost(self, trial: Trial) -> Iterator[None]:
        """In the context every client of the quick group loses its lease by the fault."""
        names, since_ns = self.quick.members(), time.monotonic_ns()
        self.may_expire(trial, *names)
        yield
        until_ns = time.monotonic_ns() + round(LEASE_SECONDS * 1e9)
        self.log.lapses += [Lapse(self.quick.client_id(name), since_ns, until_ns) for name in names]

    def may_expire(self, trial: Trial, *names: str) -> None:
        """The engine may take these processes of the quick group for dead."""
        client_ids = {self.quick.client_id(name) for name in names}
        trial.lapsed |= client_ids
        trial.may_expire[QUICK.group] |= client_ids

    def is_told_anew(self, trial: Trial) -> None:
        """The engine reads again what it has read before: who was gone is found gone once more."""
        ended = {life.client_id for life in self.quick.lives() if not life.running}
        fenced = {lapse.client_id for lapse in self.log.lapses}
        trial.may_expire[QUICK.group] |= ended | fenced

    def _excuse(self, trial: Trial) -> None:
        away = absences(list(self._looks), trial.begun_ns)
        if not away:
            return
        logger.warning("%s: the host took this machine away for %d s", trial.name, len(away))
        for troop in self.troops:
            client_ids = {life.client_id for life in troop.lives()}
            excuse(trial, self.log, troop.plan, client_ids, away)
        trial.lapsed |= trial.may_expire[QUICK.group]

    def _judge(self, trial: Trial) -> None:
        self._excuse(trial)
        ends = self.ends()
        faults = []
        for troop in self.troops:
            troop.await_floor(lambda floor: floor.has_reached(ends), "last messages")
            tenures = read_lives(troop.lives(), self.log)
            # After the journals: what stands in them is in the topics by now.
            self._tail.catch_up()
            evidence = Evidence(
                troop.plan.group,
                tenures,
                source_content(self._tail.content(self.plan.source), BROKER_NAME),
                ends,
                self.records,
            )
            judgement = judge(evidence, trial)
            self.judgements[trial.name, troop.plan.group] = judgement
            faults += [f"{troop.plan.group}: {fault}" for fault in judgement.faults]
        assert not faults, f"{trial.name}:\n" + "\n".join(faults[:20])

    def verify(self) -> RecordsJudgement:
        """Judge what all topics hold, by every invariant that needs no journals."""
        where = self.plan.folder / f"recording-{time.monotonic_ns()}"
        ran_under = driver_settings(self.settings, STRATEGIES)
        recording = capture(Capture(self.settings.kafka, where, ran_under, (self.plan.source,)))
        return judge_recording(recording, STRATEGIES)

    # What topics hold, and what is written into them.
    def records(self, suffix: str) -> Sequence[RawRecord]:
        """What one of Fairlead's topics holds, as far as it was read."""
        return self._tail.records(f"{self.plan.prefix}{suffix}")

    def read_on(self) -> None:
        """Read all topics to their ends."""
        self._tail.catch_up()

    def bodies(self, suffix: str) -> list[tuple[RawRecord, dict[str, Any]]]:
        """The records of a topic with their values, parsed; deletions are left out."""
        return [
            (record, orjson.loads(record.value))
            for record in self.records(suffix)
            if record.value is not None
        ]

    def set_drain(self, name: str, *, drained: bool) -> None:
        """Have a client of the quick group give everything away, or share again."""
        client_id = self.quick.client_id(name)
        self.set_rule("drain", {"client_id": client_id} if drained else None, client_id)

    def set_rule(self, rule: str, value: Any, *subject: str) -> None:
        """Set a rule of the quick group, or remove it with None."""
        written = RuleSet(QUICK.group, rule, subject, value, by="faults")
        write_rules(self.settings.kafka, [(partition_of_group(QUICK.group, SHARDS), written)])

    def reset(self, queue: MessageQueue, offset: int) -> tuple[str, int, int]:
        """Let a queue of the quick group begin elsewhere; return the place of the operator's word.

        It is written as docs/protocol.md has it: there is no command for it.
        """
        asked = Reset(QUICK.group, MessageQueue(*queue), offset, by="faults")
        record = encode_reset(asked, TopicNames(self.plan.prefix), SHARDS)
        with Log(self.settings.kafka) as log:
            written = log.append("control", record.value, record.key, record.partition)
        return record.topic, record.partition, written

    def ends(self) -> dict[MessageQueue, int]:
        """Return of each queue the next offset to be written."""
        return {
            MessageQueue(self.plan.source, BROKER_NAME, number): end
            for number, end in self._tail.ends(self.plan.source).items()
        }

    def decided(self, trial: Trial) -> list[dict[str, Any]]:
        """Return the decision records of the quick group in a trial, as far as they were read."""
        group = QUICK.group
        found = [body for _, body in self.bodies("decisions") if body["group"] == group]
        return found[trial.decisions[group] :]

    @property
    def settings(self) -> Settings:
        """The settings of the engine."""
        return load_settings(overrides=self.system.settings())

    # The engine.
    def start_engine(self) -> None:
        """Start an engine; return when it has decided under its generation, for both groups."""
        self.system.start_engine("--checkpoint", str(self.checkpoint), "--metrics-port", "0")
        self.engine_down = False
        self.generation = self.system.await_engine()
        for troop in self.troops:
            self._await_generation(troop)

    def _await_generation(self, troop: Troop) -> None:
        """Return when the newest engine has decided about a group."""

        def decided(_floor: Floor) -> bool:
            newest = troop.follower.ownership.newest
            return newest is not None and newest.generation == self.generation

        troop.await_floor(decided, f"decision of generation {self.generation}")


Fault = Callable[[Stage, random.Random], None]
"""Does one thing to the system inside a trial; chance chooses to whom, and when."""
