"""The one ``[kafka]`` block in the words of the two libraries that speak to brokers.

kafka-python serves the driver, the bridges, the commands and `fairlead serve`, and takes the same
options from an application's own client; the Java library is inside Spark's source and sink. Both
are told the same, and nothing that is not on this list.
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
    "java_options",
    "told_options",
]


class Secret(str):
    """A text that is used as it is, and shown as stars: in logs, in tracebacks, in a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return stars, whatever the text is."""
        return "'********'"


class ToldOption(NamedTuple):
    """What one library is told, for a person to read; ``value`` shows no secret."""

    setting: str
    library: str
    option: str
    value: str


class Translation(NamedTuple):
    """What a setting becomes; ``key`` is the setting, the others are names of options."""

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
    # Spark's own stands in [engine].
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
"""Every setting that reaches a library. A secret that stands in a file is the same option."""


def application_options(kafka: KafkaSettings) -> dict[str, Any]:
    """Return the same for an application's own client, as its ``kafka=``.

    Raises:
        UsageError: a file with a secret cannot be read, or is empty.
    """
    return {**_connection(kafka.connection), **_security(kafka.security)}


def _connection(settings: ConnectionSettings) -> dict[str, int]:
    """Return how connections are tuned, in Python's words; Java has the same with dots.

    Both libraries let the time for a new connection grow with each failure: a frozen broker would
    hold up its clients for longer and longer. It stays what it is.
    """
    options: dict[str, int] = settings.model_dump(exclude_none=True)
    options["socket_connection_setup_timeout_max_ms"] = settings.socket_connection_setup_timeout_ms
    return options


def _security(settings: SecuritySettings) -> dict[str, Any]:
    """Return the part that is about who speaks to whom, and how."""
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

    It is without ``request.timeout.ms``: the engine has one of its own.

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


def told_options(kafka: KafkaSettings) -> list[ToldOption]:
    """Return what each library is told, setting by setting; secrets are stars.

    Raises:
        UsageError: a file with a secret, a certificate or its key cannot be read.
    """
    library = {"bootstrap_servers": kafka.bootstrap, **application_options(kafka)}
    java = {f"kafka.{name}": value for name, value in java_options(kafka).items()}
    told: list[ToldOption] = []
    for key, names, java_names in TRANSLATIONS:
        for reader, options, each in (
            *(("kafka-python", library, name) for name in names),
            *(("Spark", java, f"kafka.{name}") for name in java_names),
        ):
            if each in options and (reader, each) not in {(one[1], one[2]) for one in told}:
                told.append(ToldOption(key, reader, each, _shown(options[each])))
    return told


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
            f"kafka.security.{name}: {path} cannot be read ({error}).",
            remedy="Name a PEM file that this user may read.",
        ) from error
    return text


def _jaas(mechanism: str, login: Mapping[str, str]) -> Secret:
    """Write a login the way Java wants it; a quote in a password must not end it."""
    kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    escaped = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in login.items()}
    fields = " ".join(f'{name}="{text}"' for name, text in escaped.items())
    return Secret(f"org.apache.kafka.common.security.{kind}LoginModule required {fields};")
