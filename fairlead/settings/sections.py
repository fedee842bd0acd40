"""The sections of the settings, one class each.

No class here has a default: conf/default.toml is the one place where the defaults stand. What a
setting means stands here, at the setting, and nowhere else: the comments of conf/default.toml,
docs/configuration.md and the JSON Schema are made of it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from fairlead.settings.http_section import HttpSettings
from fairlead.settings.kafka_sections import KafkaSettings
from fairlead.settings.rules import GroupOverrides, GroupRules
from fairlead.settings.values import (
    AlertPrefix,
    FolderAddress,
    GroupName,
    JavaHeap,
    Partitions,
    Port,
    Section,
    ServerAddress,
    StrategyClass,
)


class TopicsSettings(Section):
    """How Fairlead's topics are made when they are missing, and what they must be."""

    heartbeats_partitions: Annotated[
        Partitions,
        Field(
            description="The number of shards: partitions of heartbeats, releases and control. For "
            "the life of a checkpoint."
        ),
    ]
    assignments_partitions: Annotated[
        Partitions,
        Field(description="Partitions of assignments and handovers. For the life of these topics."),
    ]
    heartbeats_retention_ms: Annotated[
        int,
        Field(
            ge=600_000,
            description="How long topics keep heartbeats and releases, and so how long an engine "
            "may be down. Never less than the longest lease.",
        ),
    ]
    decisions_retention_ms: Annotated[
        int, Field(ge=60_000, description="How long topics keep decisions, to answer why.")
    ]
    assignments_compaction_lag_ms: Annotated[
        int,
        Field(
            ge=600_000,
            description="How long an outdated assignment stays, for clients that read late.",
        ),
    ]


class EngineSettings(Section):
    """The engine: the streaming job of `fairlead run`."""

    checkpoint: Annotated[
        Path,
        Field(description="The folder of its state, on a local POSIX file system."),
    ]
    recover_damaged: Annotated[
        bool,
        Field(
            description="Whether --supervise moves a damaged checkpoint aside and starts again: "
            "the engine then recovers from what clients claim. Else the engine ends with exit "
            "code 4."
        ),
    ]
    damaged_kept: Annotated[
        int,
        Field(
            ge=1,
            le=100,
            description="How many damaged checkpoints may stand beside engine.checkpoint. With "
            "one more the engine ends with exit code 4: a person has to look at the disk and "
            "delete them.",
        ),
    ]
    tick_ms: Annotated[
        int,
        Field(ge=100, le=60_000, description="The pulse that moves the clock of the log."),
    ]
    trigger_interval_ms: Annotated[
        int,
        Field(
            ge=0,
            le=60_000,
            description="The least time between two batches. 0: one starts when the last has "
            "ended.",
        ),
    ]
    shuffle_partitions: Annotated[
        int,
        Field(ge=1, le=64, description="Spark's tasks of a batch. For the life of a checkpoint."),
    ]
    master: Annotated[
        str,
        Field(
            min_length=1,
            description="Where Spark runs. The default is sixteen tasks at once, since most wait "
            "for a broker, of eight attempts each.",
        ),
    ]
    max_offsets_per_trigger: Annotated[
        int, Field(ge=1_000, description="A batch reads no more records than this.")
    ]
    fetch_max_wait_ms: Annotated[
        int,
        Field(
            ge=1,
            le=500,
            description="How long each batch waits for a long poll; 500 costs half a second.",
        ),
    ]
    request_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="How long source and sink wait for a connection to a broker, and again "
            "for an answer. Two or three such waits follow one another when a broker freezes, so "
            "it is less than kafka.connection.request_timeout_ms. More for links below 10 Mbit/s.",
        ),
    ]
    offsets_timeout_ms: Annotated[
        int,
        Field(
            ge=500,
            le=120_000,
            description="Each batch asks the brokers where the input ends. After this time "
            "without an answer it asks again through a new connection: the library itself would "
            "wait for a broker that is no longer there. At least engine.request_timeout_ms.",
        ),
    ]
    metadata_max_age_ms: Annotated[
        int,
        Field(
            ge=100,
            le=300_000,
            description="How often the sink asks which broker leads which partition. Otherwise "
            "its first record after an outage would go to a broker that no longer answers, and "
            "wait for it.",
        ),
    ]
    java_heap: Annotated[JavaHeap, Field(description="The heap of Spark's JVM, such as 512m.")]
    strategies: Annotated[
        tuple[StrategyClass, ...],
        Field(description='Strategies of your own, as "module:Class"; strategies/README.md.'),
    ]
    spark: Annotated[
        Mapping[str, str | bool | int | float],
        Field(
            description="Settings of Spark, passed on as they are and above the engine's own.",
            examples=[{"spark.memory.fraction": 0.5}],
        ),
    ]


class GroupsSettings(Section):
    """What happens to groups nobody has announced, and to groups nobody is in."""

    auto_create: Annotated[
        bool, Field(description="Whether a heartbeat makes its group; else it is rejected.")
    ]
    max_groups: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="Clients make no more groups than this, each shard its share. 0: any "
            "number.",
        ),
    ]
    new_groups_per_second: Annotated[
        int,
        Field(
            ge=0,
            le=10_000,
            description="Clients make no more groups a second than this, each shard its share; "
            "after a quiet time five seconds' worth at once. 0: any number.",
        ),
    ]
    heartbeat_bytes_per_second: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000_000,
            description="Bytes a second of heartbeats above 1 KiB, each shard its share; after a "
            "quiet time five seconds' worth at once. 0: any number.",
        ),
    ]
    state_bytes: Annotated[
        int,
        Field(
            ge=0,
            le=10_000_000_000,
            description="Bytes of state of all groups, each shard its share. Above it, a group "
            "with more than its part grows no further. 0: any number.",
        ),
    ]
    evict_after_ms: Annotated[
        int,
        Field(ge=1, le=86_400_000, description="A group without members is forgotten after this."),
    ]
    switch_ms: Annotated[
        int,
        Field(
            ge=0,
            le=60_000,
            description="How long a topic that grows waits for the bounds of its new queues. 0: "
            "not at all.",
        ),
    ]


class MetricsSettings(Section):
    """Where the engine serves `/metrics`, `/healthz` and `/readyz`."""

    host: Annotated[
        str,
        Field(min_length=1, description="The address it listens at. 0.0.0.0: every address."),
    ]
    port: Annotated[Port, Field(description="The port. 0: any that is free, which is logged.")]


class LogSettings(Section):
    """The log that engine, bridges and `fairlead serve` write to the standard error."""

    form: Annotated[
        Literal["auto", "console", "json"],
        Field(
            description="How lines are written: json, one document each, or console, to be read. "
            "auto: console on a terminal, otherwise json.",
        ),
    ]


class ServeSettings(Section):
    """`fairlead serve`: the view of all groups, over HTTP."""

    host: Annotated[
        str,
        Field(min_length=1, description="The address it listens at. 0.0.0.0: every address."),
    ]
    port: Annotated[Port, Field(description="The port. 0: any that is free, which is logged.")]
    url: Annotated[
        ServerAddress,
        Field(
            description="Where commands look for it. Empty: they read the topics.",
        ),
    ]
    max_groups: Annotated[
        int,
        Field(
            ge=1,
            le=20_000,
            description='More groups than this are folded into group="__other__" in `/metrics`.',
        ),
    ]
    queue_series: Annotated[
        tuple[GroupName, ...],
        Field(description='Groups that have series of single queues, such as ["orders"].'),
    ]
    lag_period_ms: Annotated[
        int,
        Field(
            ge=1_000,
            le=3_600_000,
            description="How often brokers are asked for the positions of groups without members.",
        ),
    ]
    history_ms: Annotated[
        int,
        Field(ge=60_000, description="How long decisions stay in memory, to answer why."),
    ]


class AlertsSettings(Section):
    """What `make alert-rules` writes for a Prometheus that others share."""

    name_prefix: Annotated[
        AlertPrefix,
        Field(
            description="What the names of alerts begin with, such as Fairlead; recorded series "
            "keep their names."
        ),
    ]
    runbook_base: Annotated[
        FolderAddress,
        Field(
            description="The address of the folder with the runbooks. Empty: their place in this "
            "repository."
        ),
    ]


class ClientSettings(Section):
    """What the groups' clients are taken to do. Nothing of it reaches a client."""

    heartbeat_ms: Annotated[
        int,
        Field(
            ge=100,
            le=200_000,
            description="How often clients send a heartbeat: applications give the same number to "
            "their own. A lease_ms shorter than three of these is refused.",
        ),
    ]
    request_timeout_ms: Annotated[
        int,
        Field(
            ge=100,
            le=120_000,
            description="How long clients wait for an answer of a broker: 1500 unless applications "
            "give another request_timeout_ms in kafka= to their own. `fairlead doctor` adds it to "
            "what a lease must exceed.",
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
        """Take nothing but what is handed in: the loader reads the sources, to know each origin."""
        del settings_cls, env_settings, dotenv_settings, file_secret_settings
        return (init_settings,)

    def rules(self, group: str) -> GroupRules:
        """Return the rules that conf/ gives this group."""
        overrides = self.group.get(group)
        return self.group_defaults if overrides is None else overrides.over(self.group_defaults)
