"""Translates the ``[kafka]`` block into options of the two Kafka libraries.

kafka-python serves the driver, the bridges, the commands, `fairlead serve` and the clients of
applications; the Java library is inside Spark's source and sink. Both get the same settings, and
nothing that is not on this list.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from fairlead.errors import UsageError
from fairlead.settings.kafka_sections import ConnectionSettings, KafkaSettings, SecuritySettings

__all__ = [
    "TRANSLATIONS",
    "Secret",
    "Translation",
    "application_options",
    "effective_options",
    "java_options",
]


class Secret(str):
    """A text that logs, tracebacks and tables show as stars."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return stars, whatever the text is."""
        return "'********'"


class EffectiveOption(NamedTuple):
    """One option of one library, for people; ``value`` shows no secret."""

    setting: str
    library: str
    option: str
    value: str


class Translation(NamedTuple):
    """A setting (``key``) and the names of its options in both libraries."""

    key: str
    library: tuple[str, ...]
    java: tuple[str, ...]


TRANSLATIONS: Final = (
    Translation("kafka.bootstrap", ("bootstrap_servers",), ("bootstrap.servers",)),
    Translation("kafka.security.security_protocol", ("security_protocol",), ("security.protocol",)),
    Translation("kafka.security.sasl_mechanism", ("sasl_mechanism",), ("sasl.mechanism",)),
    Translation(
        "kafka.security.sasl_plain_username", ("sasl_plain_username",), ("sasl.jaas.config",)
    ),
    Translation(
        "kafka.security.sasl_plain_password", ("sasl_plain_password",), ("sasl.jaas.config",)
    ),
    Translation(
        "kafka.security.ssl_cafile",
        ("ssl_cafile",),
        ("ssl.truststore.type", "ssl.truststore.location"),
    ),
    Translation(
        "kafka.security.ssl_certfile",
        ("ssl_certfile",),
        ("ssl.keystore.type", "ssl.keystore.certificate.chain"),
    ),
    Translation("kafka.security.ssl_keyfile", ("ssl_keyfile",), ("ssl.keystore.key",)),
    Translation("kafka.security.ssl_key_password", ("ssl_password",), ("ssl.key.password",)),
    Translation(
        "kafka.security.ssl_check_hostname",
        ("ssl_check_hostname",),
        ("ssl.endpoint.identification.algorithm",),
    ),
    # Spark's own timeout is engine.request_timeout_ms.
    Translation("kafka.connection.request_timeout_ms", ("request_timeout_ms",), ()),
    Translation(
        "kafka.connection.socket_connection_setup_timeout_ms",
        ("socket_connection_setup_timeout_ms", "socket_connection_setup_timeout_max_ms"),
        ("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms"),
    ),
    *(
        Translation(f"kafka.connection.{name}", (name,), (java,))
        for name, java in (
            ("connections_max_idle_ms", "connections.max.idle.ms"),
            ("metadata_max_age_ms", "metadata.max.age.ms"),
            ("reconnect_backoff_ms", "reconnect.backoff.ms"),
            ("reconnect_backoff_max_ms", "reconnect.backoff.max.ms"),
            ("receive_buffer_bytes", "receive.buffer.bytes"),
            ("send_buffer_bytes", "send.buffer.bytes"),
        )
    ),
)
"""Every setting that reaches a library. A secret from a file becomes the same option."""


def application_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the options for an application's own client, as its ``kafka=``.

    Raises:
        UsageError: a file with a secret cannot be read, or is empty.
    """
    return {**_connection(kafka.connection), **_security(kafka.security)}


def _connection(settings: ConnectionSettings) -> dict[str, int]:
    """Return the connection options with Python's names; Java's have dots.

    Both libraries lengthen the connection timeout with each failure, so a frozen broker would hold
    up its clients ever longer. Equal first and largest timeouts prevent that.
    """
    options: dict[str, int] = settings.model_dump(exclude_none=True)
    options["socket_connection_setup_timeout_max_ms"] = settings.socket_connection_setup_timeout_ms
    return options


def _security(settings: SecuritySettings) -> dict[str, Any]:
    """Return the options for encryption and login."""
    options: dict[str, Any] = {
        "security_protocol": settings.security_protocol,
        "ssl_check_hostname": settings.ssl_check_hostname,
    }
    for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
        path = getattr(settings, name)
        if path is not None:
            options[name] = str(path)
    key_password = settings.key_password()
    if key_password is not None:
        options["ssl_password"] = Secret(key_password.get_secret_value())
    password = settings.password()
    if settings.sasl_mechanism is not None and password is not None:
        options["sasl_mechanism"] = settings.sasl_mechanism
        options["sasl_plain_username"] = settings.sasl_plain_username
        options["sasl_plain_password"] = Secret(password.get_secret_value())
    return options


def java_options(kafka: KafkaSettings) -> dict[str, str]:
    """Return the configuration of the Java library, with ``bootstrap.servers``.

    It lacks ``request.timeout.ms``: the engine has its own setting for that.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    settings = kafka.security
    options = {
        "bootstrap.servers": kafka.bootstrap,
        "security.protocol": settings.security_protocol,
    }
    connection = _connection(kafka.connection)
    del connection["request_timeout_ms"]
    for name, value in connection.items():
        options[name.replace("_", ".")] = str(value)
    if not settings.ssl_check_hostname:
        options["ssl.endpoint.identification.algorithm"] = ""
    if settings.ssl_cafile is not None:
        options["ssl.truststore.type"] = "PEM"
        options["ssl.truststore.location"] = str(settings.ssl_cafile)
    if settings.ssl_certfile is not None and settings.ssl_keyfile is not None:
        options |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": _content(settings, "ssl_certfile"),
            "ssl.keystore.key": Secret(_content(settings, "ssl_keyfile")),
        }
    key_password = settings.key_password()
    if key_password is not None:
        options["ssl.key.password"] = Secret(key_password.get_secret_value())
    password = settings.password()
    if settings.sasl_mechanism is not None and password is not None:
        options["sasl.mechanism"] = settings.sasl_mechanism
        options["sasl.jaas.config"] = _jaas(
            settings.sasl_mechanism,
            {
                "username": settings.sasl_plain_username or "",
                "password": password.get_secret_value(),
            },
        )
    return options


def effective_options(kafka: KafkaSettings) -> list[EffectiveOption]:
    """Return the options of each library, setting by setting; secrets are stars.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    library = {"bootstrap_servers": kafka.bootstrap, **application_options(kafka)}
    java = {f"kafka.{name}": value for name, value in java_options(kafka).items()}
    effective: list[EffectiveOption] = []
    for key, names, java_names in TRANSLATIONS:
        for reader, options, name in (
            *(("kafka-python", library, name) for name in names),
            *(("Spark", java, f"kafka.{name}") for name in java_names),
        ):
            if name in options and (reader, name) not in {(one[1], one[2]) for one in effective}:
                effective.append(EffectiveOption(key, reader, name, _shown(options[name])))
    return effective


def _shown(value: Any) -> str:
    if isinstance(value, Secret):
        return repr(value).strip("'")
    return str(value) or '""'


def _content(settings: SecuritySettings, name: str) -> str:
    path = getattr(settings, name)
    try:
        text: str = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"kafka.security.{name}: {path} is unreadable ({error}).",
            remedy="Name a PEM file that this user may read.",
        ) from error
    return text


def _jaas(mechanism: str, login: Mapping[str, str]) -> Secret:
    """Return a login in Java's form; quotes in the password are escaped."""
    kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    escaped = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in login.items()}
    fields = " ".join(f'{name}="{text}"' for name, text in escaped.items())
    return Secret(f"org.apache.kafka.common.security.{kind}LoginModule required {fields};")
