"""The sections of the settings, one class each.

conf/default.toml alone has the defaults. The descriptions here are the only ones: the comments of
conf/default.toml, docs/configuration.md and the JSON Schema come from them.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from fairlead.settings.access_section import AccessSettings, TlsSettings
from fairlead.settings.engine_section import EngineSettings
from fairlead.settings.gateway_section import GatewaySettings
from fairlead.settings.http_section import HttpSettings
from fairlead.settings.kafka_sections import KafkaSettings
from fairlead.settings.observe_section import ObserveSettings
from fairlead.settings.rules import GroupOverrides, GroupRules
from fairlead.settings.values import (
    AlertPrefix,
    FolderAddress,
    GroupName,
    Partitions,
    Port,
    Section,
    ServerAddress,
)


class TopicsSettings(Section):
    """How Fairlead creates its topics if they are missing, and what it demands of existing ones."""

    heartbeats_partitions: Annotated[
        Partitions,
        Field(
            description="The number of shards: partitions of heartbeats, releases and control. "
            "Fixed for the life of a checkpoint."
        ),
    ]
    assignments_partitions: Annotated[
        Partitions,
        Field(
            description="The partitions of assignments and handovers. Fixed for the life of these "
            "topics."
        ),
    ]
    heartbeats_retention_ms: Annotated[
        int,
        Field(
            ge=600_000,
            description="How long the topics keep heartbeats and releases. An engine that is down "
            "for longer finds its input gone, and a person must decide. Never less than the "
            "longest lease.",
        ),
    ]
    decisions_retention_ms: Annotated[
        int,
        Field(
            ge=60_000,
            description="How long the topic keeps decisions. The commands explain and moves look "
            "back no further.",
        ),
    ]
    assignments_compaction_lag_ms: Annotated[
        int,
        Field(
            ge=600_000,
            description="How long the topic keeps an outdated assignment before it may compact it. "
            "Too short: a client that reads late misses assignments.",
        ),
    ]


class GroupsSettings(Section):
    """How groups begin and end, and limits of all groups together."""

    auto_create: Annotated[
        bool,
        Field(
            description="Whether the first heartbeat of a group creates it. If false, the engine "
            "rejects heartbeats of groups without rules."
        ),
    ]
    max_groups: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="The most groups that clients may create; each shard has its share. 0: no "
            "limit.",
        ),
    ]
    new_groups_per_second: Annotated[
        int,
        Field(
            ge=0,
            le=10_000,
            description="The most groups per second that clients may create; each shard has its "
            "share. After a quiet time they may create five seconds' worth at once. 0: no limit.",
        ),
    ]
    heartbeat_bytes_per_second: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000_000,
            description="The most bytes per second of heartbeats above 1 KiB; each shard has its "
            "share. After a quiet time five seconds' worth may come at once. 0: no limit.",
        ),
    ]
    state_bytes: Annotated[
        int,
        Field(
            ge=0,
            le=10_000_000_000,
            description="The most bytes of state of all groups; each shard has its share. Above "
            "it, a group with more than its part grows no further. 0: no limit.",
        ),
    ]
    evict_after_ms: Annotated[
        int,
        Field(
            ge=1,
            le=86_400_000,
            description="How long the engine remembers a group without members and without rules "
            "of its own.",
        ),
    ]
    switch_ms: Annotated[
        int,
        Field(
            ge=0,
            le=60_000,
            description="When a topic grows, how long its group waits for the bounds of the new "
            "queues, to share all queues in one decision. 0: it does not wait.",
        ),
    ]


class MetricsSettings(Section):
    """The address at which the engine serves `/metrics`, `/healthz` and `/readyz`."""

    host: Annotated[
        str,
        Field(
            min_length=1,
            description="The address to listen at. 0.0.0.0: every address of the machine. There "
            "is no login: whoever reaches the address can read everything.",
        ),
    ]
    port: Annotated[
        Port, Field(description="The port to listen at. 0: any free port, named in the log.")
    ]


class LogSettings(Section):
    """The log that engine, bridges and `fairlead serve` write to the standard error."""

    form: Annotated[
        Literal["auto", "console", "json"],
        Field(
            description="The form of log lines. json: one document per line; console: text for "
            "people; auto: console on a terminal, otherwise json.",
        ),
    ]


class ServeSettings(Section):
    """`fairlead serve`: the view of all groups, over HTTP."""

    host: Annotated[
        str,
        Field(
            min_length=1,
            description="The address to listen at. 0.0.0.0: every address of the machine. Other "
            "than on loopback, `access.file` or `access.jwt.jwks_file` must say who may call.",
        ),
    ]
    port: Annotated[
        Port, Field(description="The port to listen at. 0: any free port, named in the log.")
    ]
    url: Annotated[
        ServerAddress,
        Field(
            description="The address at which commands ask `fairlead serve`. Empty: commands read "
            "the topics, which takes longer.",
        ),
    ]
    token_file: (
        Annotated[
            Path,
            Field(
                description="The file with the token that commands show to `fairlead serve`. "
                "Fairlead ignores a final line feed.",
                examples=["/run/secrets/fairlead-token"],
            ),
        ]
        | None
    ) = None
    max_groups: Annotated[
        int,
        Field(
            ge=1,
            le=20_000,
            description="How many groups have their own series in `/metrics`. All further groups "
            'share group="__other__".',
        ),
    ]
    queue_series: Annotated[
        tuple[GroupName, ...],
        Field(
            description='Groups with a series for each queue in `/metrics`, such as ["orders"]. '
            "Each queue adds series."
        ),
    ]
    observe: Annotated[
        bool,
        Field(
            description="Whether `fairlead serve` follows all groups and answers questions about "
            "them. With false it is a gateway alone, which takes a third of the processor time: "
            "for gateways beside a process that observes."
        ),
    ]
    lag_period_ms: Annotated[
        int,
        Field(
            ge=1_000,
            le=3_600_000,
            description="How often `fairlead serve` asks the brokers for the positions of groups "
            "without members. Shorter: more load on the brokers; longer: their lag is older.",
        ),
    ]
    history_ms: Annotated[
        int,
        Field(
            ge=60_000,
            description="How long `fairlead serve` keeps decisions in memory, for questions about "
            "the past. Longer: more memory.",
        ),
    ]


class AlertsSettings(Section):
    """Names and links in the alert rules that `make alert-rules` writes."""

    name_prefix: Annotated[
        AlertPrefix,
        Field(
            description="The prefix of alert names, such as Fairlead, for a shared Prometheus. "
            "Recorded series keep their names."
        ),
    ]
    runbook_base: Annotated[
        FolderAddress,
        Field(
            description="The address of the folder with the runbooks. Empty: their place in "
            "Fairlead's repository."
        ),
    ]


class ClientSettings(Section):
    """What Fairlead assumes of clients. Clients do not read these settings."""

    heartbeat_ms: Annotated[
        int,
        Field(
            ge=100,
            le=200_000,
            description="How often clients send a heartbeat. Applications must give their clients "
            "the same number. Fairlead refuses a lease_ms shorter than three heartbeats.",
        ),
    ]
    request_timeout_ms: Annotated[
        int,
        Field(
            ge=100,
            le=120_000,
            description="How long clients wait for an answer of a broker: 1500, unless an "
            "application sets request_timeout_ms in kafka=. `fairlead doctor` counts it into the "
            "shortest safe lease.",
        ),
    ]


class Settings(BaseSettings):
    """All settings, merged and checked. Build it with ``load_settings``."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="FAIRLEAD__", env_nested_delimiter="__"
    )

    kafka: KafkaSettings
    topics: TopicsSettings
    engine: EngineSettings
    groups: GroupsSettings
    group_defaults: GroupRules
    group: dict[GroupName, GroupOverrides]
    metrics: MetricsSettings
    http: HttpSettings
    log: LogSettings
    serve: ServeSettings
    observe: ObserveSettings
    gateway: GatewaySettings
    access: AccessSettings
    tls: TlsSettings
    alerts: AlertsSettings
    client: ClientSettings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Accept only what the loader passes: it reads the sources itself, to know each origin."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    def rules(self, group: str) -> GroupRules:
        """Return the rules of a group by these settings."""
        overrides = self.group.get(group)
        return self.group_defaults if overrides is None else overrides.over(self.group_defaults)
