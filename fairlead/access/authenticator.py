"""Says who calls: by a token, a JWT or a certificate."""

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fairlead.access.access_file import AccessFile, parse_access_file
from fairlead.access.cookies import LoginCookie
from fairlead.access.limits import FailedLogins
from fairlead.access.principals import ANYBODY, Principal
from fairlead.access.refusals import (
    BAD_CREDENTIALS,
    NO_CREDENTIALS,
    TOKEN_IN_URL,
    AccessError,
    login_ended,
    too_many_failures,
)
from fairlead.access.tokens import matches, parts_of
from fairlead.http.problems import Problem
from fairlead.http.watched_files import WatchedFiles
from fairlead.settings import AccessSettings

if TYPE_CHECKING:
    from fairlead.access.json_web_tokens import JsonWebTokens

__all__ = ["Authenticator", "Presented", "presented"]

_SCHEME: Final = "bearer "
_IN_URL: Final = re.compile(rb"flt_[a-z0-9]{1,32}_|(^|[&;])(access_token|token)=", re.IGNORECASE)
_EMPTY: Final = AccessFile({}, {}, {}, {})


@dataclass(frozen=True, slots=True)
class Presented:
    """What a request shows.

    Attributes:
        address: where it comes from.
        token: what stands behind Bearer, else in the cookie of a login; None: neither is there.
        certificate: the names of its certificate, which its authority has signed.
        url_has_token: whether its path or query holds a token.
        is_malformed: whether it has several Authorization headers, or one of another kind; or
            several cookies of a login.
        cookie: the cookie in which the token stood; None: it stood in a header, or there is none.
    """

    address: str
    token: str | None = None
    certificate: Sequence[str] = ()
    url_has_token: bool = False
    is_malformed: bool = False
    cookie: LoginCookie | None = None

    @property
    def is_by_cookie(self) -> bool:
        """Whether the token stood in a cookie."""
        return self.cookie is not None


def presented(scope: Any, cookie: LoginCookie | None = None) -> Presented:
    """Return what a request shows; ``scope``: of ASGI; ``cookie``: in which logins are kept.

    A header wins over a cookie: whoever sends one means it.
    """
    client = scope.get("client")
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    value = given[0].decode("latin-1") if given else ""
    is_bearer = len(given) == 1 and value[: len(_SCHEME)].lower() == _SCHEME
    kept = [] if given or cookie is None else cookie.tokens(scope["headers"])
    token = value[len(_SCHEME) :].strip() if is_bearer else None
    url = (scope["raw_path"], scope["query_string"])
    return Presented(
        address=client[0] if client else "",
        token=kept[0] if kept else token,
        certificate=scope.get("extensions", {}).get("fairlead.certificate", ()),
        url_has_token=any(_IN_URL.search(part) for part in url),
        is_malformed=(bool(given) and not is_bearer) or len(kept) > 1,
        cookie=cookie if kept else None,
    )


class Authenticator:
    """Says who calls.

    Args:
        settings: `[access]`.
        told: called with what it is for each bad new content of a file.
        clock: seconds since 1970.

    Raises:
        AccessFileError: the access file is wrong.
        JwksError: the file with the keys is wrong.
    """

    def __init__(
        self,
        settings: AccessSettings,
        *,
        told: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._file: WatchedFiles[AccessFile] | None = None
        self._jwt: JsonWebTokens | None = None
        path, jwks = settings.file, settings.jwt.jwks_file
        if path is not None:
            self._file = WatchedFiles("access", [path], lambda: parse_access_file(path), told)
        if jwks is not None:
            from fairlead.access import json_web_tokens as jwt  # noqa: PLC0415 - it brings 20 MB that a server without JWT does without

            keys = WatchedFiles("jwks", [jwks], lambda: jwt.read_jwks(jwks), told)
            self._jwt = jwt.JsonWebTokens(settings.jwt, keys, clock)
        self._failed = FailedLogins(settings.failures, settings.failure_window_ms / 1_000)

    @property
    def is_configured(self) -> bool:
        """Whether somebody has said who may call; if not, everybody may do everything."""
        return self._file is not None or self._jwt is not None

    def authenticate(self, shown: Presented) -> Principal:
        """Return who calls.

        Raises:
            AccessError: nobody that is known here.
        """
        if shown.url_has_token:
            raise AccessError(TOKEN_IN_URL)
        if not self.is_configured:
            return ANYBODY
        if shown.is_malformed:
            raise AccessError(_bad(shown))
        known = self._known()
        if shown.token is not None:
            return self._bearer(shown.token, shown, known)
        for name in shown.certificate:
            principal = known.certificates.get(name)
            if principal is not None:
                return principal
        raise AccessError(NO_CREDENTIALS)

    def _known(self) -> AccessFile:
        return _EMPTY if self._file is None else self._file.current()

    def _bearer(self, token: str, shown: Presented, known: AccessFile) -> Principal:
        parts, address = parts_of(token), shown.address
        credential = hashlib.sha256(token.encode()).hexdigest() if parts is None else parts[0]
        now = self._clock()
        wait_s = self._failed.wait_s(address, credential, now)
        if wait_s > 0:
            raise AccessError(too_many_failures(wait_s))
        if parts is not None:
            principal = _owner(known, *parts, now)
        else:
            principal = None if self._jwt is None else self._jwt.principal(token, known)
        if principal is None:
            self._failed.failed(address, now)
            raise AccessError(_bad(shown))
        self._failed.succeeded(address, credential)
        return principal

    def still_stands(self, principal: Principal, token: str | None = None) -> bool:
        """Tell whether a principal of the access file, and its token there, still are as they were.

        Args:
            principal: who called.
            token: the token that it showed; None: it showed none.
        """
        if not self.is_configured:
            return True
        known = self._known()
        parts = None if token is None else parts_of(token)
        if parts is not None:
            # Who showed the right secret once need not show it again.
            owner, record = known.tokens.get(parts[0], (None, None))
            return owner == principal and record is not None and record.is_valid(self._clock())
        if token is not None:
            # A JWT ends by itself, and so does what its keys prove.
            return self._jwt is not None and self._jwt.principal(token, known) == principal
        return known.principals.get(principal.name) == principal


def _bad(shown: Presented) -> Problem:
    return BAD_CREDENTIALS if shown.cookie is None else login_ended(shown.cookie)


def _owner(known: AccessFile, own: str, secret: str, now_s: float) -> Principal | None:
    principal, record = known.tokens.get(own, (None, None))
    is_right = matches(record, secret)
    return principal if is_right and record is not None and record.is_valid(now_s) else None
