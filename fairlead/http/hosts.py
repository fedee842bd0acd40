"""Checks the headers Host and Origin of requests, which a web page cannot choose freely.

A browser may load a page from evil.example, which then points that name to 127.0.0.1 (DNS
rebinding); the browser would treat the answers of a local server as those of evil.example. Such
requests still carry that name, which is not a name of this server. Nobody can rebind an address.
A page may also send a request to this server under the right name; it then carries the page's own
origin, and may read only.
"""

import ipaddress
import re
import socket
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Final

from starlette.datastructures import URL

from fairlead.http.problems import Problem

__all__ = ["FOREIGN_PAGE", "HostCheck", "is_allowed_host", "is_loopback"]

_MISDIRECTED: Final = 421
_LOOPBACK_NAME: Final = "localhost"
_NAMES_KEPT: Final = 256
_READING: Final = ("GET", "HEAD", "OPTIONS")
FOREIGN_PAGE: Final = Problem(
    403,
    "foreign_page",
    "A page of another site sent the request.",
    "Send it from a program, which sets no Origin header. If the page is this server's own, let "
    "the proxy before it pass on the browser's Host header.",
)
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]*)?")
"""A name or an address, and perhaps a port (RFC 9110, 7.2); a URL parser would accept more."""


class HostCheck:
    """Refuses requests for other names, and changes that a page of another site asks for.

    Args:
        application: answers all other requests.
        bound: the host on which the server listens.
        allowed: ``http.allowed_hosts``.
    """

    def __init__(self, application: Any, bound: str, allowed: Sequence[str]) -> None:
        self._application = application
        self._is_allowed = lru_cache(_NAMES_KEPT)(
            partial(is_allowed_host, bound=bound, allowed=allowed)
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        asked = _value(scope, b"host")
        origin = _value(scope, b"origin")
        if asked is not None and not self._is_allowed(asked):
            await _misdirected(asked).answer()(scope, receive, send)
        elif origin is not None and scope["method"] not in _READING and _is_foreign(origin, asked):
            await FOREIGN_PAGE.answer()(scope, receive, send)
        else:
            await self._application(scope, receive, send)


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
        return not is_loopback(bound)
    return any(_matches(name, each.lower()) for each in allowed)


def _value(scope: Any, wanted: bytes) -> str | None:
    return next(
        (value.decode("latin-1") for name, value in scope["headers"] if name == wanted), None
    )


def _is_foreign(origin: str, asked: str | None) -> bool:
    """Tell whether the page that sent a request is not of this server."""
    return origin.partition("://")[2].lower() != (asked or "").lower()


def _misdirected(asked: str) -> Problem:
    return Problem(
        _MISDIRECTED,
        "foreign_host",
        f"Host: {asked} is not a name of this server.",
        "Use the server's IP address, or add the name to http.allowed_hosts.",
    )


def _matches(name: str, pattern: str) -> bool:
    return pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether an address to listen at is of this machine alone."""
    if not _is_address(host):
        return host.lower() == _LOOPBACK_NAME
    return ipaddress.ip_address(host).is_loopback
