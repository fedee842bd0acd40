"""Encrypted connections: their certificates are read again, and their handshakes are bounded.

Uvicorn would give asyncio one context for the life of the server, and asyncio would wait a minute
for a handshake, in any number. Here each connection asks for the context in force, and a handshake
counts as a request that is not complete.
"""

import asyncio
import importlib
import ssl
from collections.abc import Callable
from typing import Any, Final

import structlog

from fairlead.errors import UsageError
from fairlead.http.connections import READ_BYTES, BoundedConnection, Crowd
from fairlead.http.watched_files import WatchedFiles
from fairlead.settings import TlsSettings

__all__ = ["TlsDoor", "TlsError", "tls_contexts"]

_CLOSE_S: Final = 2.0
"""How long a caller may take to end its encryption."""

log = structlog.get_logger()


class TlsError(UsageError):
    """A certificate, a key or an authority cannot be used."""


def tls_contexts(
    settings: TlsSettings, told: Callable[[str], None] = lambda _: None
) -> WatchedFiles[ssl.SSLContext] | None:
    """Return the context in force, at each time; None: connections are plain.

    ``told`` is called for each new content of the files that is bad.

    Raises:
        TlsError: the files cannot be used now.
    """
    if settings.certfile is None or settings.keyfile is None:
        return None
    authorities = [settings.client_cafile] if settings.client_cafile else []
    if authorities:
        # Callers show certificates: the first of them shall not wait for the library.
        importlib.import_module("cryptography.x509")
    files = [settings.certfile, settings.keyfile, *authorities]
    return WatchedFiles("tls", files, lambda: _context(settings), told)


def _context(settings: TlsSettings) -> ssl.SSLContext:
    certificate, key, authorities = settings.certfile, settings.keyfile, settings.client_cafile
    assert certificate is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        # Without a password OpenSSL would ask the terminal for one.
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:
        raise TlsError(
            f"tls.certfile, tls.keyfile: {certificate} and {key} cannot be used ({_words(error)}).",
            remedy="Give a certificate and its own key, both as PEM and without a password.",
        ) from error
    if authorities is not None:
        try:
            context.load_verify_locations(authorities)
        except (OSError, ValueError) as error:
            raise TlsError(
                f"tls.client_cafile: {authorities} cannot be used ({_words(error)}).",
                remedy="Give the certificates of the authorities as PEM.",
            ) from error
        is_required = settings.client_certificate_required
        context.verify_mode = ssl.CERT_REQUIRED if is_required else ssl.CERT_OPTIONAL
    return context


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "it is no PEM").replace("_", " ").lower()
    return (error.strerror or "unreadable") if isinstance(error, OSError) else str(error)


class TlsDoor(asyncio.Protocol):
    """Waits for the handshake of a connection, then lets that begin.

    Args:
        connection: makes the connection behind it.
        crowd: the limits that both share.
        context: returns the context in force.
        made: what uvicorn gives to a connection.
    """

    def __init__(
        self,
        connection: Callable[..., BoundedConnection],
        crowd: Crowd,
        context: Callable[[], ssl.SSLContext],
        **made: Any,
    ) -> None:
        self._inside = connection(**made)
        self._crowd = crowd
        self._context = context
        self._connections: set[Any] = made["server_state"].connections
        self._transport: asyncio.Transport | None = None
        self._handshake: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake; if there are too many connections, close another one."""
        assert isinstance(transport, asyncio.Transport)
        # What comes now belongs to the handshake.
        transport.pause_reading()
        self._transport = transport
        self._connections.add(self)
        self._crowd.waiting[self] = None
        self._crowd.make_room(self._connections)
        if not transport.is_closing():
            self._handshake = asyncio.ensure_future(self._open(transport))

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place."""
        del exc
        self._leave()

    def drop(self) -> None:
        """Close the connection at once, and free its place."""
        self._leave()
        if self._transport is not None:
            self._transport.abort()

    def shutdown(self) -> None:
        """Close the connection, since the server stops."""
        self.drop()

    async def _open(self, transport: asyncio.Transport) -> None:
        early, secure = _Early(), None
        loop = asyncio.get_running_loop()
        try:
            secure = await loop.start_tls(
                transport,
                early,
                self._context(),
                server_side=True,
                ssl_handshake_timeout=self._crowd.patience_s,
                ssl_shutdown_timeout=_CLOSE_S,
            )
        except OSError as error:
            # Scanners and plain HTTP end here, so it is no warning.
            log.debug("tls_handshake_failed", reason=_words(error))
        finally:
            # Whatever went wrong, nobody else would close this connection.
            if secure is None:
                self.drop()
        if secure is None:
            return
        self._leave()
        if secure.is_closing() or early.is_lost:
            transport.abort()
            return
        secure.set_protocol(self._inside)
        self._inside.connection_made(secure)
        for place in range(0, len(early.data), READ_BYTES):
            self._inside.data_received(early.data[place : place + READ_BYTES])

    def _leave(self) -> None:
        self._connections.discard(self)
        self._crowd.waiting.pop(self, None)


class _Early(asyncio.Protocol):
    """Keeps what comes in one piece with the end of the handshake."""

    def __init__(self) -> None:
        self.data = b""
        self.is_lost = False

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.is_lost = True
