"""Native groups that `fairlead serve` and `fairlead group list` show beside Fairlead's own."""

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
