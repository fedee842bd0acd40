"""Checks the Host header of requests, which a web page cannot choose freely.

A browser may load a page from evil.example, which then points that name to 127.0.0.1 (DNS
rebinding); the browser would treat the answers of a local server as those of evil.example. Such
requests still carry that name, which is not a name of this server. Nobody can rebind an address.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Any, Final

from starlette.datastructures import URL, Headers

from fairlead.http.problem import problem

__all__ = ["HostCheck", "is_allowed_host"]

_MISDIRECTED: Final = 421
_LOOPBACK_NAME: Final = "localhost"
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]*)?")
"""A name or an address, and perhaps a port (RFC 9110, 7.2); a URL parser would accept more."""


class HostCheck:
    """Refuses requests for names that do not belong to this server.

    Args:
        application: answers all other requests.
        bound: the host on which the server listens.
        allowed: ``http.allowed_hosts``.
    """

    def __init__(self, application: Any, bound: str, allowed: Sequence[str]) -> None:
        self._application = application
        self._bound = bound
        self._allowed = allowed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asked = Headers(scope=scope).get("host") if scope["type"] == "http" else None
        if asked is None or is_allowed_host(asked, self._bound, self._allowed):
            await self._application(scope, receive, send)
            return
        refusal = problem(
            _MISDIRECTED,
            f"Host: {asked} is not a name of this server.",
            "Use the server's IP address, or add the name to http.allowed_hosts.",
        )
        await refusal(scope, receive, send)


def is_allowed_host(asked: str, bound: str, allowed: Sequence[str]) -> bool:
    """Tell whether a request may use a name.

    Args:
        asked: the Host header.
        bound: the host on which the server listens.
        allowed: names, ``*.`` with the end of names, or ``*``. If empty, any name is allowed unless
            the server listens on loopback.
    """
    if not _HOST.fullmatch(asked):
        return False
    try:
        name = (URL(f"http://{asked}").hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    if _is_address(name) or name in {_LOOPBACK_NAME, bound.lower(), socket.gethostname().lower()}:
        return True
    if not allowed:
        return not _is_loopback(bound)
    return any(_matches(name, each.lower()) for each in allowed)


def _matches(name: str, pattern: str) -> bool:
    return pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    if not _is_address(host):
        return host.lower() == _LOOPBACK_NAME
    return ipaddress.ip_address(host).is_loopback
