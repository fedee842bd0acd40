"""The refusals of callers; none of them repeats what a caller has shown."""

import math
from typing import Final

from fairlead.access.cookies import LoginCookie
from fairlead.http.problems import Problem

__all__ = [
    "BAD_CREDENTIALS",
    "NO_CREDENTIALS",
    "TOKEN_IN_URL",
    "AccessError",
    "login_ended",
    "missing_right",
    "too_many",
    "too_many_failures",
]

_CHALLENGE: Final = 'Bearer realm="fairlead"'
_MAKE_ONE: Final = "`fairlead token new` makes one."


class AccessError(Exception):
    """A caller is refused; ``problem`` is the answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


NO_CREDENTIALS: Final = Problem(
    401,
    "no_credentials",
    "The request shows neither a token nor a certificate that is known here.",
    f"Send Authorization: Bearer with a token; {_MAKE_ONE}",
    headers={"www-authenticate": _CHALLENGE},
)
BAD_CREDENTIALS: Final = Problem(
    401,
    "bad_credentials",
    "The token is unknown, wrong, expired or revoked.",
    f"Send Authorization: Bearer with a valid token; {_MAKE_ONE}",
    headers={"www-authenticate": f'{_CHALLENGE}, error="invalid_token"'},
)
TOKEN_IN_URL: Final = Problem(
    400,
    "token_in_url",
    "The URL holds a token; URLs stand in logs.",
    "Revoke that token with `fairlead token revoke`, and send the next one as Authorization: "
    "Bearer.",
)


def login_ended(cookie: LoginCookie) -> Problem:
    """Return the refusal of a token in a cookie, which the browser forgets."""
    return Problem(
        401,
        "bad_credentials",
        "The token of the login is unknown, wrong, expired or revoked.",
        f"Log in again with a valid token; {_MAKE_ONE}",
        headers={
            "www-authenticate": f'{_CHALLENGE}, error="invalid_token"',
            "set-cookie": cookie.ended(),
        },
    )


def missing_right(name: str, right: str, group: str) -> Problem:
    """Return the refusal of a principal without a right."""
    of = "all groups" if group == "*" else f"group {group}"
    return Problem(
        403,
        "missing_right",
        f"{name} lacks the right to {right} {of}.",
        f"Let the access file give {name} {right} for it: "
        f"fairlead token new --principal {name} --right {right} --group '{group}'",
        "group",
    )


def too_many(what: str, setting: str, limit: int, wait_s: float) -> Problem:
    """Return the refusal of a principal above one of its limits.

    Args:
        what: what there are too many of.
        setting: the setting that limits them.
        limit: its value.
        wait_s: after what time another try makes sense.
    """
    return Problem(
        429,
        "too_many_" + setting.rpartition(".")[2],
        f"The principal has reached its limit of {limit} {what}.",
        f"Wait, or raise {setting}, or the principal's own limit in the access file.",
        headers={"retry-after": _seconds(wait_s)},
    )


def too_many_failures(wait_s: float) -> Problem:
    """Return the refusal of an address with too many failed logins."""
    return Problem(
        429,
        "too_many_failures",
        "Too many logins from this address have failed.",
        "Mend the credentials, and wait.",
        headers={"retry-after": _seconds(wait_s)},
    )


def _seconds(wait_s: float) -> str:
    return str(max(1, math.ceil(wait_s)))
