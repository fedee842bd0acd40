"""Warns of risky settings: they are no errors, and often intended."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from fairlead.settings.effective_settings import SECRET_NAME
from fairlead.settings.known_keys import known_keys, path_of
from fairlead.settings.layers import ENVIRONMENT_PREFIX, Kind, Layer
from fairlead.settings.loading import winner
from fairlead.settings.problems import Problem
from fairlead.settings.sections import Settings
from fairlead.settings.toml_lines import Key

__all__ = ["settings_warnings"]

_HOUR_MS: Final = 3_600_000
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_TEMPORARY: Final = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - to be warned of
_SECRET_FILES: Final = ("sasl_plain_password_file", "ssl_keyfile", "ssl_key_password_file")


class _Warning(NamedTuple):
    """A risky setting; ``path`` has the names of the key if its dots do not separate them."""

    key: str
    reason: str
    remedy: str
    path: Key = ()


def settings_warnings(settings: Settings, layers: Sequence[Layer]) -> list[Problem]:
    """Return every risky setting, with its place, the risk and a remedy."""
    risky = [*_kafka(settings), *_files(settings), *_engine(settings), *_addresses(settings)]
    risky += [*_rules(settings, layers), *_secrets(settings)]
    placed = [
        winner(layers, path).problem(path, warning.reason, warning.remedy)
        for warning in risky
        for path in [warning.path or path_of(warning.key)]
    ]
    return [*placed, *_misspelt_variables()]


def _kafka(settings: Settings) -> Iterator[_Warning]:
    security = settings.kafka.security
    hosts = {server.rpartition(":")[0] for server in settings.kafka.bootstrap_servers}
    remote = not hosts <= _LOOPBACK
    if remote and security.security_protocol == "PLAINTEXT":
        yield _Warning(
            "kafka.security.security_protocol",
            "anybody on the network path to the brokers can read and change records",
            "set it to SSL or SASL_SSL, unless the network is yours alone",
        )
    if remote and security.security_protocol == "SASL_PLAINTEXT":
        yield _Warning(
            "kafka.security.security_protocol",
            "the login goes to the brokers unencrypted",
            "set it to SASL_SSL",
        )
    if security.security_protocol.endswith("SSL") and not security.ssl_check_hostname:
        yield _Warning(
            "kafka.security.ssl_check_hostname",
            "anybody with a certificate of that authority can pose as a broker",
            "set it to true, and give the brokers certificates for their names",
        )
    if settings.kafka.replication_factor == 1 and remote:
        yield _Warning(
            "kafka.replication_factor",
            "the loss of one broker loses Fairlead's topics for good",
            "set it to 3",
        )


def _files(settings: Settings) -> Iterator[_Warning]:
    for name in (*_SECRET_FILES, "ssl_cafile", "ssl_certfile"):
        path: Path | None = getattr(settings.kafka.security, name)
        if path is None:
            continue
        key = f"kafka.security.{name}"
        try:
            mode = path.stat().st_mode
        except OSError as error:
            reason = f"this user cannot read {path} ({error.strerror})"
            yield _Warning(key, reason, "correct the path or the file's permissions")
            continue
        if name in _SECRET_FILES and mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IRGRP:
            yield _Warning(key, f"other users may read or change {path}", f"chmod 0400 {path}")


def _engine(settings: Settings) -> Iterator[_Warning]:
    if str(settings.engine.checkpoint).startswith(_TEMPORARY):
        yield _Warning(
            "engine.checkpoint",
            "a restart of the machine empties folders for temporary files",
            "set it to a folder that survives restarts",
        )
    if settings.engine.shuffle_partitions > settings.topics.heartbeats_partitions:
        yield _Warning(
            "engine.shuffle_partitions",
            f"tasks above the {settings.topics.heartbeats_partitions} shards have nothing to do",
            "set it to topics.heartbeats_partitions at most",
        )
    if settings.topics.heartbeats_retention_ms < _HOUR_MS:
        yield _Warning(
            "topics.heartbeats_retention_ms",
            "an engine that is down for longer loses input, and a person must decide",
            f"set it to {_HOUR_MS} or more",
        )


def _addresses(settings: Settings) -> Iterator[_Warning]:
    if settings.metrics.host not in _LOOPBACK:
        yield _Warning(
            "metrics.host",
            "anybody who reaches this machine can read it, since there is no login",
            "keep 127.0.0.1, or restrict access by a firewall or the container's network",
        )
    if settings.serve.host not in _LOOPBACK and settings.tls.certfile is None:
        yield _Warning(
            "serve.host",
            "tokens and answers go over the network unencrypted",
            "set tls.certfile and tls.keyfile, or put a proxy with TLS on this machine before it",
        )
    if settings.metrics.port == settings.serve.port != 0:
        yield _Warning(
            "serve.port",
            "metrics.port of the engine is the same: on one machine only one of the two can start",
            "give each its own port",
        )
    url = urlsplit(settings.serve.url)
    if url.hostname in _LOOPBACK and (url.port or 80) != settings.serve.port:
        yield _Warning(
            "serve.url",
            f"commands ask port {url.port or 80}, but serve.port is {settings.serve.port}",
            "use the same port in both",
        )


def _rules(settings: Settings, layers: Sequence[Layer]) -> Iterator[_Warning]:
    """Yield the risky rules; for single groups only those that their own tables set."""
    tables = [("group_defaults", settings.group_defaults)]
    tables += [(f"group.{group}", settings.rules(group)) for group in settings.group]
    for table, rules in tables:
        above = table.split(".", 1)
        own = {name for name in type(rules).model_fields if _is_set(layers, [*above, name])}
        risky = (
            ("mode", rules.mode == "eager", "a queue may have two owners while it moves"),
            ("on_mute", rules.on_mute == "force", ("a queue may have two owners: a mute client may "
             "still work on it")),
            ("pause", rules.pause is True, ("the engine moves no queue: queues of departed clients "
             "have no owner")),
            ("drain_deadline_ms", rules.drain_deadline_ms == "never",
             "no alarm names a client that never stops a queue"),
        )  # fmt: skip
        for name, is_so, reason in risky:
            if is_so and name in own:
                yield _Warning(f"{table}.{name}", reason, "keep it if you intend this")


def _secrets(settings: Settings) -> Iterator[_Warning]:
    """Yield free settings whose names look like secrets; Fairlead does not know their meaning."""
    tables: dict[Key, Mapping[str, Any]] = {
        ("engine", "spark"): settings.engine.spark,
        ("group_defaults", "strategy_options"): settings.group_defaults.strategy_options,
    }
    for group, own in settings.group.items():
        tables["group", group, "strategy_options"] = own.strategy_options or {}
    for table, values in tables.items():
        for name in sorted(filter(SECRET_NAME.search, values)):
            yield _Warning(
                f"{'.'.join(table)}.{name}",
                "it looks like a secret, and everybody who may read the settings file has it",
                "name a file with the secret instead, if Spark or the strategy can read one; "
                "otherwise let only this user read the settings file (chmod 0400)",
                (*table, name),
            )


def _is_set(layers: Sequence[Layer], key: Sequence[str]) -> bool:
    return any(layer.has(key) for layer in layers)


def _misspelt_variables() -> Iterator[Problem]:
    """Yield variables that lack an underscore and therefore set nothing."""
    meant = {
        known.variable.replace("__", "_"): known.variable
        for known in known_keys()
        if known.variable is not None
    }
    for name in sorted(os.environ):
        spelled = name.upper().replace("__", "_")
        if not name.upper().startswith(ENVIRONMENT_PREFIX) and spelled in meant:
            yield Problem(
                name,
                str(Kind.ENVIRONMENT),
                "this variable sets nothing",
                f"separate tables by two underscores: {meant[spelled]}",
            )
