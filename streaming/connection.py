"""How the driver's Kafka clients, and Spark's, reach the cluster.

Two clients need the same facts in two dialects: kafka-python (generations, ticks, rules, checks)
and the Java client inside Spark's source and sink.
"""

from collections.abc import Mapping
from typing import Any, Final

from fairlead.settings import KafkaSettings

REQUEST_TIMEOUT_MS: Final = 10_000
"""How long one request of the driver's own clients may take. Nothing they do takes that long."""


def client_options(kafka: KafkaSettings, name: str) -> dict[str, Any]:
    """Return the keyword arguments of a kafka-python client.

    Args:
        kafka: the cluster.
        name: what the client is called in the broker's log and metrics.

    Raises:
        OSError: the file with the password cannot be read.
    """
    security = kafka.security
    options: dict[str, Any] = {
        "bootstrap_servers": kafka.bootstrap_servers,
        "client_id": f"fairlead-{name}",
        "security_protocol": security.security_protocol,
        "ssl_check_hostname": security.ssl_check_hostname,
    }
    for field in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
        path = getattr(security, field)
        if path is not None:
            options[field] = str(path)
    password = security.password()
    if security.sasl_mechanism is not None and password is not None:
        options["sasl_mechanism"] = security.sasl_mechanism
        options["sasl_plain_username"] = security.sasl_plain_username
        options["sasl_plain_password"] = password.get_secret_value()
    return options


def spark_options(kafka: KafkaSettings) -> dict[str, str]:
    """Return the options of Spark's Kafka source and sink, without those of one of the two.

    Raises:
        OSError: the file with the password cannot be read.
    """
    security = kafka.security
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap,
        "kafka.security.protocol": security.security_protocol,
    }
    if not security.ssl_check_hostname:
        options["kafka.ssl.endpoint.identification.algorithm"] = ""
    if security.ssl_cafile is not None:
        options["kafka.ssl.truststore.type"] = "PEM"
        options["kafka.ssl.truststore.location"] = str(security.ssl_cafile)
    if security.ssl_certfile is not None and security.ssl_keyfile is not None:
        options |= {
            "kafka.ssl.keystore.type": "PEM",
            "kafka.ssl.keystore.certificate.chain": security.ssl_certfile.read_text("ascii"),
            "kafka.ssl.keystore.key": security.ssl_keyfile.read_text("ascii"),
        }
    password = security.password()
    if security.sasl_mechanism is not None and password is not None:
        options["kafka.sasl.mechanism"] = security.sasl_mechanism
        options["kafka.sasl.jaas.config"] = _jaas(
            security.sasl_mechanism,
            {
                "username": security.sasl_plain_username or "",
                "password": password.get_secret_value(),
            },
        )
    return options


def _jaas(mechanism: str, login: Mapping[str, str]) -> str:
    """Write a login the way Java wants it; a quote in a password must not end it."""
    kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    escaped = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in login.items()}
    fields = " ".join(f'{name}="{text}"' for name, text in escaped.items())
    return f"org.apache.kafka.common.security.{kind}LoginModule required {fields};"
