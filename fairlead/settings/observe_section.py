"""Native groups that `fairlead serve` and `fairlead group list` show beside Fairlead's own."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from fairlead.settings.values import Matching, Section

__all__ = ["ObserveSettings"]

_SERVERS = Matching(
    r"([^\s;,/@]+:\d{1,5}([;,] *[^\s;,/@]+:\d{1,5})*)?", "give host:port, more behind , or ;"
)


class ObserveSettings(Section):
    """Native groups: those that Kafka or RocketMQ shares out by itself.

    Fairlead only looks at them. It joins no group and commits nothing. Left empty, it looks at
    none.
    """

    kafka_bootstrap: Annotated[
        str,
        _SERVERS,
        Field(
            description="The Kafka cluster whose native groups are shown, as host:port, more "
            "behind commas. Encryption and login are those of [kafka.security]. Empty: none.",
        ),
    ]
    namesrv: Annotated[
        str,
        _SERVERS,
        Field(
            description="The name servers of the RocketMQ cluster whose native groups are shown, "
            "as host:port, more behind semicolons. Empty: none.",
        ),
    ]
    cluster_name: (
        Annotated[
            str,
            Field(
                min_length=1,
                description="One RocketMQ cluster, if the name servers know several. Left out: "
                "all brokers.",
                examples=["DefaultCluster"],
            ),
        ]
        | None
    ) = None
    acl_file: (
        Annotated[
            Path,
            Field(
                description="A file with the login of RocketMQ: the lines accessKey: … and "
                "secretKey: …, as conf/tools.yml has them. Or set the variables "
                "ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY.",
                examples=["/run/secrets/rocketmq.yml"],
            ),
        ]
        | None
    ) = None
    tls: Annotated[
        bool,
        Field(
            description="Whether the connections to RocketMQ are encrypted. A file below implies "
            "it."
        ),
    ]
    tls_ca: (
        Annotated[
            Path,
            Field(
                description="The PEM file of the authorities that Fairlead trusts for RocketMQ's "
                "servers. Left out: the system's.",
                examples=["/etc/rocketmq/ca.pem"],
            ),
        ]
        | None
    ) = None
    tls_cert: (
        Annotated[
            Path,
            Field(
                description="The PEM file of Fairlead's own certificate, for servers that ask.",
                examples=["/etc/fairlead/rocketmq.pem"],
            ),
        ]
        | None
    ) = None
    tls_key: (
        Annotated[
            Path,
            Field(
                description="The PEM file of that certificate's key, without a password.",
                examples=["/etc/fairlead/rocketmq-key.pem"],
            ),
        ]
        | None
    ) = None
    tls_any_host: Annotated[
        bool,
        Field(description="Whether certificates of RocketMQ's servers may name another host."),
    ]
    groups: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description='The groups to look at, by name, with * and ? for others: ["orders*"].',
        ),
    ]
    interval_ms: Annotated[
        int,
        Field(
            ge=1_000,
            le=3_600_000,
            description="How often `fairlead serve` looks. RocketMQ's consumers are asked what "
            "they work on only while something changes, and otherwise every 30 s.",
        ),
    ]
