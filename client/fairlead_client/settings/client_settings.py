"""The settings of one client, checked before anything starts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Required, Self, TypedDict

from fairlead_client.errors import SettingsError
from fairlead_client.model import Subscription
from fairlead_client.session.topic_names import RESERVED, TopicNameError, kafka_topic, retry_topic
from fairlead_client.settings.common_settings import (
    KAFKA_OPTIONS,
    check_options,
    check_who,
    servers_of,
)
from fairlead_client.settings.gateway_settings import (
    GatewayAddress,
    addresses_of,
    check_gateway,
    check_only_direct,
)
from fairlead_client.settings.keywords import check_keywords, meant_start
from fairlead_client.settings.rocketmq_settings import (
    RocketMQSettings,
    check_data_plane,
    rocketmq_settings,
)
from fairlead_client.settings.setting_types import check_type, check_types

TOPIC: Final = re.compile(r"[A-Za-z0-9_%|.\-]{1,249}")
LEASE_MS: Final = (1_000, 600_000)
CONSUME_FROM: Final = ("last_offset", "first_offset", "timestamp")
CONSUME_TYPES: Final = ("push", "pull")
MESSAGE_MODELS: Final = ("clustering", "broadcasting")
BY_KIND: Final = frozenset({"consume_type", "message_model"})
"""What the client's class sets in its heartbeats; the application chooses the class."""
FETCH_OPTIONS: Final = frozenset(
    {
        "check_crcs", "client_rack", "fetch_max_bytes", "fetch_max_wait_ms", "fetch_min_bytes",
        "isolation_level", "max_partition_fetch_bytes", "max_poll_records",
    }
)  # fmt: skip
"""Options of kafka-python for reading messages, for every kind of consumer."""
BY_ORDER: Final = -1
"""A drain deadline that depends on `ordered`: none for ordered groups, else 30 s."""
DRAIN_DEADLINE_MS: Final = 30_000
BEFORE_START_MS: Final = 30 * 60_000
"""With no timestamp given, a client begins this long before its process started."""


class SettingsArguments(TypedDict, total=False):
    """The keyword arguments of every kind of client that become Settings."""

    bootstrap: str | Sequence[str]
    group: Required[str]
    topics: Required[Sequence[str | Subscription]]
    data_plane: str
    namesrv: str | Sequence[str]
    rocketmq: Mapping[str, Any]
    gateway: str | Sequence[str]
    token: str | None
    token_file: str | None
    gateway_ca_file: str | None
    gateway_cert_file: str | None
    gateway_key_file: str | None
    prefix: str
    client_id: str | None
    heartbeat_ms: int
    lease_ms: int
    progress_ms: int
    commit_ms: int
    drain_deadline_ms: int | None
    ordered: bool
    retry_topic: bool
    consume_from: str
    consume_timestamp_ms: int | None
    zone: str | None
    capacity: int
    commit_offsets: bool
    start_timeout_ms: int
    close_timeout_ms: int
    hand_over_ms: int
    kafka: Mapping[str, Any]
    fetch: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one client; the README's table says what each is for. Times in milliseconds.

    Raises:
        SettingsError: a setting cannot work; the error names the first one and the remedy.
    """

    group: str
    topics: Sequence[str | Subscription]
    bootstrap: str | Sequence[str] = ()
    data_plane: str = "kafka"
    namesrv: str | Sequence[str] = ()
    gateway: str | Sequence[str] = ()
    # No representation and no log shows it.
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    gateway_ca_file: str | None = None
    gateway_cert_file: str | None = None
    gateway_key_file: str | None = None
    prefix: str = "fairlead."
    client_id: str | None = None
    heartbeat_ms: int = 3_000
    lease_ms: int = 15_000
    progress_ms: int = 1_000
    commit_ms: int = 5_000
    drain_deadline_ms: int | None = BY_ORDER
    ordered: bool = False
    retry_topic: bool = False
    consume_from: str = "last_offset"
    consume_timestamp_ms: int | None = None
    zone: str | None = None
    capacity: int = 1
    commit_offsets: bool = True
    start_timeout_ms: int = 30_000
    close_timeout_ms: int = 30_000
    hand_over_ms: int = 3_000
    # They may hold passwords, so no representation and no log shows them.
    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    rocketmq: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fetch: Mapping[str, Any] = field(default_factory=dict)
    consume_type: str = "push"
    message_model: str = "clustering"

    @classmethod
    def of(cls, client: type, given: SettingsArguments, **fixed: str) -> Self:
        """Return the settings from the keyword arguments of a client.

        Args:
            client: the client's class, which also has keyword arguments of its own.
            given: the arguments that are settings.
            fixed: settings that the class itself decides.

        Raises:
            SettingsError: a setting cannot work, or an argument is unknown or missing.
        """
        on_rocketmq = given.get("data_plane") == "rocketmq"
        needs = () if on_rocketmq else ("bootstrap",)
        check_keywords(client, given, SettingsArguments, FETCH_OPTIONS, needs)
        if on_rocketmq and not (given.get("gateway") or given.get("bootstrap")):
            problem = f"{client.__name__} needs it to join its group"
            remedy = "give the gateway's address, or bootstrap= of the Kafka with Fairlead's topics"
            raise SettingsError("gateway", problem, remedy)
        check_only_direct(given)
        return cls(**given, **fixed)

    def __post_init__(self) -> None:
        """Check what can be checked without a connection."""
        check_types(self)
        self._check_names()
        self._check_times()
        self._check_words()
        self._check_start()
        check_options("kafka", self.kafka, KAFKA_OPTIONS)
        check_options("fetch", self.fetch, FETCH_OPTIONS)
        check_data_plane(self)
        self._check_reads_rocketmq()
        check_gateway(self)
        if self.gateway and self.message_model == "broadcasting":
            problem = "a broadcasting member shares no queues, so it needs no gateway"
            raise SettingsError("gateway", problem, "leave it out")

    @property
    def gateways(self) -> list[GatewayAddress]:
        """The gateways one by one; empty: the client reads Fairlead's topics itself."""
        return addresses_of(self.gateway)

    @property
    def reads_rocketmq(self) -> bool:
        """Whether the messages are RocketMQ's."""
        return self.data_plane == "rocketmq"

    @property
    def rocketmq_settings(self) -> RocketMQSettings:
        """How to reach RocketMQ.

        Raises:
            SettingsError: a client of Kafka's queues asks.
        """
        return rocketmq_settings(self.namesrv, self.rocketmq)

    @property
    def bootstrap_servers(self) -> list[str]:
        """The servers one by one."""
        return servers_of(self.bootstrap)

    @property
    def drain_deadline(self) -> int | None:
        """The drain deadline in force, in ms; None: no deadline."""
        if self.drain_deadline_ms != BY_ORDER:
            return self.drain_deadline_ms
        return None if self.ordered else DRAIN_DEADLINE_MS

    def begins_at_ms(self, started_ms: int) -> int | None:
        """Return the time to begin at, in ms since 1970; by default RocketMQ's.

        Source: DefaultMQPushConsumer's consumeTimestamp, half an hour before its creation.

        Args:
            started_ms: when the process started, in ms since 1970.
        """
        if self.consume_from == "timestamp" and self.consume_timestamp_ms is None:
            return started_ms - BEFORE_START_MS
        return self.consume_timestamp_ms

    def subscriptions(self, sub_version: int) -> tuple[Subscription, ...]:
        """Return the topics as subscriptions, with `sub_version` for those that have none."""
        return self.subscribing(self.topics, sub_version)

    def subscribing(
        self, topics: Sequence[str | Subscription], sub_version: int
    ) -> tuple[Subscription, ...]:
        """Return other topics as subscriptions, with the retry topic if `retry_topic` is on.

        Raises:
            SettingsError: as from `subscriptions_of`.
        """
        wanted = subscriptions_of(topics, sub_version)
        retried = retry_topic(self.group)
        if not self.retry_topic or any(entry.topic == retried for entry in wanted):
            return wanted
        return *wanted, Subscription(retried, sub_version=sub_version)

    def _check_names(self) -> None:
        # With RocketMQ's queues behind a gateway nothing speaks with Kafka.
        needed = self.bootstrap or not (self.reads_rocketmq and self.gateway)
        check_who(
            self.bootstrap if needed else "unused:1",
            self.group,
            self.client_id,
            unique=", unique per process",
        )
        if self.capacity < 1:
            raise SettingsError(
                "capacity", f"{self.capacity} is not a valid weight", "give 1 or more"
            )
        self.subscriptions(0)

    def _check_times(self) -> None:
        least, most = LEASE_MS
        if not least <= self.lease_ms <= most:
            raise SettingsError(
                "lease_ms", f"{self.lease_ms} is out of range", f"give {least} to {most}"
            )
        if not 0 < self.heartbeat_ms * 3 <= self.lease_ms:
            raise SettingsError(
                "heartbeat_ms",
                f"{self.heartbeat_ms} does not fit a lease of {self.lease_ms}",
                f"give at most lease_ms / 3 = {self.lease_ms // 3}, so that two may get lost",
            )
        for name in ("progress_ms", "commit_ms", "start_timeout_ms", "close_timeout_ms"):
            if getattr(self, name) < 1:
                raise SettingsError(
                    name, f"{getattr(self, name)} is not a valid time", "give 1 or more"
                )
        if self.hand_over_ms < 0:
            problem = f"{self.hand_over_ms} is not a valid time"
            raise SettingsError("hand_over_ms", problem, "give 0 or more; 0 stops at once")
        deadline = self.drain_deadline
        if deadline is not None and deadline < 1:
            raise SettingsError(
                "drain_deadline_ms",
                f"{deadline} is not a valid time",
                "give 1 or more, or None for no deadline",
            )

    def _check_words(self) -> None:
        for name, words in (
            ("consume_from", CONSUME_FROM),
            ("consume_type", CONSUME_TYPES),
            ("message_model", MESSAGE_MODELS),
        ):
            if getattr(self, name) not in words:
                start = meant_start(getattr(self, name)) if name == "consume_from" else None
                remedy = f'use consume_from="{start}"' if start else f"give one of {words}"
                raise SettingsError(name, f"{getattr(self, name)!r} is unknown", remedy)
        if self.retry_topic and self.message_model == "broadcasting":
            raise SettingsError(
                "retry_topic",
                "is on in a broadcasting group",
                "leave it out: each member reads everything itself",
            )

    def _check_reads_rocketmq(self) -> None:
        if not self.reads_rocketmq:
            return
        if self.fetch:
            problem = "has options of kafka-python, and this client reads RocketMQ"
            raise SettingsError("fetch", problem, "leave it out; see the setting rocketmq")
        for subscription in self.subscriptions(0):
            if "." in subscription.topic:
                problem = f"{subscription.topic!r} is not a topic of RocketMQ"
                raise SettingsError("topics", problem, "give characters of A-Za-z0-9_%|-")
        if self.message_model == "broadcasting":
            problem = "a broadcasting consumer reads Kafka only"
            raise SettingsError("data_plane", problem, "leave it out, or use a PushConsumer")

    def _check_start(self) -> None:
        if self.consume_from != "timestamp" and self.consume_timestamp_ms is not None:
            raise SettingsError(
                "consume_timestamp_ms",
                f"does not fit consume_from={self.consume_from!r}",
                'give it with consume_from="timestamp", and only then',
            )


def subscriptions_of(
    topics: Sequence[str | Subscription], sub_version: int
) -> tuple[Subscription, ...]:
    """Return topics as subscriptions, in order, with `sub_version` for those that have none.

    Raises:
        SettingsError: no list, no topics, a topic named twice, an impossible name, a topic of the
            brokers, or Kafka's name of a retry topic instead of RocketMQ's.
    """
    if isinstance(topics, str):
        # A string is a sequence too: each of its letters would be a topic.
        problem = f"{topics!r} is a string, not a list"
        raise SettingsError("topics", problem, f'give topics=["{topics or "orders"}"]')
    for topic in topics:
        check_type("topics", topic, str, Subscription)
    if not topics:
        raise SettingsError("topics", "names no topic", 'give a list, such as ["orders"]')
    given = (Subscription(topic) if isinstance(topic, str) else topic for topic in topics)
    wanted = tuple(replace(entry, sub_version=entry.sub_version or sub_version) for entry in given)
    for subscription in wanted:
        if not TOPIC.fullmatch(subscription.topic):
            raise SettingsError(
                "topics",
                f"{subscription.topic!r} is not a valid topic",
                "give 1-249 characters of A-Za-z0-9_%|.-",
            )
        if subscription.topic in RESERVED:
            problem = f"{subscription.topic!r} is reserved for the brokers"
            raise SettingsError("topics", problem, "leave it out: no group shares it")
        try:
            kafka_topic(subscription.topic)
        except TopicNameError as error:
            raise SettingsError(
                "topics",
                f"{error.topic!r} is Kafka's name of {error.meant!r}",
                f"give {error.meant!r}",
            ) from None
    if len({subscription.topic for subscription in wanted}) < len(wanted):
        raise SettingsError("topics", "a topic is named twice", "name each once")
    return wanted
