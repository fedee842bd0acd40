"""How every Kafka client of this library connects: the application's options and time limits.

The time limits follow the lease, because an answer that takes longer than half of it is too late. A
client without a lease names a time instead.
"""

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, Protocol, TypeVar

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError, UnknownTopicOrPartitionError
from kafka.net.selector import NetworkSelector

from fairlead_client.errors import BrokerConnectionError
from fairlead_client.transport.connection_fault import first_contact
from fairlead_client.transport.redaction import redact_credentials
from fairlead_client.transport.silent_brokers import (
    ConnectionManager,
    NetworkClient,
    network_client,
    silent_last,
)

logger = logging.getLogger(__name__)

METADATA_WAIT_MS = 500
ANSWER_MS = 1_500
"""How long a client waits for a broker's answer, or for a connection."""
DATA_ANSWER_MS = 4_000
"""The same for fetches of the application's messages."""
_OF_CONNECTIONS = (
    "socket_connection_setup_timeout_ms",
    "socket_connection_setup_timeout_max_ms",
)
Connection = TypeVar("Connection", KafkaAdminClient, KafkaConsumer, KafkaProducer)


class Cluster(Protocol):
    """The settings of a connection; the clients' and the producers' Settings have them."""

    @property
    def bootstrap_servers(self) -> list[str]:
        """The servers one by one."""

    @property
    def prefix(self) -> str:
        """The prefix of Fairlead's topics."""

    @property
    def kafka(self) -> Mapping[str, Any]:
        """Connection options of kafka-python."""

    @property
    def lease_ms(self) -> int:
        """The base of the time limits, in ms."""


def connection_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return the options that consumers and producers share."""
    if settings.kafka.get("sasl_mechanism") is not None:
        redact_credentials()
    answer_ms = request_timeout_ms(settings)
    return {
        "reconnect_backoff_max_ms": 1_000,
        # This leaves time for several servers in turn: some may be frozen.
        "bootstrap_timeout_ms": max(1_000, min(2 * answer_ms, settings.lease_ms // 2)),
        "request_timeout_ms": answer_ms,
        "kafka_client": partial(network_client, **_setup_limits(settings, answer_ms)),
        "allow_auto_create_topics": False,
        "metrics_enabled": False,
        **{name: value for name, value in settings.kafka.items() if name not in _OF_CONNECTIONS},
        "bootstrap_servers": settings.bootstrap_servers,
        "client_id": f"fairlead-{client_id}",
    }


def _setup_limits(settings: Cluster, answer_ms: int) -> dict[str, int]:
    """Return how long a new connection may take, at first and at most.

    Only the network client knows these two options. By default the time grows with each failure,
    so a frozen broker, which accepts connections and does not answer, would block longer and
    longer.
    """
    limits = dict.fromkeys(_OF_CONNECTIONS, answer_ms)
    return limits | {name: settings.kafka[name] for name in limits if name in settings.kafka}


def request_timeout_ms(settings: Cluster) -> int:
    """Return how long to wait for a broker's answer.

    The application's choice counts. The default is short, because clients of a frozen broker lose
    this much of their lease until they ask its successor.
    """
    given: int | None = settings.kafka.get("request_timeout_ms")
    return given or max(600, min(ANSWER_MS, settings.lease_ms * 2 // 5))


def consumer_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return options for a consumer of the control topics.

    It starts at the earliest record: newer records replace those that are gone.
    """
    return {
        **connection_options(settings, client_id),
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
    }


def data_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return options for a consumer of the application's messages.

    An offset outside of its partition raises an error, which the caller corrects. An automatic
    reset could read a whole topic twice.
    """
    options = {**consumer_options(settings, client_id), "auto_offset_reset": "none"}
    if "request_timeout_ms" not in settings.kafka:
        # One answer may have 50 MB of messages, and no lease depends on it.
        options["request_timeout_ms"] = max(DATA_ANSWER_MS, options["request_timeout_ms"])
    return options


def producer_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return options for a producer whose records arrive soon or not at all.

    A broker must not append a heartbeat long after it was sent. One request in flight keeps the
    order without the state of an idempotent producer; a repeated record does no harm.
    """
    return {
        **connection_options(settings, client_id),
        "acks": "all",
        "enable_idempotence": False,
        "max_in_flight_requests_per_connection": 1,
        "linger_ms": 3,
        "delivery_timeout_ms": max(settings.lease_ms // 2, request_timeout_ms(settings)),
        "max_block_ms": METADATA_WAIT_MS,
    }


def connect(
    kind: type[Connection], options: Mapping[str, Any], topics: Iterable[str]
) -> Connection:
    """Connect, and learn these topics with the first answer.

    By default kafka-python asks for topics 100 ms after it has connected, and a consumer asks for
    all topics of the cluster to learn an unknown one. A consumer also continues as soon as it knows
    the broker's versions, maybe before the first answer.

    Raises:
        BrokerConnectionError: the brokers accept no connection, for a known reason.
        KafkaError: no broker answered in time.
    """
    made: list[NetworkClient] = []

    def knowing(**config: Any) -> NetworkClient:
        given = {**config, **options["kafka_client"].keywords}
        net = NetworkSelector(**given)
        manager = ConnectionManager(net, **given)
        made.append(NetworkClient(net, manager, **given))
        # First, or a question for topics would start it without a time limit.
        manager.bootstrap_async(given["bootstrap_timeout_ms"])
        for topic in topics:
            # Kafka cannot have some of RocketMQ's names, so such topics do not exist there.
            with suppress(ValueError):
                manager.cluster.add_topic(topic)
        manager.bootstrap(refresh=False)
        return made[-1]

    try:
        return kind(**{**options, "kafka_client": knowing})
    except BaseException as error:
        # Otherwise it keeps trying, in its own thread.
        for client in made:
            client.close()
        if isinstance(error, KafkaError):
            raise_fault(options, error)
        raise


def raise_fault(options: Mapping[str, Any], error: KafkaError) -> None:
    """Raise the reason why no connection is possible; kafka-python only reports a timeout.

    Raises:
        BrokerConnectionError: the brokers accept no connection, for a known reason.
    """
    servers = silent_last(options["bootstrap_servers"])
    fault = first_contact({**options, "bootstrap_servers": servers}).fault
    if fault is not None:
        raise BrokerConnectionError(*fault) from error


def close_producer(producer: KafkaProducer, timeout_ms: int) -> None:
    """Close a producer; records without an answer in time are lost.

    While a record has no answer, kafka-python's close raises instead of closing. No record waits
    longer than its delivery timeout, so give at least that time.
    """
    try:
        producer.close(timeout=timeout_ms / 1_000)
    except KafkaError as error:
        logger.debug("closing the producer: %s", error)
        with suppress(KafkaError):
            producer.close(timeout=timeout_ms / 1_000)


def close_in_background(producer: KafkaProducer | None, timeout_ms: int, name: str) -> None:
    """Close a producer, if there is one, on a background thread with this name."""
    if producer is not None:
        Thread(target=close_producer, args=(producer, timeout_ms), name=name, daemon=True).start()


def partition_count(consumer: KafkaConsumer, topic: str) -> int:
    """Return the number of a topic's partitions, 0 if it does not exist.

    kafka-python raises an error instead of an empty answer while an earlier question for a missing
    topic is under way.
    """
    try:
        return len(consumer.partitions_for_topic(topic) or ())
    except UnknownTopicOrPartitionError:
        return 0
