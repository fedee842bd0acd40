"""The options of the driver's Kafka clients, and of Spark's.

Two clients need the same facts in different forms: kafka-python (generations, ticks, rules, checks)
and the Java client in Spark's source and sink. ``fairlead.settings`` has both forms.
"""

from functools import partial
from typing import Any, Final

from fairlead_client.transport.silent_brokers import network_client

from fairlead.settings import EngineSettings, KafkaSettings, java_options
from fairlead.settings.kafka_options import application_options

REQUEST_TIMEOUT_MS: Final = 10_000
"""The time limit of one request of the driver's own clients; normal requests are much shorter."""
_PAUSE_MS: Final = 200
"""The longest pause of Spark's clients before they retry a broker or ask for the leader."""

_BOOTSTRAP_MS_MIN: Final = 1_000
_OF_CONNECTIONS: Final = (
    "socket_connection_setup_timeout_ms",
    "socket_connection_setup_timeout_max_ms",
)


def library_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the keyword arguments of a kafka-python consumer, producer or admin client.

    The caller adds ``bootstrap_servers``.

    Raises:
        UsageError: a file with a secret cannot be read, or is empty.
    """
    options = application_options(kafka)
    # Only the class that makes connections accepts these two options.
    setup = {name: options.pop(name) for name in _OF_CONNECTIONS}
    waits = (options["request_timeout_ms"], *setup.values())
    return {
        **options,
        # Time to try several servers in turn, since some may be frozen. If all are, the library's
        # default is 30 s of silence.
        "bootstrap_timeout_ms": max(_BOOTSTRAP_MS_MIN, 4 * max(waits)),
        "kafka_client": partial(network_client, **setup),
    }


def client_options(kafka: KafkaSettings, name: str) -> dict[str, Any]:
    """Return the keyword arguments of a kafka-python client.

    Args:
        kafka: the cluster.
        name: the client's name in the broker's log and metrics.

    Raises:
        UsageError: a file with a secret cannot be read.
    """
    return {
        **library_options(kafka),
        "bootstrap_servers": kafka.bootstrap_servers,
        "client_id": f"fairlead-{name}",
    }


def spark_options(kafka: KafkaSettings, engine: EngineSettings) -> dict[str, str]:
    """Return the common options of Spark's Kafka source and sink.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    wait_ms = str(engine.request_timeout_ms)
    pause_ms = min(_PAUSE_MS, kafka.connection.reconnect_backoff_max_ms)
    waits = {
        # A frozen broker accepts no connections once its backlog is full. While Kafka's library
        # tries to connect to it, it asks no other broker for the leader.
        "socket.connection.setup.timeout.ms": wait_ms,
        "socket.connection.setup.timeout.max.ms": wait_ms,
        "request.timeout.ms": wait_ms,
        # The library asks for the leader once a connection to the old one has failed, and doubles
        # its pause with each failure. Without this limit consumers learn it a second late.
        "reconnect.backoff.max.ms": str(pause_ms),
        "retry.backoff.max.ms": str(_PAUSE_MS),
    }
    options = java_options(kafka) | waits
    return {f"kafka.{name}": value for name, value in options.items()}


def sink_options(kafka: KafkaSettings, engine: EngineSettings) -> dict[str, str]:
    """Return the options of Spark's Kafka sink.

    Its producer sends rarely and would use old metadata after a broker froze. So it refreshes the
    metadata by itself, and its first record after an outage goes to the new leader.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    age_ms = str(engine.metadata_max_age_ms)
    return spark_options(kafka, engine) | {"kafka.metadata.max.age.ms": age_ms}
