"""The options of commands that connect to RocketMQ: where it is, encryption and login."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead_client.remoting.connection import ConnectionSettings

__all__ = ["RocketMQOptions"]

_CONNECT_MS: Final = 1_000
_LOGIN: Final = {
    "accessKey": ("access_key", "ROCKETMQ_ACCESS_KEY"),
    "secretKey": ("secret_key", "ROCKETMQ_SECRET_KEY"),
    "securityToken": ("security_token", "ROCKETMQ_SECURITY_TOKEN"),
}
"""What conf/tools.yml of RocketMQ says -> the setting, and the variable that says it instead."""
_REMEDY: Final = "Check --namesrv, --acl-file and --tls-…; docs/bridges.md explains them."


@dataclass(frozen=True, slots=True)
class RocketMQOptions:
    """Where RocketMQ is, and how to connect to it."""

    namesrv: Annotated[
        str,
        typer.Option(
            "--namesrv",
            envvar="NAMESRV_ADDR",
            help="RocketMQ's name servers as host:port[;host:port].",
        ),
    ]
    acl_file: Annotated[
        Path | None,
        typer.Option(
            "--acl-file",
            help="A file with the lines accessKey: … and secretKey: …, as RocketMQ's "
            "conf/tools.yml. Or set ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY.",
        ),
    ] = None
    tls: Annotated[bool, typer.Option("--tls", help="Encrypt the connections to RocketMQ.")] = False
    tls_ca: Annotated[
        Path | None,
        typer.Option("--tls-ca", help="Trust the authorities in this PEM file; implies --tls."),
    ] = None
    tls_cert: Annotated[
        Path | None,
        typer.Option("--tls-cert", help="Fairlead's own certificate, PEM, for servers that ask."),
    ] = None
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="The key of --tls-cert, PEM.")
    ] = None
    tls_any_host: Annotated[
        bool,
        typer.Option("--tls-any-host", help="Accept certificates that name another host."),
    ] = False

    def connection(self) -> "ConnectionSettings":
        """Return how to connect.

        Raises:
            UsageError: an address is none, or a file cannot be read or says something else.
        """
        from fairlead_client.errors import SettingsError
        from fairlead_client.settings.rocketmq_settings import rocketmq_settings

        files = {
            "tls_ca_file": self.tls_ca,
            "tls_cert_file": self.tls_cert,
            "tls_key_file": self.tls_key,
        }
        given: dict[str, Any] = {name: str(path) for name, path in files.items() if path}
        if self.tls or given:
            given |= {"tls": True, "tls_check_hostname": not self.tls_any_host}
        try:
            settings = rocketmq_settings(
                self.namesrv, {**given, **self._login(), "connect_timeout_ms": _CONNECT_MS}
            )
        except SettingsError as error:
            raise UsageError(f"RocketMQ: {error}.", remedy=_REMEDY) from error
        return settings.connection

    def _login(self) -> dict[str, str]:
        """Return who logs in: what the environment says, else the file."""
        said = {} if self.acl_file is None else _read(self.acl_file)
        for name, (option, variable) in _LOGIN.items():
            value = os.environ.get(variable) or said.get(name)
            if value:
                said[option] = value
        return {option: said[option] for option, _ in _LOGIN.values() if option in said}


def _read(path: Path) -> dict[str, str]:
    """Return the login in a file of lines such as ``accessKey: fairlead``."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise UsageError(
            f"--acl-file: {path} is unreadable ({reason}).",
            remedy="Name a file that this user may read.",
        ) from error
    said = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in _LOGIN:
            said[name.strip()] = value.strip().strip("'\"")
    return said
