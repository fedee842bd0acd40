"""JSON Web Tokens of an identity provider, checked with its public keys."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jwt

from fairlead.access.access_file import AccessFile
from fairlead.access.principals import RIGHTS, Principal, Right
from fairlead.errors import UsageError
from fairlead.http.watched_files import WatchedFiles
from fairlead.settings import JwtSettings

__all__ = ["JsonWebTokens", "JwksError", "read_jwks"]

_KINDS: Final = ("RSA", "EC", "OKP")
_REQUIRED: Final = ("exp", "iss", "aud", "sub")
_KEPT: Final = 10_000
"""How many checked tokens are remembered: checking one costs as much as the rest of a request."""


@dataclass(frozen=True, slots=True)
class _Key:
    public: Any
    algorithm: str | None
    """The only algorithm for which it may be used; None: its kind alone decides."""


_Keys = Mapping[str | None, _Key]


class JwksError(UsageError):
    """The file with the provider's keys is wrong."""


@dataclass(frozen=True, slots=True)
class _Checked:
    subject: str
    globs: tuple[str, ...]
    ends_s: float


class JsonWebTokens:
    """Checks tokens, and says whose they are.

    Args:
        settings: issuer, audience and algorithms.
        keys: the provider's keys.
        clock: seconds since 1970.
    """

    def __init__(
        self, settings: JwtSettings, keys: WatchedFiles[_Keys], clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._clock = clock
        self._checked: OrderedDict[bytes, _Checked] = OrderedDict()
        self._checked_with: _Keys = {}

    def principal(self, token: str, known: AccessFile) -> Principal | None:
        """Return whose token it is; None: it proves nothing, or nobody knows its subject."""
        checked = self._check(token)
        if checked is None:
            return None
        named = known.jwt_subjects.get(checked.subject)
        if named is not None:
            return named
        rights = _rights(checked.globs)
        return Principal(f"jwt:{checked.subject}", rights) if rights else None

    def _check(self, token: str) -> _Checked | None:
        keys = self._keys.current()
        if keys is not self._checked_with:
            # A key that is gone proves nothing any more.
            self._checked.clear()
            self._checked_with = keys
        digest = hashlib.sha256(token.encode()).digest()
        checked = self._checked.get(digest)
        if checked is None:
            checked = self._decoded(token, keys)
            if checked is None:
                return None
            self._checked[digest] = checked
            while len(self._checked) > _KEPT:
                self._checked.popitem(last=False)
        leeway_s = self._settings.leeway_ms / 1_000
        return checked if self._clock() < checked.ends_s + leeway_s else None

    def _decoded(self, token: str, keys: _Keys) -> _Checked | None:
        settings = self._settings
        try:
            header = jwt.get_unverified_header(token)
            key = keys.get(header.get("kid"))
            # Neither the algorithm nor the key is the token's choice.
            algorithm = header.get("alg")
            if key is None or algorithm not in settings.algorithms:
                return None
            if key.algorithm not in (None, algorithm):
                return None
            claims = jwt.decode(
                token,
                key.public,
                algorithms=[algorithm],
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=settings.leeway_ms / 1_000,
                options={"require": list(_REQUIRED)},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            return None
        globs = claims.get(settings.rights_claim) if settings.rights_claim else None
        listed = globs.split() if isinstance(globs, str) else globs
        texts = listed if isinstance(listed, list) else []
        return _Checked(
            claims["sub"],
            tuple(text for text in texts if isinstance(text, str)),
            float(claims["exp"]),
        )


def _rights(globs: tuple[str, ...]) -> dict[Right, tuple[str, ...]]:
    """Return the rights of texts such as ``consume:orders*``; others mean nothing here."""
    rights: dict[Right, tuple[str, ...]] = {}
    for text in globs:
        right, _, glob = text.partition(":")
        if right in RIGHTS and glob:
            rights[right] = (*rights.get(right, ()), glob)
    return rights


def read_jwks(path: Path) -> _Keys:
    """Return the keys of a file, by id; under None the only key of a file with one.

    Raises:
        JwksError: it cannot be read, or a key of it is no public key.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise JwksError(
            f"access.jwt.jwks_file: {path} cannot be read ({error.strerror}).",
            remedy="Name the file with the provider's public keys.",
        ) from error
    except ValueError as error:
        raise _no_jwks(path, "it is no JSON") from error
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise _no_jwks(path, "it has no keys")
    return _keys(path, listed)


def _keys(path: Path, listed: list[Any]) -> _Keys:
    keys: dict[str | None, _Key] = {}
    for index, given in enumerate(listed):
        if not isinstance(given, dict) or given.get("kty") not in _KINDS or "d" in given:
            # With a shared secret or a private key one could make tokens.
            raise _no_jwks(path, f"keys[{index}] is no public key of {', '.join(_KINDS)}")
        if given.get("use", "sig") != "sig":
            continue
        name = given.get("kid")
        if name in keys or (name is None and len(listed) > 1):
            raise _no_jwks(path, f"keys[{index}] has no kid of its own")
        try:
            keys[name] = _Key(jwt.PyJWK(given).key, given.get("alg"))
        except jwt.PyJWTError as error:
            raise _no_jwks(path, f"keys[{index}] cannot be used") from error
    if len(keys) == 1:
        keys[None] = next(iter(keys.values()))
    return keys


def _no_jwks(path: Path, reason: str) -> JwksError:
    return JwksError(
        f"access.jwt.jwks_file: {path}: {reason}.",
        remedy="Write there what the provider's jwks_uri answers.",
    )
