"""Is the lease longer than the brokers need to replace one that is killed or frozen (ADR 0169)?

A client that cannot have a heartbeat appended stops when its lease ends. Kafka itself keeps writers
waiting for so long: a broker that falls silent is fenced when its session is over, then another
leads, then each client has to notice. A lease that is shorter ends for most clients of a group
though nothing of them is broken, and what they had in hand is read again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType

from fairlead.doctor.answer import Answer, fail, ok, unknown, warn
from fairlead.doctor.nodes import named_brokers
from fairlead.doctor.surroundings import Surroundings
from fairlead.settings import Settings

__all__ = ["BrokerTimes", "Replacement", "judge_leases", "lease", "replacement"]

ELECTION_MS: Final = 500
"""The controller looks for sessions that are over, chooses leaders, and the brokers learn of it;
measured: 0.1 to 0.4 s on a machine that has nothing else to do."""
ASKED_AGAIN_MS: Final = 500
"""A client asks another broker who leads now, and connects there."""
_SESSION: Final = "broker.session.timeout.ms"
_LAG: Final = "replica.lag.time.max.ms"
_FETCH: Final = "controller.quorum.fetch.timeout.ms"
_ELECTION: Final = "controller.quorum.election.timeout.ms"
_DEFAULTS: Final = {_SESSION: 9_000, _LAG: 30_000, _FETCH: 2_000, _ELECTION: 1_000}
"""Kafka's own, for what a broker does not tell."""


@dataclass(frozen=True, slots=True)
class BrokerTimes:
    """What the brokers' settings say; of several brokers the longest.

    Attributes:
        session_ms: so long after its last word a broker is fenced.
        lag_ms: so long a copy that answers, but copies nothing, is waited for.
        controller_ms: until there is another controller, where brokers are controllers too; else 0.
    """

    session_ms: int
    lag_ms: int
    controller_ms: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """How long a client may be without an appended heartbeat when a broker is replaced, in parts.

    Attributes:
        heartbeat_ms: the last one may have been sent so long before.
        controller_ms: another controller, if the broker was that too.
        session_ms: the broker is fenced.
        election_ms: others lead in its place.
        client_ms: an answer of the broken one is awaited, then another one is asked.
    """

    heartbeat_ms: int
    controller_ms: int
    session_ms: int
    election_ms: int
    client_ms: int

    @property
    def ms(self) -> int:
        """What a lease must exceed."""
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
        told = (f"{name} {ms / 1_000:g}" for name, ms in parts.items() if ms)
        return f"{self.ms / 1_000:g} s ({' + '.join(told)})"


def replacement(times: BrokerTimes, settings: Settings) -> Replacement:
    """Return what a lease must exceed with these brokers and these settings."""
    return Replacement(
        heartbeat_ms=settings.client.heartbeat_ms,
        controller_ms=times.controller_ms,
        session_ms=times.session_ms,
        election_ms=ELECTION_MS,
        client_ms=settings.client.request_timeout_ms + ASKED_AGAIN_MS,
    )


def lease(around: Surroundings) -> Iterator[Answer]:
    """Compare the leases with what the brokers need to replace one of them."""
    nodes = around.nodes()
    if len(nodes.places) == 1:
        yield ok("one broker: nobody leads in its place, so leases end with any outage of it")
        return
    times = _times(around, [*nodes.answering])
    if nodes.lost:
        lost = named_brokers(each.number for each in nodes.lost)
        yield unknown(f"{lost} gone or silent: the settings there are not known", "see: broker")
    if times is None:
        yield unknown(
            "this user may not look at the settings of the brokers",
            f"allow DescribeConfigs on the cluster, or compare by hand: a lease must be longer "
            f"than {_SESSION} and what docs/running.md adds to it",
        )
        return
    yield from judge_leases(times, around.settings)


def judge_leases(times: BrokerTimes, settings: Settings) -> Iterator[Answer]:
    """Say of each lease in conf/ whether it outlasts the replacement of a broker."""
    need = replacement(times, settings)
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
            yield warn(f"{says}: it ends for some clients when a broker freezes", remedy)
    if not short:
        yield ok(
            f"{min(leases.values()) / 1_000:g} s or more; replacing a broker takes up to {need}. "
            f"A copy that lags with its broker alive is waited for {times.lag_ms / 1_000:g} s "
            f"({_LAG})"
        )


def _times(around: Surroundings, nodes: list[int]) -> BrokerTimes | None:
    """Return the times of brokers that answer; None: this user may not ask."""
    resources = [ConfigResource(ConfigResourceType.BROKER, str(node)) for node in nodes]
    answer = around.cluster.admin.describe_configs(resources, config_filter=ConfigFilterType.ALL)
    # The library passes over a refusal: no broker has no settings at all.
    told = [settings for settings in answer.get("broker", {}).values() if settings]
    if not told:
        return None
    combined = any("controller" in _value(settings, "process.roles") for settings in told)
    return BrokerTimes(
        session_ms=_slowest(told, _SESSION),
        lag_ms=_slowest(told, _LAG),
        controller_ms=_slowest(told, _FETCH) + _slowest(told, _ELECTION) if combined else 0,
    )


def _slowest(told: Sequence[Mapping[str, Any]], name: str) -> int:
    return max(int(_value(settings, name) or _DEFAULTS[name]) for settings in told)


def _value(settings: Mapping[str, Any], name: str) -> str:
    entry = settings.get(name)
    return "" if entry is None else str(entry["value"] or "")
