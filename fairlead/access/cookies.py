"""The login of a browser: the cookie with its token, and the proof that its page asks.

A browser sends the cookie by itself, whichever page asks for it. So a request that changes
something repeats a keyed hash of the token, which only a page of this server can have read
(ADR 0203).
"""

import hashlib
import hmac
from typing import Any, Final

from fairlead.http.problems import Problem

__all__ = [
    "CSRF_HEADER",
    "CSRF_MISSING",
    "TOKEN_BYTES_MAX",
    "cookie_of",
    "csrf_of",
    "ended_cookie",
    "tokens_of",
]

CSRF_HEADER: Final = "x-fairlead-csrf"
TOKEN_BYTES_MAX: Final = 3_800
"""A browser keeps 4,096 bytes of name, value and attributes."""

_NAME: Final = "fairlead_token"
_PURPOSE: Final = b"fairlead csrf 1"
# Without Path it goes back to where the login was asked for, under whatever prefix of a proxy.
_ATTRIBUTES: Final = "HttpOnly; SameSite=Strict"

CSRF_MISSING: Final = Problem(
    403,
    "csrf_missing",
    f"The request changes something by a cookie, without the header {CSRF_HEADER} of that login.",
    f"Send {CSRF_HEADER} with the csrf that GET /api/v1/me tells, or Authorization: Bearer "
    "instead of the cookie.",
)


def tokens_of(headers: Any) -> list[str]:
    """Return the tokens in the cookies of a request; ``headers``: of ASGI."""
    found = []
    for name, value in headers:
        if name == b"cookie":
            for each in value.decode("latin-1").split(";"):
                own, _, token = each.strip().partition("=")
                if own == _NAME and token:
                    found.append(token)
    return found


def cookie_of(token: str, *, is_secure: bool) -> str:
    """Return the header that lets a browser keep a token; ``is_secure``: it speaks TLS."""
    return f"{_NAME}={token}; {_ATTRIBUTES}{'; Secure' if is_secure else ''}"


def ended_cookie() -> str:
    """Return the header that lets a browser forget its token."""
    return f"{_NAME}=; Max-Age=0; {_ATTRIBUTES}"


def csrf_of(token: str) -> str:
    """Return what a page has to repeat: a hash from which nobody learns the token."""
    return hmac.digest(token.encode(), _PURPOSE, hashlib.sha256).hex()
