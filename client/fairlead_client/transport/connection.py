"""How every Kafka client of this library connects: the application's options, and time limits.

Time limits follow the lease, or for how long whoever has none will wait: whatever takes longer than
half of it comes too late anyway.
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
"""A broker that says nothing for so long is taken for dead, also while a connection is made."""
DATA_ANSWER_MS = 4_000
"""The same for the application's messages."""
_OF_CONNECTIONS = (
    "socket_connection_setup_timeout_ms",
    "socket_connection_setup_timeout_max_ms",
)
Connection = TypeVar("Connection", KafkaAdminClient, KafkaConsumer, KafkaProducer)


class Cluster(Protocol):
    """Where to connect to, how, and how long to wait: what Settings say of it."""

    @property
    def bootstrap_servers(self) -> list[str]:
        """The servers one by one."""

    @property
    def prefix(self) -> str:
        """What the names of Fairlead's topics begin with."""

    @property
    def kafka(self) -> Mapping[str, Any]:
        """Connection options of kafka-python."""

    @property
    def lease_ms(self) -> int:
        """What the time limits follow."""


def connection_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return what consumers and producers have in common."""
    if settings.kafka.get("sasl_mechanism") is not None:
        redact_credentials()
    answer_ms = request_timeout_ms(settings)
    return {
        "reconnect_backoff_max_ms": 1_000,
        # Time for several servers, one after the other: some may be frozen.
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

    What makes connections knows these two; consumers and producers do not. By itself the time grows
    with each failure, and a frozen broker, which accepts connections and says nothing, would hold
    up the client for longer and longer.
    """
    limits = dict.fromkeys(_OF_CONNECTIONS, answer_ms)
    return limits | {name: settings.kafka[name] for name in limits if name in settings.kafka}


def request_timeout_ms(settings: Cluster) -> int:
    """Return how long an answer of a broker is awaited.

    The application's own choice counts. Else it is short: once others lead in place of a broker
    that is frozen, its clients lose so long of their lease by waiting for it.
    """
    given: int | None = settings.kafka.get("request_timeout_ms")
    return given or max(600, min(ANSWER_MS, settings.lease_ms * 2 // 5))


def consumer_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return options for a consumer that follows partitions of the control topics.

    A record of those that is gone has been overtaken by later ones: what is left is read.
    """
    return {
        **connection_options(settings, client_id),
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
    }


def data_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return options for a consumer of the application's messages.

    An offset outside of the partition is an error to be answered: to begin at the beginning by
    itself would read a whole topic twice.
    """
    options = {**consumer_options(settings, client_id), "auto_offset_reset": "none"}
    if "request_timeout_ms" not in settings.kafka:
        # Up to 50 MB of messages are one answer, and no lease depends on it.
        options["request_timeout_ms"] = max(DATA_ANSWER_MS, options["request_timeout_ms"])
    return options


def producer_options(settings: Cluster, client_id: str) -> dict[str, Any]:
    """Return options for a producer whose records arrive soon or not at all.

    A heartbeat must not be appended long after it was sent. One request in flight keeps the order
    without the state of an idempotent producer; a repeated record does no harm.
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
    """Connect, and learn of these topics with the first answer.

    By itself kafka-python asks for topics when it has connected, 100 ms later; and a consumer that
    is asked for the partitions of a topic it does not know reads all topics of the cluster. And a
    consumer goes on as soon as it knows what the broker can do, maybe before the first answer.

    Raises:
        KafkaError: no broker answered in time; a BrokerConnectionError where the cause has a name.
    """
    made: list[NetworkClient] = []

    def knowing(**config: Any) -> NetworkClient:
        given = {**config, **options["kafka_client"].keywords}
        net = NetworkSelector(**given)
        manager = ConnectionManager(net, **given)
        made.append(NetworkClient(net, manager, **given))
        # First, or whoever asks for topics would begin it, without an end in time.
        manager.bootstrap_async(given["bootstrap_timeout_ms"])
        for topic in topics:
            # RocketMQ has names that Kafka cannot have: those are not there, and that is no error.
            with suppress(ValueError):
                manager.cluster.add_topic(topic)
        manager.bootstrap(refresh=False)
        return made[-1]

    try:
        return kind(**{**options, "kafka_client": knowing})
    except BaseException as error:
        # It would go on trying, in a thread of its own.
        for client in made:
            client.close()
        if isinstance(error, KafkaError):
            raise_fault(options, error)
        raise


def raise_fault(options: Mapping[str, Any], error: KafkaError) -> None:
    """Raise what is wrong with the connection, if anything is: the library says only "too late".

    Raises:
        BrokerConnectionError: the brokers take no connection, for a reason that has a name.
    """
    servers = silent_last(options["bootstrap_servers"])
    fault = first_contact({**options, "bootstrap_servers": servers}).fault
    if fault is not None:
        raise BrokerConnectionError(*fault) from error


def close_producer(producer: KafkaProducer, timeout_ms: int) -> None:
    """Close a producer; what is not answered in time is lost.

    While something is unanswered kafka-python's close raises instead of closing. Nothing stays
    unanswered for longer than its delivery timeout: give at least that.
    """
    try:
        producer.close(timeout=timeout_ms / 1_000)
    except KafkaError as error:
        logger.debug("closing the producer: %s", error)
        with suppress(KafkaError):
            producer.close(timeout=timeout_ms / 1_000)


def close_in_background(producer: KafkaProducer | None, timeout_ms: int, name: str) -> None:
    """Close a producer, if there is one, on a thread of this name; the caller goes on at once."""
    if producer is not None:
        Thread(target=close_producer, args=(producer, timeout_ms), name=name, daemon=True).start()


def partition_count(consumer: KafkaConsumer, topic: str) -> int:
    """Return how many partitions a topic has, 0 if it is not there.

    While an earlier question for an absent topic is under way kafka-python raises what others get
    as an empty answer.
    """
    try:
        return len(consumer.partitions_for_topic(topic) or ())
    except UnknownTopicOrPartitionError:
        return 0
