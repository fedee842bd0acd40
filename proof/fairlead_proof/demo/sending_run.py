"""The producer's demo: three brokers, one made slow and one killed under a Producer, judged."""

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import structlog
from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.send_error import NoRouteError, SendFailedError
from fairlead_client.producer import Producer
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.broker import EmbeddedKafka
from fairlead.errors import EnvironmentMissingError
from fairlead.jars.progress import ConsoleProgress
from fairlead.kafka.topic_content import read_to_end
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from fairlead_proof.demo.sending_judge import RETURNED_MIN, Phase, judge_sending
from fairlead_proof.demo.sending_load import SendingLoad
from fairlead_proof.demo.sending_report import SendingReport
from fairlead_proof.demo.sending_table import SendingScreen
from fairlead_proof.demo.sent_messages import FIRST, Ledger
from fairlead_proof.demo.slow_broker import SlowBroker

BROKERS: Final = 3
QUEUES: Final = 6
RATE: Final = 200
PREFIX: Final = "fairlead."
TOPIC: Final = "orders"
SLOW: Final = 2
KILLED: Final = 3
NOTICE_SECONDS: Final = 2.5
"""How long the producer may take to notice: an attempt's time, and what is under way then."""
RETURN_SECONDS_MAX: Final = 60.0
_WINDOW_SECONDS: Final = 1.5
_READY_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.2


class ProducerDemo:
    """One run.

    Args:
        trouble_s: how long each trouble lasts beyond the time to notice it.
        screen: shows what happens.
    """

    def __init__(self, trouble_s: float, screen: SendingScreen) -> None:
        self._trouble_s = trouble_s
        self._screen = screen
        self._ledger = Ledger()
        self._phases: list[Phase] = []

    def run(self) -> SendingReport:
        """Run it, and leave nothing behind.

        Raises:
            EnvironmentMissingError: a part is missing, or a broker did not come back.
        """
        begun = time.monotonic()
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlead-demo-"))
            say = self._screen.say
            say("three brokers are started")
            cluster = stack.enter_context(
                EmbeddedKafka(Path(folder), BROKERS, progress=ConsoleProgress(self._screen.console))
            )
            _make_topics(cluster)
            stack.enter_context(_bridge(cluster))
            say(f"bridge and topic are there: {QUEUES} queues, one copy of each, two per broker")
            with Producer(bootstrap=cluster.bootstrap, observer=self._ledger) as producer:
                _send_first(producer)
                load = SendingLoad(producer, TOPIC, RATE, self._ledger)
                load.start()
                with self._screen.showing(self._ledger):
                    try:
                        self._play(cluster)
                    finally:
                        load.finish()
            say("judging: reading every queue to its end")
            content = read_to_end(cluster.bootstrap, TOPIC)
        checks = judge_sending(self._ledger, load.begun, content, self._phases)
        took_s = time.monotonic() - begun
        attempts = dict(sorted(self._ledger.attempts.items()))
        return SendingReport(checks, load.begun, attempts, took_s, self._phases)

    def _play(self, cluster: EmbeddedKafka) -> None:
        self._await_shares("start")
        self._screen.say(f"broker {SLOW} is made slow: it stands still, nine tenths of the time")
        with SlowBroker(cluster, SLOW):
            self._trouble("slow", SLOW)
        self._screen.say(f"broker {SLOW} is well again")
        self._await_shares("slow, then well")
        self._screen.say(f"broker {KILLED} is killed (kill -9)")
        cluster.kill(KILLED)
        self._trouble("killed", KILLED)
        cluster.restart(KILLED)
        self._screen.say(f"broker {KILLED} was started again")
        self._await_shares("killed, then well")

    def _trouble(self, name: str, node: int) -> None:
        time.sleep(NOTICE_SECONDS)
        since = time.monotonic()
        time.sleep(self._trouble_s)
        self._phases.append(Phase(name, str(node), since, time.monotonic()))

    def _await_shares(self, name: str) -> None:
        """Wait until all brokers share the load again, then note how they do."""
        begun = time.monotonic()
        while True:
            now = time.monotonic()
            shares = self._ledger.shares(now - _WINDOW_SECONDS, now)
            even = len(shares) == BROKERS and min(shares.values()) >= RETURNED_MIN
            if now - begun >= _WINDOW_SECONDS and even:
                break
            if now - begun > RETURN_SECONDS_MAX:
                break
            time.sleep(_LOOK_SECONDS)
        self._screen.say(f"{name}: all three share the load after {now - begun:.1f} s")
        self._phases.append(Phase(name, None, now - _WINDOW_SECONDS, now))


def _make_topics(cluster: EmbeddedKafka) -> None:
    connection: dict[str, Any] = {"bootstrap_servers": cluster.bootstrap}
    create_topics(connection, PREFIX, topic_specs(load_settings().topics), BROKERS)
    nodes = cluster.nodes
    places = {queue: [nodes[queue % BROKERS]] for queue in range(QUEUES)}
    with contextlib.closing(KafkaAdminClient(**connection)) as admin:
        admin.create_topics([NewTopic(name=TOPIC, replica_assignments=places)])


def _send_first(producer: Producer) -> None:
    """Send one message to each queue, so that route and connections are there before the load."""
    deadline = time.monotonic() + _READY_SECONDS
    sent: set[int] = set()
    while len(sent) < QUEUES:
        try:
            sent.add(producer.send(OutgoingMessage(TOPIC, FIRST)).queue.queue_id)
        except (NoRouteError, SendFailedError) as error:
            if time.monotonic() > deadline:
                raise EnvironmentMissingError(
                    f"producer: the first messages were not sent: {error}",
                    remedy="Read the log above; on a busy machine try again.",
                ) from error


@contextlib.contextmanager
def _bridge(cluster: EmbeddedKafka) -> Iterator[None]:
    """Run the Kafka bridge on a thread; what it logs goes to the standard error."""
    logging = structlog.get_config()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    stop = threading.Event()
    bridge = KafkaBridge(
        control_bootstrap=cluster.bootstrap, topics=[TOPIC], times=BridgeTimes(poll_ms=1_000)
    )
    thread = threading.Thread(target=bridge.run, args=(stop,), name="bridge", daemon=True)
    thread.start()
    try:
        if not bridge.ready.wait(_READY_SECONDS):
            raise EnvironmentMissingError(
                f"bridge: not ready after {_READY_SECONDS:.0f} s.",
                remedy="Read the log above; on a busy machine try again.",
            )
        yield
    finally:
        stop.set()
        thread.join()
        structlog.configure(**logging)
