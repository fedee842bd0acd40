"""What the settings allow, and somebody should think of twice: no error, and often meant so."""

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

__all__ = ["cautions"]

_HOUR_MS: Final = 3_600_000
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
_TEMPORARY: Final = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - to be warned of
_SECRET_FILES: Final = ("sasl_plain_password_file", "ssl_keyfile", "ssl_key_password_file")


class _Caution(NamedTuple):
    """What is risky; ``path``: the names of the key, where its dots do not tell them."""

    key: str
    reason: str
    remedy: str
    path: Key = ()


def cautions(settings: Settings, layers: Sequence[Layer]) -> list[Problem]:
    """Return everything that is allowed and risky, each with its place, and what it risks."""
    found = [*_kafka(settings), *_files(settings), *_engine(settings), *_addresses(settings)]
    found += [*_rules(settings, layers), *_secrets(settings)]
    placed = [
        winner(layers, path).problem(path, caution.reason, caution.remedy)
        for caution in found
        for path in [caution.path or path_of(caution.key)]
    ]
    return [*placed, *_misspelt_variables()]


def _kafka(settings: Settings) -> Iterator[_Caution]:
    security = settings.kafka.security
    hosts = {server.rpartition(":")[0] for server in settings.kafka.bootstrap_servers}
    remote = not hosts <= _LOOPBACK
    if remote and security.security_protocol == "PLAINTEXT":
        yield _Caution(
            "kafka.security.security_protocol",
            "anybody on the way to the brokers can read and write what is said",
            "set it to SSL or SASL_SSL, unless the network is yours alone",
        )
    if remote and security.security_protocol == "SASL_PLAINTEXT":
        yield _Caution(
            "kafka.security.security_protocol",
            "the login is not encrypted on the way to the brokers",
            "set it to SASL_SSL",
        )
    if security.security_protocol.endswith("SSL") and not security.ssl_check_hostname:
        yield _Caution(
            "kafka.security.ssl_check_hostname",
            "whoever has any certificate of that authority can pose as a broker",
            "set it to true, and give the brokers certificates for their names",
        )
    if settings.kafka.replication_factor == 1 and remote:
        yield _Caution(
            "kafka.replication_factor",
            "a broker that is lost takes topics with it, and nothing brings them back",
            "set it to 3",
        )


def _files(settings: Settings) -> Iterator[_Caution]:
    for name in (*_SECRET_FILES, "ssl_cafile", "ssl_certfile"):
        path: Path | None = getattr(settings.kafka.security, name)
        if path is None:
            continue
        key = f"kafka.security.{name}"
        try:
            mode = path.stat().st_mode
        except OSError as error:
            yield _Caution(key, f"{path} cannot be read here ({error.strerror})", "look at it")
            continue
        if name in _SECRET_FILES and mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IRGRP:
            yield _Caution(key, f"others may use {path}", f"chmod 0400 {path}")


def _engine(settings: Settings) -> Iterator[_Caution]:
    if str(settings.engine.checkpoint).startswith(_TEMPORARY):
        yield _Caution(
            "engine.checkpoint",
            "a folder for temporary files is emptied at a restart of the machine",
            "set it to a folder that is kept, as a database is",
        )
    if settings.engine.shuffle_partitions > settings.topics.heartbeats_partitions:
        yield _Caution(
            "engine.shuffle_partitions",
            f"tasks above the {settings.topics.heartbeats_partitions} shards have nothing to do",
            "set it to topics.heartbeats_partitions at most",
        )
    if settings.topics.heartbeats_retention_ms < _HOUR_MS:
        yield _Caution(
            "topics.heartbeats_retention_ms",
            "an engine that is down for longer finds its input gone, and a person must decide",
            f"set it to {_HOUR_MS} or more",
        )


def _addresses(settings: Settings) -> Iterator[_Caution]:
    for name, section in (("metrics", settings.metrics), ("serve", settings.serve)):
        if section.host not in _LOOPBACK:
            yield _Caution(
                f"{name}.host",
                "whoever reaches this machine can read it; there is no login",
                "leave 127.0.0.1, or let a firewall or the container's network decide who may",
            )
    if settings.metrics.port == settings.serve.port != 0:
        yield _Caution(
            "serve.port",
            "the engine's metrics.port is the same: on one machine only one of the two can start",
            "give each a port of its own",
        )
    url = urlsplit(settings.serve.url)
    if url.hostname in _LOOPBACK and (url.port or 80) != settings.serve.port:
        yield _Caution(
            "serve.url",
            f"commands look at port {url.port or 80}, and serve.port is {settings.serve.port}",
            "let both name the same port",
        )


def _rules(settings: Settings, layers: Sequence[Layer]) -> Iterator[_Caution]:
    """Yield what is risky in the rules; of single groups only what they set themselves."""
    tables = [("group_defaults", settings.group_defaults)]
    tables += [(f"group.{group}", settings.rules(group)) for group in settings.group]
    for table, rules in tables:
        above = table.split(".", 1)
        own = {name for name in type(rules).model_fields if _is_set(layers, [*above, name])}
        risky = (
            ("mode", rules.mode == "eager", "a queue may have two owners while it moves"),
            ("on_mute", rules.on_mute == "force", ("a queue may have two owners: a mute client may "
             "go on with it")),
            ("pause", rules.pause is True, ("nothing is shared anew: queues of clients that go "
             "have nobody")),
            ("drain_deadline_ms", rules.drain_deadline_ms == "never",
             "nobody is told of a client that never stops a queue"),
        )  # fmt: skip
        for name, is_so, reason in risky:
            if is_so and name in own:
                yield _Caution(f"{table}.{name}", reason, "leave it, if that is what is wanted")


def _secrets(settings: Settings) -> Iterator[_Caution]:
    """Yield free settings that are named as secrets are: what they are for is not known here."""
    tables: dict[Key, Mapping[str, Any]] = {
        ("engine", "spark"): settings.engine.spark,
        ("group_defaults", "strategy_options"): settings.group_defaults.strategy_options,
    }
    for group, own in settings.group.items():
        tables["group", group, "strategy_options"] = own.strategy_options or {}
    for table, values in tables.items():
        for name in sorted(filter(SECRET_NAME.search, values)):
            yield _Caution(
                f"{'.'.join(table)}.{name}",
                "a secret stands in a settings file: whoever may read that file has it",
                "name a file with the secret instead, where Spark or the strategy can take one; "
                "else let nobody but this user read the settings (chmod 0400)",
                (*table, name),
            )


def _is_set(layers: Sequence[Layer], key: Sequence[str]) -> bool:
    return any(layer.has(key) for layer in layers)


def _misspelt_variables() -> Iterator[Problem]:
    """Yield variables that look as if they were to set something, and have one underscore less."""
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
                f"tables are divided by two underscores: {meant[spelled]}",
            )
