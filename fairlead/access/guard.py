"""The guard before an application: it says who calls, and refuses whoever may not."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from fairlead.access.authenticator import Authenticator, Presented, presented
from fairlead.access.changes import READING, check_csrf, check_origin
from fairlead.access.cookies import LoginCookie, csrf_of
from fairlead.access.principals import Principal, Right
from fairlead.access.quotas import Quotas
from fairlead.access.refusals import TOKEN_IN_URL, AccessError
from fairlead.errors import EnvironmentMissingError
from fairlead.http.hosts import is_loopback
from fairlead.settings import Settings

__all__ = ["AccessGuard", "Admitted", "Visitor", "admitted", "guarded", "right_for", "visitor"]

_OPEN_PATHS: Final = ("/healthz", "/readyz")
"""Probes have no login."""
_METRICS: Final = "/metrics"
_PAGE: Final = "/"
_PAGES: Final = "/console/"
_LOGIN, _LOGOUT = "/api/v1/login", "/api/v1/logout"
_OF_A_GROUP: Final = re.compile(r"/(?:api/)?v1/(?:native/[^/]*/)?groups/([^/]*)(/.*)?", re.DOTALL)
_WRITING: Final[Mapping[str | None, Right]] = {"/members": "consume", "/plan": "observe"}
"""A plan changes nothing; it is posted because it has a body."""
_STATE: Final = "admitted"
_VISITOR: Final = "visitor"

Proof = Literal["nobody", "header", "cookie", "certificate"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who sent a request that the guard let through."""

    principal: Principal
    _shown: Presented
    _authenticator: Authenticator
    _quotas: Quotas

    @property
    def via(self) -> Proof:
        """What has proved the principal; ``nobody``: nobody has said who may call."""
        if not self._authenticator.is_configured:
            return "nobody"
        if self._shown.token is None:
            return "certificate"
        return "cookie" if self._shown.is_by_cookie else "header"

    @property
    def csrf(self) -> str | None:
        """What a change by the caller's cookie has to repeat; None: it has not come by a cookie."""
        token = self._shown.token
        return csrf_of(token) if token is not None and self.via == "cookie" else None

    @property
    def still_stands(self) -> bool:
        """Whether principal and token are still as they were; a stream ends when they are not."""
        return self._authenticator.still_stands(self.principal, self._shown.token)

    def open_session(self, open_now: int) -> None:
        """Check that the principal, which has so many open sessions, may open one more.

        Raises:
            AccessError: it may not.
        """
        self._quotas.session(self.principal, open_now)

    def enter_stream(self) -> Callable[[], None]:
        """Open a stream; return what closes it.

        Raises:
            AccessError: the principal has too many open.
        """
        return self._quotas.enter_stream(self.principal)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks for a login, or for its end."""

    _shown: Presented
    _authenticator: Authenticator
    _told: Callable[[str], None]

    @property
    def is_needed(self) -> bool:
        """Whether somebody has said who may call."""
        return self._authenticator.is_configured

    def log_in(self, token: str) -> None:
        """Check a token as that of a header is checked.

        Raises:
            AccessError: it is wrong, or too many logins from this address have failed.
        """
        try:
            self._authenticator.authenticate(Presented(self._shown.address, token))
        except AccessError as error:
            self._told(error.problem.kind)
            raise


class AccessGuard:
    """Lets a request through with its principal, if that may send it.

    Paths of a group need the right for it: reading and planning need observe, joining needs
    consume, and all else needs operate. What a session or a list of groups needs, only the
    application knows.

    Args:
        application: answers whoever may call.
        authenticator: says who calls.
        quotas: how much each may ask.
        open_metrics: whether `/metrics` needs no login.
        cookie: in which logins are kept; None: there are no pages, and no login.
        told: called with the kind of each refusal.
        clock: a monotonic clock in seconds.
    """

    def __init__(
        self,
        application: Any,
        authenticator: Authenticator,
        quotas: Quotas,
        *,
        open_metrics: bool,
        cookie: LoginCookie | None = None,
        told: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._authenticator = authenticator
        self._quotas = quotas
        self._open = (*_OPEN_PATHS, _METRICS) if open_metrics else _OPEN_PATHS
        self._cookie = cookie
        self._told = told
        self._clock = clock

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        try:
            self._let_through(scope)
        except AccessError as error:
            self._told(error.problem.kind)
            await error.problem.answer()(scope, receive, send)
            return
        await self._application(scope, receive, send)

    def _let_through(self, scope: Any) -> None:
        """Check a request, and put down who sent it.

        Raises:
            AccessError: the caller may not send it.
        """
        check_origin(scope)
        path, is_reading = scope["path"], scope["method"] in READING
        has_console = self._cookie is not None
        if path in self._open or (has_console and is_reading and _is_page(path)):
            return
        shown = presented(scope, self._cookie)
        if has_console and path in (_LOGIN, _LOGOUT) and not is_reading:
            scope["state"][_VISITOR] = self._visitor(scope, shown)
        else:
            scope["state"][_STATE] = self._admitted(scope, shown)

    def _visitor(self, scope: Any, shown: Presented) -> Visitor:
        if shown.url_has_token:
            raise AccessError(TOKEN_IN_URL)
        if scope["path"] == _LOGOUT and shown.is_by_cookie and shown.token is not None:
            check_csrf(scope, shown.token)
        return Visitor(shown, self._authenticator, self._told)

    def _admitted(self, scope: Any, shown: Presented) -> Admitted:
        principal = self._authenticator.authenticate(shown)
        if shown.is_by_cookie and shown.token is not None and self._authenticator.is_configured:
            check_csrf(scope, shown.token)
        self._quotas.request(principal, self._clock())
        needed = right_for(scope["method"], scope["path"])
        if needed is not None:
            principal.require(*needed)
        return Admitted(principal, shown, self._authenticator, self._quotas)


def right_for(method: str, path: str) -> tuple[Right, str] | None:
    """Return the right and the group that a request needs; None: its path names no group."""
    if path.startswith(_METRICS):
        return "observe", "*"
    found = _OF_A_GROUP.fullmatch(path)
    if found is None:
        return None
    if method in READING or found[2] == "/plan":
        return "observe", found[1]
    return _WRITING.get(found[2], "operate"), found[1]


def _is_page(path: str) -> bool:
    return path == _PAGE or path.startswith(_PAGES)


def visitor(scope: Any) -> Visitor:
    """Return who asks for a login, or for its end; only behind the guard there is such a one."""
    return cast("Visitor", scope["state"][_VISITOR])


def admitted(scope: Any) -> Admitted:
    """Return who sent a request; only behind the guard there is such a one."""
    return cast("Admitted", scope["state"][_STATE])


def guarded(
    application: Any,
    settings: Settings,
    *,
    told_file: Callable[[str], None] = lambda _: None,
    told_refusal: Callable[[str], None] = lambda _: None,
) -> AccessGuard:
    """Put the guard before an application, as the settings say.

    Args:
        application: answers whoever may call.
        settings: who may call, and where the server listens.
        told_file: called with what it is for each bad new content of a file.
        told_refusal: called with the kind of each refusal.

    Raises:
        AccessFileError: the access file is wrong.
        JwksError: the file with the keys is wrong.
        EnvironmentMissingError: others than this machine could call, and nobody says who may.
    """
    authenticator = Authenticator(settings.access, told=told_file)
    host = settings.serve.host
    if not authenticator.is_configured and not is_loopback(host):
        raise EnvironmentMissingError(
            f"serve.host: others than this machine reach {host}, and nothing says who may call.",
            remedy="Run `fairlead token new --principal me --right observe --group '*' --file "
            "access.toml`, and set access.file to that file; or listen on 127.0.0.1.",
        )
    cookie = LoginCookie.of_cluster(settings.kafka.bootstrap, settings.kafka.topic_prefix)
    return AccessGuard(
        application,
        authenticator,
        Quotas(settings.access.limits),
        open_metrics=settings.access.open_metrics,
        cookie=cookie if settings.serve.observe else None,
        told=told_refusal,
    )
