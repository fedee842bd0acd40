"""How the driver's Kafka clients, and Spark's, reach the cluster.

Two clients need the same facts in two dialects: kafka-python (generations, ticks, rules, checks)
and the Java client inside Spark's source and sink. ``fairlead.settings`` has both.
"""

from functools import partial
from typing import Any, Final

from fairlead_client.transport.silent_brokers import network_client

from fairlead.settings import EngineSettings, KafkaSettings, java_options
from fairlead.settings.kafka_options import application_options

REQUEST_TIMEOUT_MS: Final = 10_000
"""How long one request of the driver's own clients may take. Nothing they do takes that long."""
_PAUSE_MS: Final = 200
"""So long Spark's clients pause at most before they try a broker again, or ask who leads."""

_BOOTSTRAP_MS_MIN: Final = 1_000
_OF_CONNECTIONS: Final = (
    "socket_connection_setup_timeout_ms",
    "socket_connection_setup_timeout_max_ms",
)


def library_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the keyword arguments of a kafka-python consumer, producer or admin client.

    They are without ``bootstrap_servers``, which each caller names for itself.

    Raises:
        UsageError: a file with a secret cannot be read, or is empty.
    """
    options = application_options(kafka)
    # What makes connections knows these two, and consumers, producers and admin clients do not.
    setup = {name: options.pop(name) for name in _OF_CONNECTIONS}
    waits = (options["request_timeout_ms"], *setup.values())
    return {
        **options,
        # Time for several servers, one after the other: some may be frozen. The library's own 30 s
        # go by without a word where all of them are.
        "bootstrap_timeout_ms": max(_BOOTSTRAP_MS_MIN, 4 * max(waits)),
        "kafka_client": partial(network_client, **setup),
    }


def client_options(kafka: KafkaSettings, name: str) -> dict[str, Any]:
    """Return the keyword arguments of a kafka-python client.

    Args:
        kafka: the cluster.
        name: what the client is called in the broker's log and metrics.

    Raises:
        UsageError: a file with a secret cannot be read.
    """
    return {
        **library_options(kafka),
        "bootstrap_servers": kafka.bootstrap_servers,
        "client_id": f"fairlead-{name}",
    }


def spark_options(kafka: KafkaSettings, engine: EngineSettings) -> dict[str, str]:
    """Return the options of Spark's Kafka source and sink, without those of one of the two.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    wait_ms = str(engine.request_timeout_ms)
    pause_ms = min(_PAUSE_MS, kafka.connection.reconnect_backoff_max_ms)
    waits = {
        # The queue of a frozen broker is soon full of connections nobody takes. While one to it is
        # being made, Kafka's library asks no other broker who leads.
        "socket.connection.setup.timeout.ms": wait_ms,
        "socket.connection.setup.timeout.max.ms": wait_ms,
        "request.timeout.ms": wait_ms,
        # Who leads is asked once a connection to the one before has failed, and with each failure
        # the library pauses twice as long as before: a consumer learnt it a second late.
        "reconnect.backoff.max.ms": str(pause_ms),
        "retry.backoff.max.ms": str(_PAUSE_MS),
    }
    options = java_options(kafka) | waits
    return {f"kafka.{name}": value for name, value in options.items()}


def sink_options(kafka: KafkaSettings, engine: EngineSettings) -> dict[str, str]:
    """Return the options of Spark's Kafka sink alone.

    Its producer sends seldom, and would go by what it learned before a broker froze: it asks again
    by itself, so that its first record after an outage goes to who leads by then.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    age_ms = str(engine.metadata_max_age_ms)
    return spark_options(kafka, engine) | {"kafka.metadata.max.age.ms": age_ms}
