"""How the driver's Kafka clients, and Spark's, reach the cluster.

Two clients need the same facts in two dialects: kafka-python (generations, ticks, rules, checks)
and the Java client inside Spark's source and sink. ``fairlead.settings`` has both.
"""

from typing import Any, Final

from fairlead.settings import EngineSettings, KafkaSettings, java_options, library_options

REQUEST_TIMEOUT_MS: Final = 10_000
"""How long one request of the driver's own clients may take. Nothing they do takes that long."""


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
    options = java_options(kafka) | {"request.timeout.ms": str(engine.request_timeout_ms)}
    return {f"kafka.{name}": value for name, value in options.items()}
