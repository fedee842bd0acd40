"""Finds settings that are right alone and contradict each other."""

from collections.abc import Iterable, Iterator

from fairlead.settings.java_heap import heap_problems
from fairlead.settings.kafka_sections import ConnectionSettings, SecuritySettings
from fairlead.settings.rules import GroupRules
from fairlead.settings.sections import Settings

HEARTBEATS_PER_LEASE = 3
"""A lease must hold this many heartbeats; otherwise one lost send would end it."""

TICKS_PER_MARGIN = 2
"""A forward jump of a broker's clock counts for at most two ticks; the margin must outlast it."""

Contradiction = tuple[str, str, str]
"""(dotted key, what is wrong, remedy)."""


def contradictions(settings: Settings) -> Iterator[Contradiction]:
    """Yield every contradiction."""
    yield from rule_contradictions("group_defaults", settings.group_defaults, settings)
    for group, overrides in settings.group.items():
        yield from rule_contradictions(f"group.{group}", settings.rules(group), settings)
        if settings.group_defaults.pause and overrides.pause is False:
            remedy = "set pause in the table of each group to pause, not in [group_defaults]"
            reason = "group_defaults.pause pauses every group and allows no exception"
            yield f"group.{group}.pause", reason, remedy
    if settings.gateway.poll_ms * HEARTBEATS_PER_LEASE > settings.gateway.lease_ms:
        reason = f"it is more than a third of gateway.lease_ms ({settings.gateway.lease_ms})"
        yield "gateway.poll_ms", reason, "lower it, or raise gateway.lease_ms"
    yield from _security(settings.kafka.security)
    yield from _connection(settings.kafka.connection)
    yield from _offsets(settings)
    yield from _spark(settings.engine.spark)
    yield from _access(settings)
    yield from heap_problems(settings.engine)
    if settings.kafka.replication_factor == 0:
        remedy = "set -1 (the broker's default) or the number of replicas"
        yield "kafka.replication_factor", "0 replicas hold nothing", remedy


def rule_contradictions(
    table: str, rules: GroupRules, settings: Settings
) -> Iterator[Contradiction]:
    """Yield contradictions among the durations of one group; ``table`` is their table."""
    lease_ms_min = HEARTBEATS_PER_LEASE * settings.client.heartbeat_ms
    if rules.lease_ms < lease_ms_min:
        yield (
            f"{table}.lease_ms",
            f"{rules.lease_ms} is shorter than three heartbeats of {settings.client.heartbeat_ms}",
            f"set {table}.lease_ms to at least {lease_ms_min}, or client.heartbeat_ms lower",
        )
    margin_ms_min = TICKS_PER_MARGIN * settings.engine.tick_ms
    if rules.margin_ms < margin_ms_min:
        yield (
            f"{table}.margin_ms",
            f"{rules.margin_ms} is shorter than two ticks of {settings.engine.tick_ms}",
            f"set {table}.margin_ms to at least {margin_ms_min}, or engine.tick_ms lower",
        )
    if rules.trigger_ms < settings.engine.tick_ms:
        yield (
            f"{table}.trigger_ms",
            f"{rules.trigger_ms} is shorter than a tick of {settings.engine.tick_ms}",
            f"set {table}.trigger_ms to at least {settings.engine.tick_ms}",
        )


def _security(security: SecuritySettings) -> Iterator[Contradiction]:
    """Yield what the chosen security protocol needs and does not have."""
    table = "kafka.security"
    if security.security_protocol.startswith("SASL"):
        for name in ("sasl_mechanism", "sasl_plain_username"):
            if getattr(security, name) is None:
                reason = f"{security.security_protocol} needs it, and it is not set"
                yield f"{table}.{name}", reason, f"set {table}.{name}"
        if security.sasl_plain_password is None and security.sasl_plain_password_file is None:
            name = f"{table}.sasl_plain_password_file"
            reason = f"{security.security_protocol} needs it, and it is not set"
            yield name, reason, f"set {name}"
    if (security.ssl_certfile is None) != (security.ssl_keyfile is None):
        name = "ssl_keyfile" if security.ssl_keyfile is None else "ssl_certfile"
        reason = "a client certificate needs its key, and the key its certificate"
        yield f"{table}.{name}", reason, f"set {table}.{name}, or neither of the two"
    for name in ("sasl_plain_password", "ssl_key_password"):
        secret = getattr(security, name)
        if secret is not None and getattr(security, f"{name}_file") is not None:
            reason = f"{table}.{name}_file is set too"
            yield f"{table}.{name}", reason, "leave out one of the two"
        if secret is not None and not secret.get_secret_value():
            yield f"{table}.{name}", "it is empty", "set it, or leave it out"


def _connection(connection: ConnectionSettings) -> Iterator[Contradiction]:
    first, most = connection.reconnect_backoff_ms, connection.reconnect_backoff_max_ms
    if first is not None and most < first:
        yield (
            "kafka.connection.reconnect_backoff_max_ms",
            f"{most} is shorter than the first pause of {first}",
            f"set it to at least {first}, or kafka.connection.reconnect_backoff_ms lower",
        )


def _offsets(settings: Settings) -> Iterator[Contradiction]:
    """Yield what Kafka's library would refuse: a request that may take longer than the whole."""
    whole, one = settings.engine.offsets_timeout_ms, settings.engine.request_timeout_ms
    if whole < one:
        yield (
            "engine.offsets_timeout_ms",
            f"{whole} is shorter than one request, engine.request_timeout_ms = {one}",
            f"set it to at least {one}",
        )


def _spark(names: Iterable[str]) -> Iterator[Contradiction]:
    for name in names:
        if not name.startswith("spark."):
            yield (
                f"engine.spark.{name}",
                "Spark ignores a setting that does not begin with spark.",
                "set Kafka's options in [kafka], and Spark's under their full names",
            )


def _access(settings: Settings) -> Iterator[Contradiction]:
    """Yield what the chosen way to log in needs and does not have."""
    jwt, tls = settings.access.jwt, settings.tls
    for name in ("issuer", "audience"):
        if jwt.jwks_file is not None and getattr(jwt, name) is None:
            key = f"access.jwt.{name}"
            yield key, "access.jwt.jwks_file needs it, and it is not set", f"set {key}"
    if (tls.certfile is None) != (tls.keyfile is None):
        key = "tls.keyfile" if tls.keyfile is None else "tls.certfile"
        reason = "a certificate needs its key, and the key its certificate"
        yield key, reason, f"set {key}, or neither of the two"
    if tls.client_cafile is not None and tls.certfile is None:
        reason = "it needs tls.certfile: only encrypted connections have certificates"
        yield "tls.client_cafile", reason, "set tls.certfile and tls.keyfile"
    if tls.client_certificate_required and tls.client_cafile is None:
        key = "tls.client_certificate_required"
        yield key, "it needs tls.client_cafile", "set tls.client_cafile"
