"""Checks that leases outlast the replacement of a killed or frozen broker (ADR 0169).

A client whose heartbeats no broker appends stops when its lease ends. When a broker falls silent,
Kafka keeps writers waiting: the controller fences the broker at the end of its session, another
broker leads, and each client has to notice. A shorter lease ends for most clients of a group,
though they are healthy, and others read their unfinished messages again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.context import CheckContext
from fairlead.doctor.nodes import named_brokers
from fairlead.settings import Settings

__all__ = ["BrokerTimes", "Replacement", "judge_leases", "lease", "replacement"]

ELECTION_MS: Final = 500
"""The controller finds ended sessions, chooses leaders, and informs the brokers; measured: 0.1 to
0.4 s on an idle machine."""
ASKED_AGAIN_MS: Final = 500
"""A client asks another broker for the leader, and connects there."""
_SESSION: Final = "broker.session.timeout.ms"
_LAG: Final = "replica.lag.time.max.ms"
_FETCH: Final = "controller.quorum.fetch.timeout.ms"
_ELECTION: Final = "controller.quorum.election.timeout.ms"
_DEFAULTS: Final = {_SESSION: 9_000, _LAG: 30_000, _FETCH: 2_000, _ELECTION: 1_000}
"""Kafka's defaults, for settings that a broker does not report."""


@dataclass(frozen=True, slots=True)
class BrokerTimes:
    """Times from the brokers' settings; of several brokers the longest.

    Attributes:
        session_ms: how long a silent broker keeps its leadership.
        lag_ms: how long leaders wait for a replica that answers but copies nothing.
        controller_ms: until there is another controller, if brokers are controllers too; else 0.
    """

    session_ms: int
    lag_ms: int
    controller_ms: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """How long a client may lack an appended heartbeat while a broker is replaced, in parts.

    Attributes:
        heartbeat_ms: the longest time since the last heartbeat before.
        controller_ms: until there is another controller, if the broker was one.
        session_ms: until the controller fences the broker.
        election_ms: until other brokers lead.
        client_ms: until the client has given up the broken broker and asked another.
    """

    heartbeat_ms: int
    controller_ms: int
    session_ms: int
    election_ms: int
    client_ms: int

    @property
    def ms(self) -> int:
        """The sum: the shortest safe lease."""
        parts = (self.heartbeat_ms, self.controller_ms, self.session_ms, self.election_ms)
        return sum(parts) + self.client_ms

    def __str__(self) -> str:
        parts = {
            "heartbeat": self.heartbeat_ms,
            "another controller": self.controller_ms,
            _SESSION: self.session_ms,
            "new leaders": self.election_ms,
            "the client's wait for an answer": self.client_ms,
        }
        summands = (f"{name} {ms / 1_000:g}" for name, ms in parts.items() if ms)
        return f"{self.ms / 1_000:g} s ({' + '.join(summands)})"


def replacement(
    times: BrokerTimes, settings: Settings, heartbeat_ms: int | None = None
) -> Replacement:
    """Return the shortest safe lease with these brokers and settings.

    Args:
        times: of the brokers.
        settings: those in force.
        heartbeat_ms: how often a heartbeat is written; None: as often as clients do.
    """
    return Replacement(
        heartbeat_ms=settings.client.heartbeat_ms if heartbeat_ms is None else heartbeat_ms,
        controller_ms=times.controller_ms,
        session_ms=times.session_ms,
        election_ms=ELECTION_MS,
        client_ms=settings.client.request_timeout_ms + ASKED_AGAIN_MS,
    )


def lease(context: CheckContext) -> Iterator[Answer]:
    """Compare the leases with the time that the brokers need to replace one of them."""
    nodes = context.nodes()
    if len(nodes.places) == 1:
        yield ok("there is one broker: no other replaces it, so its outage ends every lease")
        return
    times = _times(context, [*nodes.answering])
    if nodes.lost:
        lost = named_brokers(each.number for each in nodes.lost)
        yield unknown(f"{lost} gone or silent, so their settings are unknown", "see: broker")
    if times is None:
        yield unknown(
            "this user may not read the settings of the brokers",
            f"allow DescribeConfigs on the cluster, or compare by hand: a lease must be longer "
            f"than {_SESSION} and what docs/running.md adds to it",
        )
        return
    yield from judge_leases(times, context.settings)


def judge_leases(times: BrokerTimes, settings: Settings) -> Iterator[Answer]:
    """Judge each lease in the settings against the replacement of a broker."""
    need = replacement(times, settings)
    if settings.gateway.enabled:
        yield from _judge_gateway(times, settings)
    leases = {"group_defaults": settings.group_defaults.lease_ms}
    leases |= {
        f"group.{group}": own.lease_ms
        for group, own in settings.group.items()
        if own.lease_ms is not None
    }
    short = {table: ms for table, ms in leases.items() if ms < need.ms}
    for table, lease_ms in short.items():
        says = (
            f"{table}.lease_ms is {lease_ms / 1_000:g} s, and replacing a broker takes up to {need}"
        )
        session_ms = times.session_ms - (need.ms - lease_ms)
        lower = f", or {_SESSION} of the brokers to {session_ms}" if session_ms > 0 else ""
        remedy = f"set {table}.lease_ms, and lease_ms of its clients, to {need.ms} or more{lower}"
        if lease_ms <= times.session_ms:
            yield fail(f"{says}: it ends for most clients whenever a broker dies", remedy)
        else:
            yield warn(f"{says}: it ends for some clients whenever a broker freezes", remedy)
    if not short:
        yield ok(
            f"{min(leases.values()) / 1_000:g} s or more; replacing a broker takes up to {need}. "
            f"Leaders wait {times.lag_ms / 1_000:g} s for a replica that lags on a live broker "
            f"({_LAG})"
        )


def _judge_gateway(times: BrokerTimes, settings: Settings) -> Iterator[Answer]:
    """Judge the lease of the gateway's clients; it writes their heartbeats when they poll."""
    lease_ms = settings.gateway.lease_ms
    need = replacement(times, settings, settings.gateway.poll_ms)
    if lease_ms >= need.ms:
        return
    says = f"gateway.lease_ms is {lease_ms / 1_000:g} s, and replacing a broker takes up to {need}"
    remedy = f"set gateway.lease_ms to {need.ms} or more"
    if lease_ms <= times.session_ms:
        yield fail(f"{says}: it ends for most clients whenever a broker dies", remedy)
    else:
        yield warn(f"{says}: it ends for some clients whenever a broker freezes", remedy)


def _times(context: CheckContext, nodes: list[int]) -> BrokerTimes | None:
    """Return the times of the answering brokers; None: this user may not read them."""
    resources = [ConfigResource(ConfigResourceType.BROKER, str(node)) for node in nodes]
    answer = context.cluster.admin.describe_configs(resources, config_filter=ConfigFilterType.ALL)
    # The library returns no settings if the broker refuses.
    brokers = [settings for settings in answer.get("broker", {}).values() if settings]
    if not brokers:
        return None
    combined = any("controller" in _value(settings, "process.roles") for settings in brokers)
    return BrokerTimes(
        session_ms=_slowest(brokers, _SESSION),
        lag_ms=_slowest(brokers, _LAG),
        controller_ms=_slowest(brokers, _FETCH) + _slowest(brokers, _ELECTION) if combined else 0,
    )


def _slowest(brokers: Sequence[Mapping[str, Any]], name: str) -> int:
    return max(int(_value(settings, name) or _DEFAULTS[name]) for settings in brokers)


def _value(settings: Mapping[str, Any], name: str) -> str:
    entry = settings.get(name)
    return "" if entry is None else str(entry["value"] or "")
