"""A whole Fairlead on this machine: broker, topics, bridge and engine, stopped when we are done."""

import contextlib
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import NewPartitions

from fairlead.broker import EmbeddedKafka
from fairlead.core.records import RuleSet
from fairlead.errors import EnvironmentMissingError
from fairlead.jars.progress import FetchProgress
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.rule_writer import partitions_of_rule, write_rules
from fairlead.kafka.topic_creation import READY_WAIT_MS, admin_of, create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from fairlead_proof.local.child import Child, Killing

BROKER_NAME: Final = "main"
_BRIDGE_POLL_MS: Final = 500
_ENGINE_SECONDS: Final = 120.0
_SERVE_SECONDS: Final = 60.0
_POLL_MS: Final = 200
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class SystemPlan:
    """What a local system is like.

    Attributes:
        folder: where its data and logs go.
        bootstrap: an existing cluster; None for an embedded broker of its own.
        prefix: of Fairlead's topics, and of nobody else's.
        source: the topic that the consumers read; "": it is on another cluster.
        partitions: how many it has at first.
        settings: dotted keys and values for engine and bridge, over the defaults.
        brokers: of the embedded cluster: 1 or 3.
        broker_properties: Kafka's settings of its nodes, over the cluster's own.
    """

    folder: Path
    bootstrap: str | None
    prefix: str
    source: str
    partitions: int
    settings: Mapping[str, str]
    brokers: int = 1
    broker_properties: Mapping[str, str] = field(default_factory=dict)


class LocalSystem:
    """Broker, topics, bridge and engine; as a context everything is stopped on exit."""

    def __init__(
        self, plan: SystemPlan, say: Callable[[str], None], progress: FetchProgress | None = None
    ) -> None:
        """Describe the system.

        Args:
            plan: what it is like.
            say: told in one line what is being done.
            progress: shows the fetch of jars, should there be one.
        """
        self.plan = plan
        self.metrics_port = _free_port()
        self.serve_port = _free_port()
        self._say = say
        self._progress = progress
        self._broker: EmbeddedKafka | None = None
        self._bootstrap = plan.bootstrap
        self._engines: list[Child] = []
        self._generations = 0
        self._bridge: Child | None = None
        self._serve: Child | None = None
        self._created: list[str] = []

    @property
    def bootstrap(self) -> str:
        """Where the cluster is."""
        assert self._bootstrap is not None, "start_broker comes first"
        return self._bootstrap

    @property
    def created(self) -> tuple[str, ...]:
        """The topics that were made for it."""
        return tuple(self._created)

    @property
    def broker(self) -> EmbeddedKafka:
        """The embedded broker, to break it."""
        assert self._broker is not None, "there is a broker of our own only without a bootstrap"
        return self._broker

    @property
    def engine(self) -> Child:
        """The engine's process: of several, the one that was started last."""
        assert self._engines, "start_engine comes first"
        return self._engines[-1]

    @property
    def bridge(self) -> Child:
        """The bridge's process: of several, the one that was started last."""
        assert self._bridge is not None, "start_bridge comes first"
        return self._bridge

    @property
    def serve(self) -> Child:
        """The process of the view of all groups."""
        assert self._serve is not None, "start_serve comes first"
        return self._serve

    def __enter__(self) -> Self:
        """Nothing runs yet: the start functions start it, part by part."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop whatever runs."""
        self.stop()

    def start_broker(self) -> None:
        """Start the embedded broker, unless there is a cluster to use.

        Raises:
            EnvironmentMissingError: Java, the jars or the cluster is missing.
        """
        if self._bootstrap is not None:
            self._say(f"using the brokers at {self._bootstrap}")
            return
        count = self.plan.brokers
        self._say(f"broker: starting a real Kafka on loopback, {count} node{'s' * (count > 1)}")
        folder = self.plan.folder / "broker"
        properties = self.plan.broker_properties
        self._broker = EmbeddedKafka(folder, count, properties=properties, progress=self._progress)
        self._broker.start()
        self._bootstrap = self._broker.bootstrap
        self._say(f"broker: ready at {self._bootstrap}")

    def make_topics(self) -> None:
        """Make Fairlead's topics and the source topic.

        Raises:
            EnvironmentMissingError: the cluster does not answer, or refuses.
        """
        connection = {"bootstrap_servers": self.bootstrap}
        specs = topic_specs(load_settings(overrides=self.settings()).topics)
        report = create_topics(connection, self.plan.prefix, specs)
        self._created += report.created
        made = f"topics: {len(report.created)} of Fairlead's under {self.plan.prefix}"
        if self.plan.source:
            wanted = {self.plan.source: {"num_partitions": self.plan.partitions}}
            with admin_of(connection) as admin:
                admin.create_topics(wanted)
                admin.wait_for_topics([self.plan.source], timeout_ms=READY_WAIT_MS)
            self._created.append(self.plan.source)
            made += f", and {self.plan.source} with {self.plan.partitions} partitions"
        self._say(made)

    def grow(self, partitions: int) -> None:
        """Add partitions to the source topic, up to this many.

        Raises:
            EnvironmentMissingError: the cluster does not answer, or refuses.
        """
        with admin_of({"bootstrap_servers": self.bootstrap}) as admin:
            admin.create_partitions({self.plan.source: NewPartitions(partitions)})

    def set_rule(self, group: str, rule: str, value: object) -> None:
        """Write a rule of a group to the control topic; None removes it.

        Raises:
            EnvironmentMissingError: the topic cannot be written.
        """
        settings = load_settings(overrides=self.settings())
        rules = RuleSet(group, rule, (), value, "local")
        shards = settings.topics.heartbeats_partitions
        write_rules(settings.kafka, [(at, rules) for at in partitions_of_rule(rules, shards)])

    def start_bridge(self, *flags: str, kind: str = "kafka") -> None:
        """Start the bridge to this kind of cluster as a process, with flags besides its own."""
        own = ["--cluster-name", BROKER_NAME, "--poll-ms", str(_BRIDGE_POLL_MS)]
        self._bridge = self.fairlead("bridge", "bridge", kind, "--metrics-port", "0", *own, *flags)
        self._say(f"bridge: process {self._bridge.pid}")

    def start_engine(self, *flags: str) -> None:
        """Start an engine as a process with these flags of `fairlead run`, again if need be."""
        again = "again, " if self._engines else ""
        number = len(self._engines) + 1
        self._engines.append(self.fairlead(f"engine-{number}", "run", *flags))
        self._say(f"engine: {again}process {self.engine.pid}")

    def await_engine(self) -> int:
        """Return the generation that the engine has claimed: it decides from then on.

        Raises:
            EnvironmentMissingError: it died, or did not come up in time.
        """
        topic = TopicPartition(f"{self.plan.prefix}generations", 0)
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False)
        with contextlib.closing(consumer):
            consumer.assign([topic])
            consumer.seek(topic, self._generations)
            deadline = time.monotonic() + _ENGINE_SECONDS
            while not consumer.poll(timeout_ms=_POLL_MS):
                self.check()
                if time.monotonic() > deadline:
                    raise EnvironmentMissingError(
                        f"engine: no generation was claimed in {_ENGINE_SECONDS:.0f} s. Its log"
                        f" ends:\n{self.engine.log_tail()}",
                        remedy=f"Read {self.engine.log}.",
                    )
            self._generations = position_of(consumer, topic)
        self._say(f"engine: generation {self._generations} claimed")
        return self._generations

    @property
    def serve_url(self) -> str:
        """Where the view of all groups is served."""
        return f"http://127.0.0.1:{self.serve_port}"

    def start_serve(self, *flags: str) -> None:
        """Start the view of all groups as a process with these flags of `fairlead serve`."""
        self._serve = self.fairlead("serve", "serve", *flags)
        self._say(f"serve: process {self._serve.pid}, {self.serve_url}")

    def await_serve(self) -> None:
        """Return when the view follows the topics and has read what stood in them.

        Raises:
            EnvironmentMissingError: it died, or was not ready in time.
        """
        deadline = time.monotonic() + _SERVE_SECONDS
        reason = "it does not answer"
        while time.monotonic() < deadline:
            self.check()
            try:
                with urllib.request.urlopen(f"{self.serve_url}/readyz", timeout=1):  # noqa: S310 - our own
                    return
            except urllib.error.HTTPError as error:
                reason = error.read().decode()
            except OSError as error:
                reason = str(error)
            time.sleep(_POLL_MS / 1_000)
        raise EnvironmentMissingError(
            f"serve: not ready in {_SERVE_SECONDS:.0f} s ({reason}).",
            remedy=f"Read {self.plan.folder / 'serve.log'}.",
        )

    def kill_engine(self) -> Killing:
        """SIGKILL to the engine, its JVM included; return when nothing of it runs."""
        return self.engine.kill()

    def check(self) -> None:
        """Make sure that engine, bridge and serve run.

        Raises:
            EnvironmentMissingError: one died by itself; its last lines are in the message.
        """
        for child in (*self._engines[-1:], self._bridge, self._serve):
            if child is not None and child.exit_code is not None:
                raise EnvironmentMissingError(
                    f"{child.name}: it ended with code {child.exit_code}. Its log ends:\n"
                    f"{child.log_tail()}",
                    remedy=f"Read {child.log}.",
                )

    def stop(self) -> None:
        """Stop engine, bridge, serve and broker."""
        for child in (*self._engines, self._bridge, self._serve):
            if child is not None:
                child.stop()
        if self._broker is not None:
            self._broker.stop()

    def delete_topics(self) -> None:
        """Delete what this run made on a cluster that outlives it."""
        with admin_of({"bootstrap_servers": self.bootstrap}) as admin:
            admin.delete_topics(self._created)

    def settings(self) -> dict[str, str]:
        """The settings of engine and bridge that differ from the defaults, by dotted keys."""
        return {
            "kafka.bootstrap": self.bootstrap,
            "kafka.topic_prefix": self.plan.prefix,
            "engine.checkpoint": str(self.plan.folder / "checkpoint"),
            "metrics.port": str(self.metrics_port),
            "serve.port": str(self.serve_port),
            "serve.url": self.serve_url,
            **self.plan.settings,
        }

    def fairlead(self, name: str, *arguments: str, settings: Mapping[str, str] = _NOTHING) -> Child:
        """Start a command of Fairlead as a process with the system's settings; the caller ends it.

        Args:
            name: what it is called in messages; its log is named after it.
            arguments: the command's own.
            settings: its own, over the system's.
        """
        command = [sys.executable, "-m", "fairlead", *arguments]
        environment = {
            f"FAIRLEAD__{key.replace('.', '__').upper()}": value
            for key, value in {**self.settings(), **settings}.items()
        }
        log = self.plan.folder / f"{name}.log"
        return Child(name, command, log, environment=environment)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
