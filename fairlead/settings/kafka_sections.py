"""The ``[kafka]`` block: one cluster, and the allow-list of Kafka library options.

``kafka_options`` has the names of each option in the Python and in the Java library. Fairlead
refuses any other option with a reason (``kafka_refusals``).
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from fairlead.errors import UsageError
from fairlead.settings.values import Bootstrap, Section, TopicPrefix


class SecuritySettings(Section):
    """Encryption and login: the same for the engine, Spark, bridges and commands.

    Put a secret into a file of its own or into an environment variable, never into a settings file
    or on a command line.
    """

    security_protocol: Annotated[
        Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
        Field(
            description="SSL encrypts the connections to the brokers, SASL logs in; SASL_SSL does "
            "both. Without SSL anybody on the network path can read and change records."
        ),
    ]
    sasl_mechanism: (
        Annotated[
            Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"],
            Field(
                description="The login method. PLAIN sends the password itself, so use it only "
                "with SASL_SSL.",
                examples=["SCRAM-SHA-512"],
            ),
        ]
        | None
    ) = None
    sasl_plain_username: (
        Annotated[
            str,
            Field(description="The user that logs in, for every mechanism.", examples=["fairlead"]),
        ]
        | None
    ) = None
    sasl_plain_password: (
        Annotated[
            SecretStr,
            Field(description="The user's password, if no file holds it."),
        ]
        | None
    ) = None
    sasl_plain_password_file: (
        Annotated[
            Path,
            Field(
                description="The file with the user's password. Fairlead ignores a final line "
                "feed.",
                examples=["/run/secrets/kafka-password"],
            ),
        ]
        | None
    ) = None
    ssl_cafile: (
        Annotated[
            Path,
            Field(
                description="The PEM file of the certificate authorities that Fairlead trusts for "
                "the brokers. Left out: those that Python and Java trust.",
                examples=["/etc/fairlead/ca.pem"],
            ),
        ]
        | None
    ) = None
    ssl_certfile: (
        Annotated[
            Path,
            Field(
                description="The PEM file of Fairlead's own certificate, for brokers that ask for "
                "one.",
                examples=["/etc/fairlead/client.pem"],
            ),
        ]
        | None
    ) = None
    ssl_keyfile: (
        Annotated[
            Path,
            Field(
                description="The PEM file (PKCS#8) of that certificate's key.",
                examples=["/etc/fairlead/client-key.pem"],
            ),
        ]
        | None
    ) = None
    ssl_key_password: (
        Annotated[
            SecretStr,
            Field(description="The key's password, if the key has one and no file holds it."),
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
        Field(
            description="Whether a broker's certificate must match its host name. If false, any "
            "holder of a certificate of the same authority can pose as a broker."
        ),
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
                f"{key}: {path} is unreadable ({reason}).",
                remedy="Name a file that this user may read.",
            ) from error
        if not text:
            raise UsageError(f"{key}: {path} is empty.", remedy="Write the password into it.")
        return SecretStr(text)


class ConnectionSettings(Section):
    """Timeouts and buffers of connections to brokers. Left out: each library's own default."""

    request_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="How long a broker may take to answer a request; then the caller closes "
            "the connection and asks another broker. Too long: a frozen broker holds up its "
            "callers for as long. Too short: slow answers fail. Spark has its own, "
            "engine.request_timeout_ms.",
        ),
    ]
    socket_connection_setup_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="How long a new connection may take, with encryption and login. Too long: "
            "a frozen broker, which accepts connections and then says nothing, holds up its "
            "callers. Too short: connections over slow links fail.",
        ),
    ]
    connections_max_idle_ms: (
        Annotated[
            int,
            Field(
                ge=1_000,
                le=86_400_000,
                description="Close a connection after this time without use. Keep it below the "
                "limit of any load balancer or firewall on the way, which would cut it silently.",
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
                description="Ask for leaders and partitions again after this time. Longer: new "
                "partitions and moved leaders are noticed later.",
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
                description="The first pause before another try to connect to a broker.",
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
            description="The longest pause before another try: the pause doubles with each "
            "failure. Too long: a broker that is back stays unused for that time.",
        ),
    ]
    receive_buffer_bytes: (
        Annotated[
            int,
            Field(
                ge=1_024,
                le=67_108_864,
                description="The receive buffer of a connection. Make it larger for distant "
                "brokers.",
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
                description="The send buffer of a connection. Make it larger for distant brokers.",
                examples=[131_072],
            ),
        ]
        | None
    ) = None


class KafkaSettings(Section):
    """The cluster with Fairlead's topics, for Spark, bridges, commands and `serve` alike.

    `fairlead config kafka` shows the options that each library gets.
    """

    bootstrap: Annotated[
        Bootstrap,
        Field(
            description="The brokers as host:port, separated by commas. Name at least two if the "
            "cluster has several: if the only named broker is frozen, new connections find no "
            "other, and the engine stands still."
        ),
    ]
    topic_prefix: Annotated[
        TopicPrefix,
        Field(
            description="The prefix of all Fairlead topics. Engine, bridges, commands and clients "
            "must use the same; another prefix is another installation."
        ),
    ]
    replication_factor: Annotated[
        int,
        Field(
            ge=-1,
            le=32,
            description="The replicas of each topic that Fairlead creates. -1: the brokers' "
            "default. With 1 the loss of a broker loses topics.",
        ),
    ]
    security: SecuritySettings
    connection: ConnectionSettings

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses as kafka-python takes them."""
        return self.bootstrap.split(",")
