"""The settings of a client that takes part through a gateway, and their checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from fairlead_client.errors import SettingsError
from fairlead_client.settings.setting_types import check_type

__all__ = ["GatewayAddress", "addresses_of", "check_gateway", "check_only_direct"]

_PORTS: Final = {"http": 80, "https": 443}
_EXAMPLE: Final = 'give "https://host:port", or a list of them'
_OF_GATEWAY: Final = (
    "token", "token_file", "gateway_ca_file", "gateway_cert_file", "gateway_key_file",
)  # fmt: skip
_ONLY_DIRECT: Final = {
    "heartbeat_ms": "the gateway's setting gateway.poll_ms decides it",
    "lease_ms": "the gateway's setting gateway.lease_ms decides it",
    "prefix": "the gateway knows Fairlead's topics",
}
"""Settings of a client that reads Fairlead's topics itself -> who decides them otherwise."""


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """Where a gateway listens."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """Return it as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether nobody else can listen on the way."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def addresses_of(gateway: str | Sequence[str]) -> list[GatewayAddress]:
    """Return the addresses of the setting `gateway`.

    Raises:
        SettingsError: one of them is none.
    """
    given = gateway.split(",") if isinstance(gateway, str) else gateway
    for each in given:
        check_type("gateway", each, str)
    return [_address(each.strip()) for each in given if each.strip()]


def _address(text: str) -> GatewayAddress:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in _PORTS:
        raise SettingsError("gateway", f"{text!r} is no address of a gateway", _EXAMPLE)
    if parts.username is not None or parts.password is not None:
        # The text may hold a password.
        problem = "an address holds a name or a password"
        raise SettingsError("gateway", problem, "give a token as token_file=…")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise SettingsError("gateway", f"{text!r} has more than host and port", _EXAMPLE)
    return GatewayAddress(parts.scheme, host, _PORTS[parts.scheme] if port is None else port)


def check_gateway(settings: Any) -> None:
    """Check the settings of a gateway that a client has.

    Raises:
        SettingsError: a setting cannot work; the error names the first one.
    """
    addresses = addresses_of(settings.gateway)
    if not addresses:
        for name in _OF_GATEWAY:
            if getattr(settings, name) is not None:
                problem = "is for a gateway, and there is none"
                raise SettingsError(name, problem, f"leave it out, or {_EXAMPLE} as gateway=…")
        return
    if settings.token is not None and settings.token_file is not None:
        raise SettingsError("token", "token_file is given too", "give one of the two")
    if settings.token == "":
        raise SettingsError("token", "is empty", "give the token, or leave it out")
    if settings.gateway_key_file is not None and settings.gateway_cert_file is None:
        problem = "there is no certificate for the key"
        raise SettingsError("gateway_key_file", problem, "give gateway_cert_file=… too")
    for name in _OF_GATEWAY[1:]:
        _check_file(name, getattr(settings, name))
    _check_encryption(settings, addresses)
    for subscription in settings.subscriptions(0):
        if subscription.expression_type != "tag":
            problem = f"a gateway carries tags only, no {subscription.expression_type}"
            raise SettingsError("topics", problem, "give tags, or leave gateway= out")


def _check_encryption(settings: Any, addresses: Sequence[GatewayAddress]) -> None:
    plain = [each for each in addresses if each.scheme == "http"]
    for each in plain:
        if not each.is_loopback and (settings.token or settings.token_file):
            problem = f"{each} would carry the token in clear text"
            raise SettingsError("gateway", problem, "use https://")
    for name in _OF_GATEWAY[2:]:
        if len(plain) == len(addresses) and getattr(settings, name) is not None:
            problem = "an address with http:// has no encryption"
            raise SettingsError(name, problem, "use https://, or leave it out")


def _check_file(name: str, path: str | None) -> None:
    if path is None:
        return
    try:
        with Path(path).open("rb"):
            pass
    except OSError as error:
        problem = f"{path} cannot be read ({error.strerror})"
        raise SettingsError(name, problem, "give a file that this user may read") from error


def check_only_direct(given: Mapping[str, Any]) -> None:
    """Refuse settings that a client with a gateway does not decide.

    Raises:
        SettingsError: one of them is given, and a gateway too.
    """
    if not given.get("gateway"):
        return
    for name, who in _ONLY_DIRECT.items():
        if name in given:
            raise SettingsError(name, f"with gateway=… {who}", "leave it out")
    if given.get("capacity", 1) > 1_000:  # noqa: PLR2004 - the gateway's limit
        raise SettingsError("capacity", "a gateway takes at most 1000", "give less")
