"""Tokens: what a caller holds, and the hash of it that the access file holds.

A token is ``flt_<id>_<secret>``. Its secret has 32 random bytes, so one round of SHA-256 with a
salt is enough: nobody can try them all, and each request costs a microsecond.
"""

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

__all__ = ["TOKEN", "TokenRecord", "matches", "new_token", "parts_of"]

TOKEN: Final = re.compile(r"flt_([a-z0-9]{1,32})_([A-Za-z0-9_-]{20,128})")
_SECRET_BYTES: Final = 32
_SALT_BYTES: Final = 16
_ID_LENGTH: Final = 10
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What the access file has of a token.

    Attributes:
        id: its id, which no secret is.
        salt: 16 random bytes in hexadecimal.
        hash: SHA-256 of salt and secret, in hexadecimal.
        created: when it was made.
        expires: when it ends; None: never.
        note: what it is for.
    """

    id: str
    salt: str
    hash: str
    created: datetime
    expires: datetime | None = None
    note: str | None = None

    def is_valid(self, at_s: float) -> bool:
        """Tell whether it has not ended at a time, in seconds since 1970."""
        return self.expires is None or at_s < self.expires.timestamp()


_UNKNOWN: Final = TokenRecord("", "00" * _SALT_BYTES, "0" * 64, datetime.fromtimestamp(0, UTC))


def new_token(
    created: datetime, expires: datetime | None = None, note: str | None = None
) -> tuple[str, TokenRecord]:
    """Return a new token, and what to write of it."""
    own = "".join(secrets.choice(_LETTERS) for _ in range(_ID_LENGTH))
    secret = base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES)).rstrip(b"=").decode()
    salt = secrets.token_hex(_SALT_BYTES)
    return f"flt_{own}_{secret}", TokenRecord(
        own, salt, _hash(salt, secret), created, expires, note
    )


def parts_of(token: str) -> tuple[str, str] | None:
    """Return the id and the secret of a token; None: it is none."""
    found = TOKEN.fullmatch(token)
    return None if found is None else (found[1], found[2])


def matches(record: TokenRecord | None, secret: str) -> bool:
    """Tell whether a secret is that of a token.

    It takes the same time for every secret, and also for an id that nobody knows (None).
    """
    known = record or _UNKNOWN
    is_same = hmac.compare_digest(_hash(known.salt, secret), known.hash)
    return is_same and record is not None


def _hash(salt: str, secret: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + secret.encode()).hexdigest()
