"""Whom a request may ask for: the Host header, which a web page cannot choose freely.

A page that a browser has loaded from evil.example may let that name point to 127.0.0.1 later (DNS
rebinding); the browser then takes the answers of a server here for the page's own. Its requests
still carry the name, which no server here has. An address is no name, so nothing can rebind it.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from typing import Any, Final

from starlette.datastructures import URL, Headers
from starlette.responses import JSONResponse

__all__ = ["HostCheck", "is_allowed_host"]

_MISDIRECTED: Final = 421
_LOOPBACK_NAME: Final = "localhost"
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]*)?")
"""A name or an address, and perhaps a port (RFC 9110, 7.2); a parser of URLs takes more."""


class HostCheck:
    """Refuses requests for names that are not this server's.

    Args:
        application: what answers the others.
        bound: the host that the server listens at.
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
        refusal = {
            "error": f"Host: {asked} is no name of this server.",
            "remedy": "Ask for it by its IP address, or add the name to http.allowed_hosts.",
        }
        await JSONResponse(refusal, _MISDIRECTED)(scope, receive, send)


def is_allowed_host(asked: str, bound: str, allowed: Sequence[str]) -> bool:
    """Tell whether a request may ask for a name.

    Args:
        asked: the Host header.
        bound: the host that the server listens at.
        allowed: names, ``*.`` and the end of names, or ``*``. None at all: any where the server
            does not listen on loopback.
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
