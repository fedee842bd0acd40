"""Who this client is for a gateway: its token, read again when its file changes, and its TLS."""

import ssl
from pathlib import Path
from typing import NamedTuple

from fairlead_client.errors import GatewayError
from fairlead_client.settings.client_settings import Settings

__all__ = ["GatewayLogin"]


class _Stamp(NamedTuple):
    changed_ns: int
    file: int
    size: int


class GatewayLogin:
    """Gives each request its token, and each new connection its TLS.

    Args:
        settings: the client's settings.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = settings.token
        self._token_stamp: _Stamp | None = None
        self._context: ssl.SSLContext | None = None
        self._context_stamps: tuple[_Stamp | None, ...] | None = None

    def headers(self) -> dict[str, str]:
        """Return the headers of a request that say who sends it.

        Raises:
            GatewayError: the token's file cannot be read, or has no token.
        """
        file = self._settings.token_file
        if file is not None:
            self._read_token(file)
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}

    def context(self) -> ssl.SSLContext:
        """Return the TLS of a new connection; files that have changed count at once.

        Raises:
            GatewayError: a file is no certificate, or no key.
        """
        settings = self._settings
        files = settings.gateway_ca_file, settings.gateway_cert_file, settings.gateway_key_file
        stamps = tuple(None if file is None else _stamp(file) for file in files)
        if self._context is None or stamps != self._context_stamps:
            self._context = _context(*files)
            self._context_stamps = stamps
        return self._context

    def _read_token(self, file: str) -> None:
        stamp = _stamp(file)
        if stamp is not None and stamp == self._token_stamp:
            return
        try:
            token = Path(file).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token is not None:
                # It is just being replaced; the former token may still be valid.
                return
            words = f"token_file: {file} cannot be read ({error})"
            raise GatewayError(
                f"{words}; give a file that this user may read", kind="token"
            ) from error
        if not token or not token.isprintable() or " " in token:
            if self._token is None:
                raise GatewayError(
                    f"token_file: {file} has no token; write the token into it, and nothing else",
                    kind="token",
                )
            return
        self._token, self._token_stamp = token, stamp


def _stamp(file: str) -> _Stamp | None:
    try:
        known = Path(file).stat()
    except OSError:
        return None
    return _Stamp(known.st_mtime_ns, known.st_ino, known.st_size)


def _context(ca: str | None, cert: str | None, key: str | None) -> ssl.SSLContext:
    field = "gateway_ca_file"
    try:
        context = ssl.create_default_context(cafile=ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        field = "gateway_cert_file"
        if cert is not None:
            context.load_cert_chain(cert, key, password=_no_password)
    except (OSError, ValueError) as error:
        words = f"{field}: it is not usable ({error})"
        raise GatewayError(
            f"{words}; give PEM files, the key without a password", kind="certificate"
        ) from error
    return context


def _no_password() -> str:
    raise ValueError("the key has a password")
