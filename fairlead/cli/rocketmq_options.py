"""The options of commands that connect to RocketMQ: where it is, encryption and login."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fairlead.errors import UsageError

if TYPE_CHECKING:
    from fairlead_client.remoting.acl_signature import Credentials
    from fairlead_client.remoting.connection import ConnectionSettings

__all__ = ["RocketMQOptions"]

_CONNECT_S: Final = 1.0
_VARIABLES: Final = {
    "accessKey": "ROCKETMQ_ACCESS_KEY",
    "secretKey": "ROCKETMQ_SECRET_KEY",
    "securityToken": "ROCKETMQ_SECURITY_TOKEN",
}
"""What conf/tools.yml of RocketMQ says -> the variable that says it instead."""


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
            UsageError: a file cannot be read, or says something else.
        """
        from fairlead_client.remoting.connection import ConnectionSettings

        return ConnectionSettings(
            connect_s=_CONNECT_S, tls=self._tls(), credentials=self._credentials()
        )

    def _tls(self) -> ssl.SSLContext | None:
        if not (self.tls or self.tls_ca or self.tls_cert):
            return None
        try:
            context = ssl.create_default_context(cafile=self.tls_ca)
            if self.tls_cert is not None:
                context.load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(
                f"--tls-ca, --tls-cert, --tls-key: {error}.",
                remedy="Name PEM files that this user may read.",
            ) from error
        context.check_hostname = not self.tls_any_host
        return context

    def _credentials(self) -> "Credentials | None":
        from fairlead_client.remoting.acl_signature import Credentials

        said = {name: os.environ[key] for name, key in _VARIABLES.items() if os.environ.get(key)}
        if self.acl_file is not None:
            said = _read(self.acl_file) | said
        if not said:
            return None
        for name in ("accessKey", "secretKey"):
            if not said.get(name):
                raise UsageError(
                    f"{self.acl_file or 'login'}: {name} is missing.",
                    remedy=f"Write it into --acl-file, or set {_VARIABLES[name]}.",
                )
        return Credentials(said["accessKey"], said["secretKey"], said.get("securityToken", ""))


def _read(path: Path) -> Mapping[str, str]:
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
        if name.strip() in _VARIABLES:
            said[name.strip()] = value.strip().strip("'\"")
    return said
