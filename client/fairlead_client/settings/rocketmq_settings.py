"""The settings of the data plane RocketMQ, and their checks (ADR 0231)."""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairlead_client.errors import SettingsError
from fairlead_client.remoting.acl_signature import Credentials
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.settings.setting_types import check_type

__all__ = ["DATA_PLANES", "RocketMQSettings", "check_data_plane", "rocketmq_settings"]

DATA_PLANES: Final = ("kafka", "rocketmq")
_PORT_MAX: Final = 65_535
_EXAMPLE: Final = 'give namesrv="host:9876", or several with ";" between them'
_OPTIONS: Final[Mapping[str, type]] = {
    "access_key": str,
    "secret_key": str,
    "security_token": str,
    "tls": bool,
    "tls_ca_file": str,
    "tls_cert_file": str,
    "tls_key_file": str,
    "tls_check_hostname": bool,
    "connect_timeout_ms": int,
    "request_timeout_ms": int,
    "suspend_ms": int,
    "pull_batch_size": int,
}
"""The options in the setting `rocketmq`, and their types."""
_LIMITS: Final = {
    "connect_timeout_ms": (1, 60_000),
    "request_timeout_ms": (1, 60_000),
    "suspend_ms": (100, 25_000),
    "pull_batch_size": (1, 1_024),
}
_SECRET: Final = frozenset({"secret_key", "security_token"})


@dataclass(frozen=True, slots=True)
class RocketMQSettings:
    """How to reach RocketMQ.

    Attributes:
        name_servers: the name servers, each as host:port.
        connection: how to connect, to name servers and brokers.
        suspend_ms: how long a broker holds a pull that finds nothing (brokerSuspendMaxTimeMillis).
        pull_batch_size: the most messages of a pull; brokers have a limit of their own, 32.
    """

    name_servers: tuple[str, ...]
    connection: ConnectionSettings
    suspend_ms: int = 15_000
    pull_batch_size: int = 32


def check_data_plane(settings: Any) -> None:
    """Check data_plane, namesrv and rocketmq of a client's or a producer's settings.

    Raises:
        SettingsError: a setting cannot work; the error names the first one.
    """
    if settings.data_plane not in DATA_PLANES:
        problem = f"{settings.data_plane!r} is unknown"
        raise SettingsError("data_plane", problem, f"give one of {', '.join(DATA_PLANES)}")
    if settings.data_plane == "kafka":
        for name in ("namesrv", "rocketmq"):
            if getattr(settings, name):
                problem = 'is for data_plane="rocketmq", and this client works with Kafka'
                raise SettingsError(name, problem, 'leave it out, or give data_plane="rocketmq"')
        return
    rocketmq_settings(settings.namesrv, settings.rocketmq)


def rocketmq_settings(namesrv: str | Sequence[str], options: Mapping[str, Any]) -> RocketMQSettings:
    """Return how to reach RocketMQ.

    Args:
        namesrv: the name servers.
        options: the options of the setting `rocketmq`.

    Raises:
        SettingsError: one of them cannot work; the error names it.
    """
    for name, value in options.items():
        if name not in _OPTIONS:
            known = ", ".join(sorted(_OPTIONS))
            raise SettingsError("rocketmq", f"unknown option {name!r}", f"use one of {known}")
        if name in _SECRET and not isinstance(value, str):
            raise SettingsError(f"rocketmq.{name}", "is not a string", "give a string")
        check_type(f"rocketmq.{name}", value, _OPTIONS[name])
        least, most = _LIMITS.get(name, (None, None))
        if least is not None and most is not None and not least <= value <= most:
            problem = f"{value} is out of range"
            raise SettingsError(f"rocketmq.{name}", problem, f"give {least} to {most}")
    connection = ConnectionSettings(
        connect_s=options.get("connect_timeout_ms", 3_000) / 1_000,
        call_s=options.get("request_timeout_ms", 3_000) / 1_000,
        tls=_tls(options),
        credentials=_credentials(options),
    )
    limits = {name: options[name] for name in ("suspend_ms", "pull_batch_size") if name in options}
    return RocketMQSettings(_name_servers(namesrv), connection, **limits)


def _name_servers(namesrv: str | Sequence[str]) -> tuple[str, ...]:
    given = namesrv.replace(",", ";").split(";") if isinstance(namesrv, str) else namesrv
    for each in given:
        check_type("namesrv", each, str)
    servers = tuple(dict.fromkeys(each.strip() for each in given if each.strip()))
    if not servers:
        raise SettingsError("namesrv", "names no name server", _EXAMPLE)
    for server in servers:
        host, _, port = server.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) <= _PORT_MAX or "/" in server:
            raise SettingsError("namesrv", f"{server!r} is not a valid name server", _EXAMPLE)
    return servers


def _credentials(options: Mapping[str, Any]) -> Credentials | None:
    names = ("access_key", "secret_key")
    given = [name for name in names if options.get(name)]
    if len(given) == 1:
        (other,) = set(names) - set(given)
        problem = f"{given[0]} is given without it"
        raise SettingsError(f"rocketmq.{other}", problem, "give both, or none")
    if not given:
        if options.get("security_token"):
            problem = "is given without access_key and secret_key"
            raise SettingsError("rocketmq.security_token", problem, "give all three")
        return None
    token = options.get("security_token", "")
    return Credentials(options["access_key"], options["secret_key"], token)


def _tls(options: Mapping[str, Any]) -> ssl.SSLContext | None:
    if not options.get("tls"):
        for name in options:
            if name.startswith("tls_"):
                problem = "is given without tls=True"
                raise SettingsError(f"rocketmq.{name}", problem, 'give "tls": True too')
        return None
    if options.get("tls_key_file") and not options.get("tls_cert_file"):
        problem = "there is no certificate for the key"
        raise SettingsError("rocketmq.tls_key_file", problem, "give tls_cert_file too")
    name = "tls_ca_file"
    try:
        context = ssl.create_default_context(cafile=options.get(name))
        if options.get("tls_cert_file"):
            name = "tls_cert_file"
            context.load_cert_chain(options[name], options.get("tls_key_file"))
    except OSError as error:
        problem = f"{options[name]} cannot be used ({error.strerror or error})"
        remedy = "give a PEM file that this user may read"
        raise SettingsError(f"rocketmq.{name}", problem, remedy) from error
    context.check_hostname = options.get("tls_check_hostname", True)
    return context
