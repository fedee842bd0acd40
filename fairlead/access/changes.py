"""Checks requests that change something: did a page of this server ask for them, or a program?"""

import hmac
from typing import Any, Final

from fairlead.access.cookies import CSRF_HEADER, CSRF_MISSING, csrf_of
from fairlead.access.refusals import AccessError
from fairlead.http.hosts import FOREIGN_PAGE
from fairlead.http.problems import Problem

__all__ = ["READING", "check_csrf", "check_origin"]

READING: Final = ("GET", "HEAD")
_OF_CONSOLE: Final = "/api/"
_JSON: Final = b"application/json"
_OWN: Final = (b"same-origin", b"none")
"""A page of this server; the person, who typed an address."""
_NO_JSON: Final = Problem(
    415,
    "unsupported_media_type",
    "The request is not declared as JSON.",
    "Send Content-Type: application/json, even without a body.",
)


def check_origin(scope: Any) -> None:
    """Check that no page of another site asks for a change; reading passes.

    A foreign page can send a request without asking the server first only if that is declared as a
    form or as text, and an up-to-date browser says where each request comes from.

    Raises:
        AccessError: one does, or a POST to the console is not declared as JSON.
    """
    if scope["method"] in READING:
        return
    if any(value not in _OWN for value in _values(scope, b"sec-fetch-site")):
        raise AccessError(FOREIGN_PAGE)
    # A browser asks the server before it sends another method than POST for a foreign page.
    if scope["method"] == "POST" and scope["path"].startswith(_OF_CONSOLE):
        kinds = [
            value.partition(b";")[0].strip().lower() for value in _values(scope, b"content-type")
        ]
        if kinds != [_JSON]:
            raise AccessError(_NO_JSON)


def check_csrf(scope: Any, token: str) -> None:
    """Check that a change by a cookie comes from a page of this server; reading passes.

    Args:
        scope: of ASGI.
        token: the token in the cookie.

    Raises:
        AccessError: it does not prove that.
    """
    if scope["method"] in READING:
        return
    shown = _values(scope, CSRF_HEADER.encode())
    if len(shown) != 1 or not hmac.compare_digest(shown[0], csrf_of(token).encode()):
        raise AccessError(CSRF_MISSING)


def _values(scope: Any, wanted: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == wanted]
