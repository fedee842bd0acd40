"""The login of a browser: the cookie with its token, and the proof that its page asks.

A browser sends the cookie by itself, whichever page asks for it. So a request that changes
something repeats a keyed hash of the token, which only a page of this server can have read
(ADR 0203).
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, Final

from fairlead.http.problems import Problem

__all__ = [
    "CSRF_HEADER",
    "CSRF_MISSING",
    "TOKEN_BYTES_MAX",
    "LoginCookie",
    "csrf_of",
]

CSRF_HEADER: Final = "x-fairlead-csrf"
TOKEN_BYTES_MAX: Final = 3_800
"""A browser keeps 4,096 bytes of name, value and attributes."""

_NAME: Final = "fairlead_token"
_NAME_HEX: Final = 12
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


@dataclass(frozen=True, slots=True)
class LoginCookie:
    """The cookie in which a browser keeps a token; ``name``: of the cookie."""

    name: str

    @classmethod
    def of_cluster(cls, bootstrap: str, topic_prefix: str) -> "LoginCookie":
        """Return the cookie of the servers of these topics.

        A browser sends a cookie to every port of a host, so two servers there would end each
        other's logins, and each would see the other's token. Servers of the same topics share it.
        """
        own = hashlib.sha256(f"{bootstrap}\n{topic_prefix}".encode()).hexdigest()[:_NAME_HEX]
        return cls(f"{_NAME}_{own}")

    def tokens(self, headers: Any) -> list[str]:
        """Return the tokens in the cookies of a request; ``headers``: of ASGI."""
        found = []
        for name, value in headers:
            if name == b"cookie":
                for each in value.decode("latin-1").split(";"):
                    own, _, token = each.strip().partition("=")
                    if own == self.name and token:
                        found.append(token)
        return found

    def kept(self, token: str, *, is_secure: bool) -> str:
        """Return the header that lets a browser keep a token; ``is_secure``: it speaks TLS."""
        return f"{self.name}={token}; {_ATTRIBUTES}{'; Secure' if is_secure else ''}"

    def ended(self) -> str:
        """Return the header that lets a browser forget its token."""
        return f"{self.name}=; Max-Age=0; {_ATTRIBUTES}"


def csrf_of(token: str) -> str:
    """Return what a page has to repeat: a hash from which nobody learns the token."""
    return hmac.digest(token.encode(), _PURPOSE, hashlib.sha256).hex()
