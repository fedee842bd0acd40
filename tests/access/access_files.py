"""Access files, tokens and clocks for the tests of who may call."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fairlead.access.authenticator import Authenticator
from fairlead.access.tokens import TokenRecord, new_token
from fairlead.settings import AccessSettings, load_settings

__all__ = ["NOW", "Clock", "access_settings", "authenticator", "made_token", "principal_text"]

NOW = datetime(2026, 5, 1, tzinfo=UTC)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = NOW.timestamp()

    def __call__(self) -> float:
        """Return the time, in seconds since 1970."""
        return self.now_s


def access_settings(path: Path | None = None, **other: Any) -> AccessSettings:
    """Return `[access]` with this file."""
    given = load_settings().access.model_dump()
    jwt = {**given["jwt"], **other.pop("jwt", {})}
    return AccessSettings.model_validate({**given, "file": path, "jwt": jwt, **other})


def authenticator(
    path: Path | None = None, clock: Clock | None = None, **other: Any
) -> Authenticator:
    """Return an authenticator over this file."""
    return Authenticator(access_settings(path, **other), clock=clock or Clock())


def made_token(expires_s: float | None = None) -> tuple[str, TokenRecord]:
    """Return a token and its record; it ends so many seconds after `NOW`."""
    ends = None if expires_s is None else NOW + timedelta(seconds=expires_s)
    return new_token(NOW, ends)


def principal_text(name: str, *lines: str, token: TokenRecord | None = None) -> str:
    """Return a principal as the file has it."""
    text = "\n".join(["[[principal]]", f'name = "{name}"', *lines, ""])
    if token is not None:
        text += "[[principal.token]]\n"
        text += f'id = "{token.id}"\nsalt = "{token.salt}"\nhash = "{token.hash}"\n'
        text += f"created = {token.created.isoformat()}\n"
        if token.expires is not None:
            text += f"expires = {token.expires.isoformat()}\n"
    return text + "\n"
