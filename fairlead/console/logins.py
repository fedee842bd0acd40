"""Who the person at the page is: login, logout, and what a page may offer to whoever it is."""

import re
from typing import Any, Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairlead import __version__
from fairlead.access.cookies import TOKEN_BYTES_MAX, LoginCookie
from fairlead.access.guard import admitted, visitor
from fairlead.access.refusals import AccessError
from fairlead.console.answers import json_answer
from fairlead.http.problems import Problem
from fairlead.settings import Settings

__all__ = ["Logins"]

_NO_TOKEN: Final = Problem(
    422,
    "bad_field",
    "token: the body is no JSON object with a text of this name.",
    'Send {"token": "flt_…"}.',
    "token",
)
_NO_TOKENS_TEXT: Final = Problem(
    422,
    "bad_field",
    "token: it has a character that no token has.",
    "Give what `fairlead token new` showed, without spaces.",
    "token",
)
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]+")
_TOO_LONG: Final = Problem(
    422,
    "bad_field",
    f"token: it has more than {TOKEN_BYTES_MAX} bytes, and no browser keeps it.",
    "Log in with a token of `fairlead token new`.",
    "token",
)
_NOBODY: Final = Problem(
    409,
    "no_login",
    "Nobody has said who may call this server: everybody on this machine may do everything.",
    "Go on without a login, or set access.file.",
)


class Logins:
    """Answers the paths of login and logout.

    Args:
        settings: the settings.
    """

    def __init__(self, settings: Settings) -> None:
        kafka = settings.kafka
        self._cookie = LoginCookie.of_cluster(kafka.bootstrap, kafka.topic_prefix)
        self._of = {
            "version": __version__,
            "bootstrap": kafka.bootstrap,
            "topic_prefix": kafka.topic_prefix,
            "tick_ms": settings.engine.tick_ms,
        }

    @property
    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route("/api/v1/me", self.me),
            Route("/api/v1/login", self.login, methods=["POST"]),
            Route("/api/v1/logout", self.logout, methods=["POST"]),
        ]

    async def me(self, request: Request) -> Response:
        """Tell who asks, and what that principal may do."""
        caller = admitted(request.scope)
        principal = caller.principal
        operate = list(principal.rights.get("operate", ()))
        document = {
            "principal": principal.name,
            "via": caller.via,
            "may_observe_all": principal.may("observe", "*"),
            "operates": bool(operate),
            "operate": operate,
            "csrf": caller.csrf,
            **self._of,
        }
        answer = json_answer(document)
        answer.headers["cache-control"] = "no-store"
        return answer

    async def login(self, request: Request) -> Response:
        """Let a browser keep a token, if that is right."""
        guest = visitor(request.scope)
        if not guest.is_needed:
            return _NOBODY.answer()
        token = _token(await request.body())
        if isinstance(token, Problem):
            return token.answer()
        try:
            guest.log_in(token)
        except AccessError as error:
            return error.problem.answer()
        return _without_content(self._cookie.kept(token, is_secure=_is_encrypted(request)))

    async def logout(self, request: Request) -> Response:
        """Let a browser forget its token."""
        del request
        return _without_content(self._cookie.ended())


def _token(body: bytes) -> str | Problem:
    try:
        document: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _NO_TOKEN
    token = document.get("token") if isinstance(document, dict) else None
    if not isinstance(token, str) or not token:
        return _NO_TOKEN
    if _TOKEN.fullmatch(token) is None:
        return _NO_TOKENS_TEXT
    return token if len(token) <= TOKEN_BYTES_MAX else _TOO_LONG


def _is_encrypted(request: Request) -> bool:
    """Tell whether the browser speaks TLS, with this server or with a proxy before it.

    The guard has compared ``Origin`` with the name of this server.
    """
    origin = request.headers.get("origin", "")
    return request.url.scheme == "https" or origin.lower().startswith("https://")


def _without_content(cookie: str) -> Response:
    return Response(None, 204, headers={"set-cookie": cookie, "cache-control": "no-store"})
