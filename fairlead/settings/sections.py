"""The sections of the settings, one class each.

No class here has a default: conf/default.toml is the one place where the defaults stand.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from fairlead.settings.rules import GroupOverrides, GroupRules

Partitions = Annotated[int, Field(ge=1, le=1_024)]
Port = Annotated[int, Field(ge=0, le=65_535)]


def _matching(pattern: str, wanted: str) -> AfterValidator:
    """Return a check of a whole string that, when it fails, says what is wanted in words."""
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if compiled.fullmatch(text) is None:
            raise ValueError(wanted)
        return text

    return AfterValidator(check)


Bootstrap = Annotated[
    str,
    _matching(
        r"[^\s,:/]+:\d{1,5}(,[^\s,:/]+:\d{1,5})*", "give host:port, several divided by commas"
    ),
]
TopicPrefix = Annotated[
    str, _matching(r"[A-Za-z0-9._-]{0,100}", "give at most 100 letters, digits and . _ -")
]
GroupName = Annotated[
    str, _matching(r"[A-Za-z0-9_%|.-]{1,120}", "a group is 1-120 letters, digits and _ % | . -")
]
JavaHeap = Annotated[str, _matching(r"[1-9]\d*[mg]", "give a size such as 512m or 2g")]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SecuritySettings(_Section):
    """How to speak to the brokers. The password is read from a file, never from the settings."""

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    sasl_plain_username: str | None = None
    sasl_plain_password_file: Path | None = None
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    ssl_check_hostname: bool

    def password(self) -> SecretStr | None:
        """Return the password in ``sasl_plain_password_file``, without its line end.

        Raises:
            OSError: the file cannot be read.
        """
        if self.sasl_plain_password_file is None:
            return None
        return SecretStr(self.sasl_plain_password_file.read_text(encoding="utf-8").rstrip("\r\n"))


class KafkaSettings(_Section):
    """The cluster that carries Fairlead's topics.

    ``replication_factor`` −1 leaves the choice to the broker (``default.replication.factor``).
    """

    bootstrap: Bootstrap
    topic_prefix: TopicPrefix
    replication_factor: Annotated[int, Field(ge=-1, le=32)]
    security: SecuritySettings

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses as kafka-python takes them."""
        return self.bootstrap.split(",")


class TopicsSettings(_Section):
    """How the topics are made when they are missing.

    ``heartbeats_partitions`` is the number of shards; releases and control have as many. It is for
    the life of a checkpoint. ``heartbeats_retention_ms`` is of releases as well, and never less
    than the longest lease: what a client that lives has last said must still be there.
    """

    heartbeats_partitions: Partitions
    assignments_partitions: Partitions
    heartbeats_retention_ms: Annotated[int, Field(ge=600_000)]
    decisions_retention_ms: Annotated[int, Field(ge=60_000)]
    assignments_compaction_lag_ms: Annotated[int, Field(ge=600_000)]


class EngineSettings(_Section):
    """The streaming job. ``trigger_interval_ms`` 0: a batch starts when the last one has ended."""

    checkpoint: Path
    tick_ms: Annotated[int, Field(ge=100, le=60_000)]
    trigger_interval_ms: Annotated[int, Field(ge=0, le=60_000)]
    shuffle_partitions: Annotated[int, Field(ge=1, le=64)]
    master: Annotated[str, Field(min_length=1)]
    max_offsets_per_trigger: Annotated[int, Field(ge=1_000)]
    fetch_max_wait_ms: Annotated[int, Field(ge=1, le=500)]
    java_heap: JavaHeap
    strategies: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")], ...]
    spark: Mapping[str, str | bool | int | float]


class GroupsSettings(_Section):
    """What happens to groups nobody has announced, and to groups nobody is in."""

    auto_create: bool
    evict_after_ms: Annotated[int, Field(ge=1, le=86_400_000)]
    switch_ms: Annotated[int, Field(ge=0, le=60_000)]


class MetricsSettings(_Section):
    """Where the engine serves ``/metrics``. Port 0 takes a free one, which is logged."""

    host: Annotated[str, Field(min_length=1)]
    port: Port


class ServeSettings(_Section):
    """``fairlead serve``: the view of all groups, over HTTP.

    ``url`` is where commands look for it; empty: they read the topics. More groups than
    ``max_groups`` are folded into one in ``/metrics``; ``queue_series`` names the groups that have
    series of single queues. Lag of groups that say nothing is asked of the brokers each
    ``lag_period_ms``. Decisions are kept, to answer why, for ``history_ms``.
    """

    host: Annotated[str, Field(min_length=1)]
    port: Port
    url: Annotated[str, Field(pattern=r"^(https?://[^\s/]+)?$")]
    max_groups: Annotated[int, Field(ge=1, le=20_000)]
    queue_series: tuple[GroupName, ...]
    lag_period_ms: Annotated[int, Field(ge=1_000, le=3_600_000)]
    history_ms: Annotated[int, Field(ge=60_000)]


class ClientSettings(_Section):
    """What the groups' clients are taken to do; nothing of it reaches a client.

    ``heartbeat_ms`` is how often they send a heartbeat: a lease that is shorter than three of them
    is refused. An application gives the same number to its own client.
    """

    heartbeat_ms: Annotated[int, Field(ge=100, le=200_000)]


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
    serve: ServeSettings
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
