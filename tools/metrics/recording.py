"""Records what everybody exports in a short run with a real broker, engine, bridge and serve."""

import contextlib
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypedDict

import prometheus_client
from fairlead_client import Consumer, OutgoingMessage, Producer, PushConsumer
from fairlead_client.consume.pull.listener import ConsumeResult
from fairlead_client.metrics import ClientMetrics, Families, ProducerFamilies, ProducerMetrics
from fairlead_proof.local.system import LocalSystem, SystemPlan
from kafka import KafkaProducer
from prometheus_client import CollectorRegistry, generate_latest

from tools.metrics.exported import exported
from tools.metrics.samples import picked

__all__ = ["record"]

_PREFIX: Final = "fairlead."
_TOPIC: Final = "orders"
_PARTITIONS: Final = {
    "topics.heartbeats_partitions": "1",
    "topics.assignments_partitions": "4",
}
_QUEUES: Final = 4
_SETTLE_SECONDS: Final = 4.0
_WAIT_SECONDS: Final = 120.0


class MemberSettings(TypedDict):
    """The settings that all members of the run share."""

    bootstrap: str
    prefix: str
    group: str
    topics: list[str]


def record() -> dict[str, dict[str, str]]:
    """Return a line of each family of each part; what did not happen in the run is not there."""
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    client, producer = CollectorRegistry(), CollectorRegistry()
    with tempfile.TemporaryDirectory() as folder:
        plan = SystemPlan(Path(folder), None, _PREFIX, _TOPIC, _QUEUES, _PARTITIONS)
        with LocalSystem(plan, _say) as system:
            system.start_broker()
            system.make_topics()
            system.start_bridge("--topics", _TOPIC)
            system.start_engine()
            system.start_serve()
            system.await_engine()
            system.await_serve()
            with _lived(system, client, producer):
                engine = _fetch(f"http://127.0.0.1:{system.metrics_port}/metrics")
                serve = _fetch(f"{system.serve_url}/metrics")
                lines = {
                    "engine": picked(engine),
                    "client": picked(generate_latest(client).decode()),
                    "producer": picked(generate_latest(producer).decode()),
                }
    of_serve = picked(serve)
    for part in ("groups_now", "groups_counted", "serve"):
        known = exported()[part]
        lines[part] = {name: line for name, line in of_serve.items() if name in known}
    return lines


def _say(text: str) -> None:
    """Say what is being done."""
    sys.stderr.write(f"{text}\n")


@contextlib.contextmanager
def _lived(
    system: LocalSystem, client: CollectorRegistry, producer: CollectorRegistry
) -> Iterator[None]:
    """Let messages flow, members come and go, something be refused; one member is left inside."""
    families = Families(client)
    metrics = ProducerMetrics("billing", ProducerFamilies(producer))
    with Producer(
        bootstrap=system.bootstrap, prefix=_PREFIX, group="billing", observer=metrics
    ) as sending:
        for number in range(200):
            _send(sending, b"%d" % number)
    settings = MemberSettings(
        bootstrap=system.bootstrap, prefix=_PREFIX, group="orders", topics=[_TOPIC]
    )
    owned = "fairlead_client_owned_queues"
    lost = "fairlead_client_revocations_total"
    stop = threading.Event()

    def consume() -> None:
        observer = ClientMetrics("orders", families)
        with Consumer(**settings, client_id="a", observer=observer) as consumer:
            while not stop.is_set():
                consumer.poll(timeout_ms=200)

    thread = threading.Thread(target=consume)
    thread.start()
    try:
        _await(client, owned, _QUEUES)
        observer = ClientMetrics("orders", families)
        with PushConsumer(**settings, client_id="b", listener=_consumed, observer=observer):
            _await(client, lost, _QUEUES // 2)
            _await(client, owned, _QUEUES)
        _await(client, owned, _QUEUES)
        _refused(system.bootstrap)
        time.sleep(_SETTLE_SECONDS)
        yield
    finally:
        stop.set()
        thread.join()


def _consumed(_messages: object, _context: object) -> ConsumeResult:
    return ConsumeResult.CONSUME_SUCCESS


def _await(registry: CollectorRegistry, name: str, wanted: int) -> None:
    """Wait until the clients of the group have come so far."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while (registry.get_sample_value(name, {"group": "orders"}) or 0) < wanted:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} is not {wanted}")
        time.sleep(0.2)


def _send(producer: Producer, value: bytes) -> None:
    """Send a message; the first waits until the bridge has lines the topic's route."""
    deadline = time.monotonic() + 30
    while True:
        try:
            producer.send(OutgoingMessage(_TOPIC, value))
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
            return


def _refused(bootstrap: str) -> None:
    """Write what is no record of the protocol."""
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    producer.send(f"{_PREFIX}heartbeats", b"{}", key=b"orders", partition=0).get(10)
    producer.close()


def _fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own processes
        text: str = answer.read().decode()
    return text
