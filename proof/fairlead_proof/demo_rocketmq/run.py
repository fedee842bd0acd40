"""One run of the demo on RocketMQ: the same script under Fairlead and under RocketMQ itself."""

import contextlib
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.jars.progress import ConsoleProgress
from fairlead.native.rocketmq_groups import RocketmqGroups
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from fairlead.verify.journal import read_journal
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.screen import Screen
from fairlead_proof.demo.script import StepError
from fairlead_proof.demo_rocketmq.consumer_command import consumer_command
from fairlead_proof.demo_rocketmq.handled import Handled, judge_calls
from fairlead_proof.demo_rocketmq.handler_calls import calls_of
from fairlead_proof.demo_rocketmq.holders import holders_of
from fairlead_proof.demo_rocketmq.outcome import DemoOutcome, WayOutcome
from fairlead_proof.demo_rocketmq.roll_out import RollOutScript
from fairlead_proof.demo_rocketmq.script import QUEUES, RocketMQScript
from fairlead_proof.demo_rocketmq.topic import DemoTopic
from fairlead_proof.demo_rocketmq.way import Way
from fairlead_proof.local.child import Child
from fairlead_proof.local.follower import DecisionFollower
from fairlead_proof.local.gateways import Gateways
from fairlead_proof.local.system import LocalSystem, SystemPlan

__all__ = ["DemoRocketMQ", "DemoRocketMQOptions"]

RATE: Final = 300
"""Messages a second, over all queues."""
CLUSTER: Final = "main"
_BROKERS: Final = 2
_PRODUCER_SECONDS: Final = 90.0


@dataclass(frozen=True, slots=True)
class DemoRocketMQOptions:
    """What a user can choose.

    Attributes:
        ways: who shares the queues, one after the other.
        server: the version of the brokers.
        client: the version of RocketMQ's client in the consumers.
        ordered: listeners of the ordered kind.
        consumers: how many are there at first.
        work_ms: how long a listener takes for a message.
        freeze_s: for how long a consumer stands still at most.
        seed: chooses who leaves and who dies.
        steps: the steps to play; none: all.
        keep: leave journals, logs and the servers' data behind.
    """

    ways: Sequence[Way] = (Way.FAIRLEAD, Way.ROCKETMQ)
    server: str = "5.3.3"
    client: str = "5.3.3"
    ordered: bool = False
    consumers: int = 6
    work_ms: int = 30
    freeze_s: float = 30.0
    seed: int = 1
    steps: Sequence[str] = ()
    keep: bool = False


class DemoRocketMQ:
    """One run, from nothing to the outcome."""

    def __init__(self, options: DemoRocketMQOptions, screen: Screen) -> None:
        self._options, self._screen = options, screen

    def run(self) -> DemoOutcome:
        """Run it, and leave nothing behind unless told to, or unless the verdict is negative.

        Raises:
            FairleadError: a part is missing or died by itself.
        """
        begun, options = time.monotonic(), self._options
        with contextlib.ExitStack() as stack:
            folder = Path(tempfile.mkdtemp(prefix="fairlead-demo-"))
            kept = stack.enter_context(_kept(folder, self._screen.say, keep=options.keep))
            command = consumer_command(options.client)
            progress = ConsoleProgress(self._screen.console)
            self._screen.say(f"rocketmq: {options.server}, {_BROKERS} brokers, 2 name servers")
            cluster = EmbeddedRocketMQ(
                folder / "servers",
                version=options.server,
                brokers=_BROKERS,
                name_servers=2,
                cluster_name=CLUSTER,
                progress=progress,
            )
            stack.callback(_end, cluster)
            cluster.start()
            self._screen.say(f"rocketmq: in service at {cluster.namesrv}")
            ways = [self._play(way, folder, cluster, command) for way in options.ways]
            outcome = DemoOutcome(
                tuple(ways),
                server=options.server,
                client=options.client,
                ordered=options.ordered,
                seed=options.seed,
                took_s=time.monotonic() - begun,
            )
            kept.keep |= not outcome.passed
            return outcome

    def _play(
        self, way: Way, folder: Path, cluster: EmbeddedRocketMQ, command: Sequence[str]
    ) -> WayOutcome:
        """Play the script with one group, and judge what its listeners did."""
        options, own = self._options, folder / way.value
        own.mkdir()
        with contextlib.ExitStack() as stack:
            connections = stack.enter_context(Connections(ConnectionSettings()))
            name_servers = NameServers(connections, addresses_of(cluster.namesrv))
            topic = DemoTopic(f"demo-{way.value}", connections, name_servers)
            topic.resize(QUEUES)
            group = f"demo-{way.value}-group"
            given = {
                "namesrv": cluster.namesrv,
                "group": group,
                "topic": topic.name,
                "work-ms": str(options.work_ms),
                "ordered": str(options.ordered).lower(),
            }
            check: Callable[[], None] = _nothing
            system, gateway = None, {}
            if way is not Way.ROCKETMQ:
                system = self._start_fairlead(stack, own, cluster)
                gateways = stack.enter_context(Gateways(system, 1))
                gateway = {"gateway": gateways.url}
                system.await_engine()
                gateways.await_ready(0)
                check = partial(_check_all, system, gateways)
            plain = gateway if way is Way.FAIRLEAD else {}
            fleet = Fleet(
                own, {**given, **plain}, threading.Condition(), commands=lambda _: command
            )
            stack.callback(fleet.stop)
            reader = RocketmqGroups(connections, name_servers, cluster=CLUSTER)
            make: Callable[..., RocketMQScript] = RocketMQScript
            if way is Way.ROLL_OUT:
                assert system is not None
                make = self._rolling_out(stack, system, group, gateway)
            script = make(
                fleet,
                cluster,
                topic,
                look=partial(holders_of, reader, group, topic.name),
                check=check,
                say=partial(_say, self._screen.say, way),
                chance=random.Random(options.seed),  # noqa: S311 - who leaves is no secret
                consumers=options.consumers,
                freeze_s=options.freeze_s,
                # After a freeze RocketMQ's own way may take minutes to share the queues again.
                must_settle=way is not Way.ROCKETMQ,
            )
            script.prepare()
            start = partial(self._start_producer, stack, own, cluster, topic)
            failure = self._perform(script, start)
            return WayOutcome.of(way, script.steps, self._judge(topic, fleet, script), failure)

    def _rolling_out(
        self,
        stack: contextlib.ExitStack,
        system: LocalSystem,
        group: str,
        gateway: Mapping[str, str],
    ) -> Callable[..., RocketMQScript]:
        """Return what makes the script of a roll-out, which follows the engine's decisions."""
        follower = stack.enter_context(
            DecisionFollower(system.bootstrap, f"{system.plan.prefix}decisions", group)
        )

        def footing() -> str | None:
            follower.raise_failure()
            with follower.condition:
                newest = follower.ownership.newest
            return None if newest is None else newest.state.footing or "own"

        return partial(
            RollOutScript,
            attached={**gateway, "standby": "true"},
            set_rule=partial(system.set_rule, group),
            footing=footing,
        )

    def _start_fairlead(
        self, stack: contextlib.ExitStack, folder: Path, cluster: EmbeddedRocketMQ
    ) -> LocalSystem:
        plan = SystemPlan(
            folder=folder,
            bootstrap=None,
            prefix="demo.",
            source="",
            partitions=0,
            settings={},
        )
        progress = ConsoleProgress(self._screen.console)
        system = stack.enter_context(LocalSystem(plan, self._screen.say, progress))
        system.start_broker()
        system.make_topics()
        system.start_bridge("--namesrv", cluster.namesrv, kind="rocketmq")
        system.start_engine()
        return system

    def _perform(self, script: RocketMQScript, start_producer: Callable[[], Child]) -> str | None:
        """Play the steps; return why they ended early, if they did.

        The producer begins behind the first step: nobody's first start has to catch up.
        """
        acts, producer = script.acts(), None
        try:
            for name in acts:
                if self._options.steps and name not in self._options.steps:
                    continue
                acts[name]()
                producer = producer or start_producer()
            assert producer is not None
            _finish(producer)
            script.drain()
            script.close()
        except StepError as error:
            self._screen.say(str(error))
            return str(error).splitlines()[0]
        return None

    def _judge(self, topic: DemoTopic, fleet: Fleet, script: RocketMQScript) -> Handled:
        journals = [
            each for _, path in sorted(fleet.journals.items()) for each in read_journal(path)
        ]
        calls = calls_of(journals, script.standstills)
        mine = [call for call in calls if call.queue.topic == topic.name]
        return judge_calls(mine, topic.ends(), script.standstills)

    def _start_producer(
        self,
        stack: contextlib.ExitStack,
        folder: Path,
        cluster: EmbeddedRocketMQ,
        topic: DemoTopic,
    ) -> Child:
        flags = {"namesrv": cluster.namesrv, "topic": topic.name, "rate": RATE}
        command = [sys.executable, "-m", "fairlead_proof.demo_rocketmq.producer_process"]
        command += [text for name, value in flags.items() for text in (f"--{name}", str(value))]
        producer = Child("producer", command, folder / "producer.log")
        stack.callback(producer.kill)
        return producer


@dataclass(slots=True)
class _Kept:
    keep: bool


@contextlib.contextmanager
def _kept(folder: Path, say: Callable[[str], None], *, keep: bool) -> Iterator[_Kept]:
    """Remove a run's data at the end, unless they shall be kept by then."""
    kept = _Kept(keep)
    try:
        yield kept
    finally:
        if kept.keep:
            say(f"kept: {folder} (journals, logs, the servers' data)")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _finish(producer: Child) -> None:
    """Let the producer wait for all answers and end.

    Raises:
        StepError: a message could not be stored.
    """
    producer.send(do="finish")
    if producer.wait(_PRODUCER_SECONDS) != 0:
        raise StepError(f"the producer failed:\n{producer.log_tail()}")


def _end(cluster: EmbeddedRocketMQ) -> None:
    """Kill the servers: in order it would take ten seconds, and their folder goes."""
    for server in cluster.servers:
        cluster.kill(server)


def _say(say: Callable[[str], None], way: Way, text: str) -> None:
    say(f"{way.value}: {text}")


def _check_all(system: LocalSystem, gateways: Gateways) -> None:
    system.check()
    gateways.check()


def _nothing() -> None:
    """There is nothing that could have died besides the consumers."""
