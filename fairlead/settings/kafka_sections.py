"""The ``[kafka]`` block: one cluster, and the only options of Kafka's libraries that may be set.

This is the allow-list. What each option is called in the Python and in the Java library stands in
``kafka_options``; an option that is not here is refused, with the reason (``kafka_refusals``).
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from fairlead.errors import UsageError
from fairlead.settings.values import Bootstrap, Section, TopicPrefix


class SecuritySettings(Section):
    """How to speak to the brokers: the same for the engine, Spark, bridges and commands.

    A secret stands in a file of its own or in an environment variable, never in a settings file and
    never on a command line.
    """

    security_protocol: Annotated[
        Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
        Field(description="Whether connections are encrypted (SSL) and log in (SASL)."),
    ]
    sasl_mechanism: (
        Annotated[
            Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"],
            Field(description="How to log in.", examples=["SCRAM-SHA-512"]),
        ]
        | None
    ) = None
    sasl_plain_username: (
        Annotated[
            str,
            Field(description="Who logs in, with each of the mechanisms.", examples=["fairlead"]),
        ]
        | None
    ) = None
    sasl_plain_password: (
        Annotated[
            SecretStr,
            Field(description="Its password, if it stands in no file."),
        ]
        | None
    ) = None
    sasl_plain_password_file: (
        Annotated[
            Path,
            Field(
                description="The file with its password; the line end at its end is not part of "
                "it.",
                examples=["/run/secrets/kafka-password"],
            ),
        ]
        | None
    ) = None
    ssl_cafile: (
        Annotated[
            Path,
            Field(
                description="The certificates, as PEM, of those who may vouch for a broker. Left "
                "out: those that Python and Java trust.",
                examples=["/etc/fairlead/ca.pem"],
            ),
        ]
        | None
    ) = None
    ssl_certfile: (
        Annotated[
            Path,
            Field(
                description="A certificate of our own, as PEM, for brokers that ask for one.",
                examples=["/etc/fairlead/client.pem"],
            ),
        ]
        | None
    ) = None
    ssl_keyfile: (
        Annotated[
            Path,
            Field(
                description="Its key, as PEM (PKCS#8).", examples=["/etc/fairlead/client-key.pem"]
            ),
        ]
        | None
    ) = None
    ssl_key_password: (
        Annotated[
            SecretStr,
            Field(description="The key's password, if it has one that stands in no file."),
        ]
        | None
    ) = None
    ssl_key_password_file: (
        Annotated[
            Path,
            Field(
                description="The file with the key's password.",
                examples=["/run/secrets/kafka-key-password"],
            ),
        ]
        | None
    ) = None
    ssl_check_hostname: Annotated[
        bool,
        Field(description="Whether a broker's certificate must be for the name it is called by."),
    ]

    def password(self) -> SecretStr | None:
        """Return the password to log in with; None: none is set.

        Raises:
            UsageError: its file cannot be read, or is empty.
        """
        return self._secret("sasl_plain_password")

    def key_password(self) -> SecretStr | None:
        """Return the password of the key; None: none is set.

        Raises:
            UsageError: its file cannot be read, or is empty.
        """
        return self._secret("ssl_key_password")

    def _secret(self, name: str) -> SecretStr | None:
        """Return a secret from the environment, else from its file without the line end."""
        given: SecretStr | None = getattr(self, name)
        path: Path | None = getattr(self, f"{name}_file")
        if given is not None or path is None:
            return given
        key = f"kafka.security.{name}_file"
        try:
            text = path.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
            raise UsageError(
                f"{key}: {path} cannot be read ({reason}).",
                remedy="Name a file that this user may read.",
            ) from error
        if not text:
            raise UsageError(f"{key}: {path} is empty.", remedy="Write the password into it.")
        return SecretStr(text)


class ConnectionSettings(Section):
    """How connections to brokers are tuned. Left out: what each library does by itself."""

    request_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="How long a broker may take to answer a request. After that its "
            "connection is closed, and another broker is asked: so long a frozen broker holds up "
            "its callers. engine.request_timeout_ms is the same for Spark.",
        ),
    ]
    socket_connection_setup_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="How long a new connection may take, encryption and login included. A "
            "frozen broker accepts connections and then says nothing.",
        ),
    ]
    connections_max_idle_ms: (
        Annotated[
            int,
            Field(
                ge=1_000,
                le=86_400_000,
                description="A connection that nobody uses is closed after this; less than what "
                "a balancer or a firewall on the way allows.",
                examples=[240_000],
            ),
        ]
        | None
    ) = None
    metadata_max_age_ms: (
        Annotated[
            int,
            Field(
                ge=1_000,
                le=3_600_000,
                description="Leaders and partitions are asked for again after this.",
                examples=[60_000],
            ),
        ]
        | None
    ) = None
    reconnect_backoff_ms: (
        Annotated[
            int,
            Field(
                ge=1,
                le=60_000,
                description="A broker that did not answer is tried again after this.",
                examples=[50],
            ),
        ]
        | None
    ) = None
    reconnect_backoff_max_ms: Annotated[
        int,
        Field(
            ge=1,
            le=60_000,
            description="That pause doubles with each failure, up to this.",
        ),
    ]
    receive_buffer_bytes: (
        Annotated[
            int,
            Field(
                ge=1_024,
                le=67_108_864,
                description="The receive buffer of a connection; larger for brokers far away.",
                examples=[131_072],
            ),
        ]
        | None
    ) = None
    send_buffer_bytes: (
        Annotated[
            int,
            Field(
                ge=1_024,
                le=67_108_864,
                description="The send buffer of a connection.",
                examples=[131_072],
            ),
        ]
        | None
    ) = None


class KafkaSettings(Section):
    """The cluster that carries Fairlead's topics: for Spark, bridges, commands and `serve` alike.

    `fairlead config kafka` shows what each library is told.
    """

    bootstrap: Annotated[
        Bootstrap,
        Field(
            description="Its brokers: host:port, several divided by commas. Name two or more of a "
            "cluster with several: while the only broker that is named is frozen, new connections "
            "do not find the others, Spark's included."
        ),
    ]
    topic_prefix: Annotated[
        TopicPrefix, Field(description="What the names of Fairlead's topics begin with.")
    ]
    replication_factor: Annotated[
        int,
        Field(
            ge=-1,
            le=32,
            description="Copies of each topic that Fairlead makes. -1: the brokers' own default.",
        ),
    ]
    security: SecuritySettings
    connection: ConnectionSettings

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses as kafka-python takes them."""
        return self.bootstrap.split(",")
