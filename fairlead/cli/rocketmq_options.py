"""The options of commands that connect to RocketMQ: where it is, encryption and login."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fairlead_client.remoting.connection import ConnectionSettings

__all__ = ["RocketMQOptions"]


AclFileOption = Annotated[
    Path | None,
    typer.Option(
        "--acl-file",
        help="RocketMQ's login: a file with the lines accessKey: … and secretKey: …, as its "
        "conf/tools.yml. Or set ROCKETMQ_ACCESS_KEY and ROCKETMQ_SECRET_KEY.",
    ),
]
TlsOption = Annotated[bool, typer.Option("--tls", help="Encrypt the connections to RocketMQ.")]
TlsCaOption = Annotated[
    Path | None,
    typer.Option("--tls-ca", help="Trust the authorities in this PEM file; implies --tls."),
]
TlsCertOption = Annotated[
    Path | None,
    typer.Option("--tls-cert", help="Fairlead's own certificate, PEM, for servers that ask."),
]
TlsKeyOption = Annotated[Path | None, typer.Option("--tls-key", help="The key of --tls-cert, PEM.")]
TlsAnyHostOption = Annotated[
    bool, typer.Option("--tls-any-host", help="Accept certificates that name another host.")
]


@dataclass(frozen=True)
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
    acl_file: AclFileOption = None
    tls: TlsOption = False
    tls_ca: TlsCaOption = None
    tls_cert: TlsCertOption = None
    tls_key: TlsKeyOption = None
    tls_any_host: TlsAnyHostOption = False

    def connection(self) -> "ConnectionSettings":
        """Return how to connect.

        Raises:
            UsageError: an address is none, or a file cannot be read or says something else.
        """
        from fairlead.rocketmq.server_access import ServerAccess

        return ServerAccess(
            **{each.name: getattr(self, each.name) for each in fields(self)}
        ).connection()
