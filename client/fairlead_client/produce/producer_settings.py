"""The settings of one producer, checked before anything starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, TypedDict, get_args

from fairlead_client.errors import SettingsError
from fairlead_client.produce.latency_table import TABLE_4, TABLE_5, LatencyTable
from fairlead_client.settings.common_settings import (
    KAFKA_OPTIONS,
    check_options,
    check_who,
    servers_of,
)
from fairlead_client.settings.keywords import check_keywords
from fairlead_client.settings.rocketmq_settings import (
    RocketMQSettings,
    check_data_plane,
    rocketmq_settings,
)
from fairlead_client.settings.setting_types import check_types

DEFAULT_GROUP: Final = "DEFAULT_PRODUCER"
"""RocketMQ's default producer group."""
Selection = Literal["fair", "rocketmq-4", "rocketmq-5"]
"""How the producer chooses a queue: fairly, or as RocketMQ 4.9.8 or 5 does."""
ANSWER_MS: Final = 10_000
"""The base of the connection's time limits, because a producer has no lease."""


class ProducerArguments(TypedDict, total=False):
    """The keyword arguments of `Producer` that become ProducerSettings."""

    bootstrap: str | Sequence[str]
    data_plane: str
    namesrv: str | Sequence[str]
    rocketmq: Mapping[str, Any]
    group: str
    prefix: str
    client_id: str | None
    zone: str | None
    send_timeout_ms: int
    retries: int
    attempt_timeout_ms: int | None
    selection: Selection
    avoid_slow: bool
    latency_table: LatencyTable | None
    max_message_bytes: int
    create_topics: bool
    start_timeout_ms: int
    kafka: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings:
    """Settings of one producer; the README's table says what each is for. Times in milliseconds.

    Raises:
        SettingsError: a setting cannot work; the error names the first one and the remedy.
    """

    bootstrap: str | Sequence[str] = ()
    data_plane: str = "kafka"
    namesrv: str | Sequence[str] = ()
    group: str = DEFAULT_GROUP
    prefix: str = "fairlead."
    client_id: str | None = None
    zone: str | None = None
    send_timeout_ms: int = 3_000
    retries: int = 2
    attempt_timeout_ms: int | None = None
    selection: Selection = "fair"
    avoid_slow: bool = True
    latency_table: LatencyTable | None = None
    max_message_bytes: int = 4 * 1024 * 1024
    create_topics: bool = False
    start_timeout_ms: int = 30_000
    # They may hold passwords, so no representation and no log shows them.
    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    rocketmq: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, producer: type, given: ProducerArguments) -> Self:
        """Return the settings from the keyword arguments of a producer.

        Raises:
            SettingsError: a setting cannot work, or an argument is unknown or missing.
        """
        needs = () if given.get("data_plane") == "rocketmq" else ("bootstrap",)
        check_keywords(producer, given, ProducerArguments, needs=needs)
        return cls(**given)

    def __post_init__(self) -> None:
        """Check what can be checked without a connection."""
        check_types(self)
        check_data_plane(self)
        if self.is_rocketmq:
            self._check_without_kafka()
        bootstrap = "unused:1" if self.is_rocketmq else self.bootstrap
        check_who(bootstrap, self.group, self.client_id)
        if self.retries < 0:
            raise SettingsError(
                "retries", f"{self.retries} is not a valid number", "give 0 or more"
            )
        for name in ("send_timeout_ms", "max_message_bytes", "start_timeout_ms"):
            if getattr(self, name) < 1:
                raise SettingsError(name, f"{getattr(self, name)} is too little", "give 1 or more")
        if self.attempt_timeout_ms is not None and self.attempt_timeout_ms < 1:
            raise SettingsError(
                "attempt_timeout_ms",
                f"{self.attempt_timeout_ms} is not a valid time",
                "give 1 or more, or None for an equal share of send_timeout_ms",
            )
        if self.selection not in get_args(Selection):
            raise SettingsError(
                "selection",
                f"{self.selection!r} is unknown",
                f"give one of {', '.join(get_args(Selection))}",
            )
        check_options("kafka", self.kafka, KAFKA_OPTIONS)

    def _check_without_kafka(self) -> None:
        for name in ("bootstrap", "kafka", "zone"):
            if getattr(self, name):
                problem = "is for Kafka, and this producer sends to RocketMQ alone"
                raise SettingsError(name, problem, "leave it out")

    @property
    def is_rocketmq(self) -> bool:
        """Whether the messages go to RocketMQ."""
        return self.data_plane == "rocketmq"

    @property
    def rocketmq_settings(self) -> RocketMQSettings:
        """How to reach RocketMQ.

        Raises:
            SettingsError: a producer for Kafka asks.
        """
        return rocketmq_settings(self.namesrv, self.rocketmq)

    @property
    def where(self) -> str:
        """The servers that it connects to, for an error."""
        return str(self.namesrv if self.is_rocketmq else self.bootstrap)

    @property
    def bootstrap_servers(self) -> list[str]:
        """The servers one by one."""
        return servers_of(self.bootstrap)

    @property
    def lease_ms(self) -> int:
        """The base of the connection's time limits."""
        return ANSWER_MS

    @property
    def table(self) -> LatencyTable:
        """The table in force: the chosen one, else that of the selection."""
        return self.latency_table or (TABLE_4 if self.selection == "rocketmq-4" else TABLE_5)

    @property
    def attempt_ms(self) -> int:
        """How long an attempt may take if others may follow."""
        if self.attempt_timeout_ms is not None:
            return self.attempt_timeout_ms
        return max(1, self.send_timeout_ms // (1 + self.retries))

    @property
    def longest_attempt_ms(self) -> int:
        """How long any attempt may take; the last one has all the time that is left."""
        return max(self.send_timeout_ms, self.attempt_ms)
