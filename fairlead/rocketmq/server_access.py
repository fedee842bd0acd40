"""How to reach RocketMQ's servers: addresses, encryption and login, from options or settings.

Secrets stand in a file or in the environment, never on a command line or in settings.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fairlead_client.errors import SettingsError
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

from fairlead.errors import UsageError

__all__ = ["ServerAccess"]

_CONNECT_MS: Final = 1_000
_LOGIN: Final = {
    "accessKey": ("access_key", "ROCKETMQ_ACCESS_KEY"),
    "secretKey": ("secret_key", "ROCKETMQ_SECRET_KEY"),
    "securityToken": ("security_token", "ROCKETMQ_SECURITY_TOKEN"),
}
"""What conf/tools.yml of RocketMQ says -> the setting, and the variable that says it instead."""
_REMEDY: Final = "Check namesrv, acl_file and tls_…; docs/bridges.md explains them."


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """Where RocketMQ is, and how to connect to it.

    Attributes:
        namesrv: the name servers as host:port[;host:port].
        acl_file: a file with the lines ``accessKey: …`` and ``secretKey: …``; None: the environment
            may say them.
        tls: encrypt; any of the files below implies it.
        tls_ca: the PEM file of the authorities to trust; None: the system's.
        tls_cert: the PEM file of the own certificate.
        tls_key: the PEM file of its key.
        tls_any_host: accept certificates that name another host.
    """

    namesrv: str
    acl_file: Path | None = None
    tls: bool = False
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_any_host: bool = False

    def connection(self, environment: Mapping[str, str] = os.environ) -> ConnectionSettings:
        """Return how to connect.

        Raises:
            UsageError: an address is none, or a file cannot be read or says something else.
        """
        files = {
            "tls_ca_file": self.tls_ca,
            "tls_cert_file": self.tls_cert,
            "tls_key_file": self.tls_key,
        }
        given: dict[str, Any] = {name: str(path) for name, path in files.items() if path}
        if self.tls or given:
            given |= {"tls": True, "tls_check_hostname": not self.tls_any_host}
        login = self._login(environment)
        try:
            settings = rocketmq_settings(
                self.namesrv, {**given, **login, "connect_timeout_ms": _CONNECT_MS}
            )
        except SettingsError as error:
            raise UsageError(f"RocketMQ: {error}.", remedy=_REMEDY) from error
        return settings.connection

    def _login(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return who logs in: what the environment says, else the file."""
        said = {} if self.acl_file is None else _read(self.acl_file)
        login = {}
        for name, (option, variable) in _LOGIN.items():
            value = environment.get(variable) or said.get(name)
            if value:
                login[option] = value
        return login


def _read(path: Path) -> dict[str, str]:
    """Return the login in a file of lines such as ``accessKey: fairlead``."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise UsageError(
            f"acl_file: {path} is unreadable ({reason}).",
            remedy="Name a file that this user may read.",
        ) from error
    said = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in _LOGIN:
            said[name.strip()] = value.strip().strip("'\"")
    return said
