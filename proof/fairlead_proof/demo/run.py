"""One run of the demo: everything started, the script played, everything judged and cleaned up."""

import contextlib
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import orjson
from kafka import KafkaConsumer, TopicPartition
from rich.console import Console

from fairlead.core.model import MessageQueue
from fairlead.jars.progress import ConsoleProgress
from fairlead.kafka.topic_content import read_to_end
from fairlead.recording.capture import Capture, capture, driver_settings
from fairlead.settings import load_settings
from fairlead.verify.evidence import history_of, source_content
from fairlead.verify.fault_log import write_faults
from fairlead.verify.history import Closing
from fairlead.verify.journal import read_journal
from fairlead.verify.judgement import judge_recording
from fairlead.wire.decision_records import DecisionRecord
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames
from fairlead_proof.demo.broker_faults import BROKERS, BrokerFault, names_of
from fairlead_proof.demo.broker_script import BrokerScript, FaultPlan
from fairlead_proof.demo.consumers import Consumers
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.foreign_consumers import foreign_commands
from fairlead_proof.demo.gateway_script import (
    GATEWAY_STEPS,
    GatewayScript,
    language_of,
    uses_gateway,
)
from fairlead_proof.demo.judge import DECIDED_SECONDS_MAX, Requirements, judge
from fairlead_proof.demo.leader_watch import LeaderWatch
from fairlead_proof.demo.memory import MemoryWatch
from fairlead_proof.demo.report import DemoReport
from fairlead_proof.demo.screen import Screen, Show
from fairlead_proof.demo.script import QUEUES, Script, StepError
from fairlead_proof.demo.verdict import Verdict
from fairlead_proof.local.child import Child
from fairlead_proof.local.follower import DecisionFollower
from fairlead_proof.local.gateways import Gateways
from fairlead_proof.local.system import BROKER_NAME, LocalSystem, SystemPlan
from strategies.registry import STRATEGIES

GROUP: Final = "demo"
RATE: Final = 300
"""Messages a second, over all queues."""
_SPARE: Final = 500
"""So many messages more than demanded, for those that are still under way."""
_PRODUCER_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What a user can choose.

    Attributes:
        duration_s: the load runs at least so long; the steps are spread over it.
        seed: chooses who leaves and who dies.
        bootstrap: an existing cluster; None for an embedded broker.
        keep: leave topics, journals and logs behind.
        consumers: what the clients are.
        faults: of one of three brokers, played instead of the script; none: there is one broker.
        freeze_s: for how long a broker is frozen.
        messages: how many must have gone through.
        decided_s: so soon after new leaders there must be decisions.
        broker_properties: Kafka's settings of embedded brokers, over the cluster's own.
        spares_controller: no broker is broken that leads the heartbeats and is the controller.
        gateways: through so many half of the clients take part, and each is killed.
    """

    duration_s: float
    seed: int
    bootstrap: str | None
    keep: bool
    consumers: Consumers = Consumers.MIXED
    faults: tuple[BrokerFault, ...] = ()
    freeze_s: float = 30.0
    messages: int = 10_000
    decided_s: float = DECIDED_SECONDS_MAX
    broker_properties: Mapping[str, str] = field(default_factory=dict)
    spares_controller: bool = False
    gateways: int = 0


class Demo:
    """One run, from nothing to the verdict."""

    def __init__(self, options: DemoOptions, screen: Screen) -> None:
        self._options = options
        self._screen = screen
        self._requirements = Requirements(messages=options.messages, decided_s=options.decided_s)
        if options.faults:
            self._requirements = replace(self._requirements, steps=names_of(options.faults))
        if options.gateways:
            self._requirements = replace(self._requirements, steps=GATEWAY_STEPS)
        self._memory = MemoryWatch()

    def run(self) -> DemoReport:
        """Run it, and leave nothing behind unless told to, or unless the verdict is negative.

        Raises:
            FairleadError: a part is missing or died by itself.
        """
        begun = time.monotonic()
        name = f"demo-{time.strftime('%H%M%S')}-{random.SystemRandom().randrange(16**4):04x}"
        with contextlib.ExitStack() as stack:
            evidence = stack.enter_context(_evidence(self._screen, keep=self._options.keep))
            plan = SystemPlan(
                folder=evidence.folder,
                bootstrap=self._options.bootstrap,
                prefix=f"{name}.",
                source=f"{name}-orders",
                partitions=QUEUES,
                settings={},
                brokers=BROKERS if self._options.faults else 1,
                broker_properties=self._options.broker_properties,
            )
            progress = ConsoleProgress(self._screen.console)
            stack.enter_context(self._memory)
            system = stack.enter_context(LocalSystem(plan, self._screen.say, progress))
            system.start_broker()
            system.make_topics()
            if self._options.bootstrap is not None and not self._options.keep:
                stack.callback(system.delete_topics)
            report = self._play(stack, system, begun)
            evidence.keep |= not report.passed
            return report

    def _play(self, stack: contextlib.ExitStack, system: LocalSystem, begun: float) -> DemoReport:
        plan, condition = system.plan, threading.Condition()
        system.start_bridge()
        system.start_engine()
        # Where brokers are broken, each second of the processor counts.
        has_console = not self._options.faults
        if has_console:
            system.start_serve()
        arguments = {
            "bootstrap": system.bootstrap,
            "prefix": plan.prefix,
            "group": GROUP,
            "topic": plan.source,
            "consumers": self._options.consumers.value,
        }
        gateways = None
        foreign: Mapping[str, Sequence[str]] = {}
        if self._options.gateways:
            foreign = foreign_commands(self._screen.say)
            gateways = stack.enter_context(Gateways(system, self._options.gateways))
        fleet = Fleet(
            plan.folder,
            arguments,
            condition,
            commands=lambda client_id: foreign.get(language_of(client_id)),
            own=partial(_own_settings, gateways, foreign),
        )
        stack.callback(fleet.stop)
        heard: list[DecisionRecord] = []
        decisions = f"{plan.prefix}decisions"
        follower = stack.enter_context(
            DecisionFollower(
                system.bootstrap, decisions, GROUP, condition=condition, on_decision=heard.append
            )
        )
        if gateways is not None:
            chance = random.Random(self._options.seed)  # noqa: S311 - who leaves is no secret
            script: Script = GatewayScript(fleet, follower, system, chance, gateways=gateways)
        else:
            script = self._script(stack, system, fleet, follower, heard)
        script.prepare()
        system.await_engine()
        if has_console:
            system.await_serve()
            self._screen.say(f"console: {system.serve_url}/#/groups/{GROUP} shows it in a browser")
        show = Show(GROUP, fleet, follower, script)
        producer = self._start_producer(stack, system, show)
        self._screen.open(show)
        failure = self._perform(script, producer, show, system)
        self._screen.close()
        self._screen.say("judging: reading the journals, the source topic and the engine's records")
        verdict = self._judge(system, fleet, script)
        took_s = time.monotonic() - begun
        return DemoReport(verdict, self._options.seed, plan.prefix, took_s, failure)

    def _script(
        self,
        stack: contextlib.ExitStack,
        system: LocalSystem,
        fleet: Fleet,
        follower: DecisionFollower,
        heard: Sequence[DecisionRecord],
    ) -> Script:
        if not self._options.faults:
            chance = random.Random(self._options.seed)  # noqa: S311 - who leaves is no secret
            return Script(fleet, follower, system, chance)
        names = TopicNames(system.plan.prefix)
        shards = load_settings(overrides=system.settings()).topics.heartbeats_partitions
        watch = stack.enter_context(LeaderWatch(system.bootstrap, system.created))
        plan = FaultPlan(
            self._options.faults,
            self._options.freeze_s,
            (names.name("heartbeats"), partition_of_group(GROUP, shards)),
            self._options.spares_controller,
        )
        return BrokerScript(
            fleet,
            follower,
            system,
            plan=plan,
            cluster=system.broker,
            watch=watch,
            heard=heard,
            say=self._screen.say,
        )

    def _judge(self, system: LocalSystem, fleet: Fleet, script: Script) -> Verdict:
        """Record the topics, and judge them with the journals and the source topic."""
        plan = system.plan
        settings = load_settings(overrides=system.settings())
        ran_under = driver_settings(settings, STRATEGIES)
        where = plan.folder / "recording"
        recording = capture(Capture(settings.kafka, where, ran_under, (plan.source,)))
        write_faults(plan.folder / "faults.jsonl", script.steps)
        journals = [
            each for _, path in sorted(fleet.journals.items()) for each in read_journal(path)
        ]
        source = source_content(read_to_end(system.bootstrap, plan.source), BROKER_NAME)
        judgement = judge_recording(recording, STRATEGIES)
        what_clients_did = journals, script.steps
        history = history_of(recording, GROUP, *what_clients_did, source, refused=judgement.refused)
        outages = script.outages if isinstance(script, BrokerScript) else ()
        return judge(history, self._requirements, self._memory.use, judgement, outages)

    def _perform(
        self, script: Script, producer: Child, show: Show, system: LocalSystem
    ) -> str | None:
        """Play the steps, spread over the duration; return why it ended early, if it did."""
        acts, begun = script.acts(), time.monotonic()
        pace = 0.0 if self._options.faults else self._options.duration_s / len(acts)
        try:
            for number, act in enumerate(acts):
                script.pause(begun + number * pace)
                act()
            script.pause(begun + self._options.duration_s)
            wanted = self._requirements.messages + _SPARE
            script.await_floor(lambda _: show.produced >= wanted, f"{wanted:,} messages")
            _finish(producer)
            script.drain(_ends(system))
            script.close()
        except StepError as error:
            self._screen.say(str(error))
            with contextlib.suppress(StepError):
                if not any(isinstance(record, Closing) for record in script.steps):
                    script.close()
            return str(error).splitlines()[0]
        return None

    def _start_producer(
        self, stack: contextlib.ExitStack, system: LocalSystem, show: Show
    ) -> Child:
        def hear(_: str, line: bytes) -> None:
            if line:
                with show.fleet.condition:
                    show.produced = orjson.loads(line)["count"]
                    show.fleet.condition.notify_all()

        flags = {"bootstrap": system.bootstrap, "topic": system.plan.source, "rate": RATE}
        command = [sys.executable, "-m", "fairlead_proof.demo.producer_process"]
        command += [text for name, value in flags.items() for text in (f"--{name}", str(value))]
        producer = Child("producer", command, system.plan.folder / "producer.log", on_line=hear)
        stack.callback(producer.kill)
        return producer


def _own_settings(
    gateways: Gateways | None, foreign: Container[str], client_id: str
) -> Mapping[str, str]:
    """Return what a consumer process is given besides what all are given."""
    if gateways is None or not uses_gateway(client_id):
        return {}
    given = {"settings": orjson.dumps({"gateway": gateways.url}).decode()}
    is_foreign = language_of(client_id) in foreign
    return {**given, "broker-name": BROKER_NAME} if is_foreign else given


def make_console(*, to_stderr: bool) -> Console:
    """The console of the demo; with JSON on the standard output it is the standard error."""
    return Console(stderr=to_stderr, highlight=False)


@dataclass(slots=True)
class _Evidence:
    """Where a run's data are, and whether they stay."""

    folder: Path
    keep: bool


@contextlib.contextmanager
def _evidence(screen: Screen, *, keep: bool) -> Iterator[_Evidence]:
    """A folder for the run's data, gone afterwards unless it shall be kept by then."""
    evidence = _Evidence(Path(tempfile.mkdtemp(prefix="fairlead-demo-")), keep)
    try:
        yield evidence
    finally:
        if evidence.keep:
            screen.say(f"kept: {evidence.folder} (recording, journals, logs, broker data)")
        else:
            shutil.rmtree(evidence.folder, ignore_errors=True)


def _finish(producer: Child) -> None:
    """Let the producer flush and end.

    Raises:
        StepError: a message could not be stored.
    """
    producer.send(do="finish")
    if producer.wait(_PRODUCER_SECONDS) != 0:
        raise StepError(f"the producer failed:\n{producer.log_tail()}")


def _ends(system: LocalSystem) -> dict[MessageQueue, int]:
    """The end of each queue of the source, by the broker."""
    consumer = KafkaConsumer(bootstrap_servers=system.bootstrap, enable_auto_commit=False)
    with contextlib.closing(consumer):
        topic = system.plan.source
        numbers = consumer.partitions_for_topic(topic) or set()
        ends = consumer.end_offsets([TopicPartition(topic, number) for number in numbers])
    return {MessageQueue(topic, BROKER_NAME, part.partition): end for part, end in ends.items()}
