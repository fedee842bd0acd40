"""Sends a thin client's requests by HTTP on an event loop, without a thread.

A gateway holds a poll until there is news. A client that has something to say meanwhile sends a
newer request on a second connection; whatever the older one still brings is of no use.
"""

import asyncio
import http.client
from collections.abc import Callable
from typing import Final, NamedTuple

from fairlead_client.errors import GatewayError
from fairlead_client.settings.client_settings import Settings
from fairlead_client.settings.gateway_settings import GatewayAddress
from fairlead_client.thin.thin_member import Reply
from fairlead_client.thin.thin_words import Request
from fairlead_client.transport.gateway_faults import connection_fault, reply_of, retry_after_ms
from fairlead_client.transport.gateway_login import GatewayLogin
from fairlead_client.transport.gateway_places import GatewayPlaces

__all__ = ["GatewayStreams"]

_REQUESTS_MAX: Final = 3
CONNECT_SECONDS: Final = 2.0
_BODY_BYTES_MAX: Final = 64 << 20

Report = Callable[[int, Reply], None]


class _Stream(NamedTuple):
    address: GatewayAddress
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class _Answer(NamedTuple):
    status: int
    retry_after: str | None
    data: bytes
    stays: bool


class GatewayStreams:
    """The connections of one client; all calls are on the loop.

    Args:
        settings: the client's settings.
        report: called with the number of a request and its reply.
    """

    def __init__(self, settings: Settings, report: Report) -> None:
        self._login = GatewayLogin(settings)
        self._places = GatewayPlaces(settings.gateways)
        self._report = report
        self._tasks: list[asyncio.Task[None]] = []
        self._idle: list[_Stream] = []

    def send(self, request: Request) -> None:
        """Send a request; it never waits."""
        self._tasks = [task for task in self._tasks if not task.done()]
        while len(self._tasks) >= _REQUESTS_MAX:
            # The one that has waited longest; nobody uses its reply.
            self._tasks.pop(0).cancel()
        self._tasks.append(asyncio.get_running_loop().create_task(self._serve(request)))

    def close(self) -> None:
        """Close every connection."""
        for task in self._tasks:
            task.cancel()
        for stream in self._idle:
            stream.writer.close()
        self._idle = []

    async def _serve(self, request: Request) -> None:
        try:
            reply = await self._reply(request)
        except GatewayError as error:
            reply = error
        self._report(request.number, reply)

    async def _reply(self, request: Request) -> Reply:
        until = asyncio.get_running_loop().time() + request.patience_ms / 1_000
        fault: GatewayError | None = None
        for address in self._places.in_turn():
            kept = next((stream for stream in self._idle if stream.address == address), None)
            if kept is not None:
                self._idle.remove(kept)
                try:
                    return await self._exchange(request, kept, until)
                except (OSError, EOFError) as error:
                    if isinstance(error, TimeoutError):
                        self._places.leave(address)
                        raise connection_fault(address, error) from error
                    # The gateway closes connections that rest; to repeat a request is safe.
            try:
                stream = await self._connect(address)
            except OSError as error:
                # Nothing was sent: the next address may have it.
                fault = connection_fault(address, error)
                continue
            try:
                return await self._exchange(request, stream, until)
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
                self._places.leave(address)
                raise connection_fault(address, error) from error
        assert fault is not None
        raise fault

    async def _connect(self, address: GatewayAddress) -> _Stream:
        context = self._login.context() if address.scheme == "https" else None
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(address.host, address.port, ssl=context)
        return _Stream(address, reader, writer)

    async def _exchange(self, request: Request, stream: _Stream, until: float) -> Reply:
        address = stream.address
        stays = False
        try:
            stream.writer.write(self._head(request, address) + request.body)
            async with asyncio.timeout_at(until):
                await stream.writer.drain()
                answer = await _read_answer(stream.reader)
            stays = answer.stays
        finally:
            # Also if nobody waits any more: half an answer would be in the way of the next one.
            if stays:
                self._idle.append(stream)
            else:
                stream.writer.close()
        if answer.status < http.client.INTERNAL_SERVER_ERROR:
            self._places.stay(address)
        else:
            self._places.leave(address)
        retry_ms = retry_after_ms(answer.retry_after)
        return reply_of(request, address, answer.status, answer.data, retry_ms)

    def _head(self, request: Request, address: GatewayAddress) -> bytes:
        headers = {
            "Host": str(address).partition("://")[2],
            "Content-Type": "application/json",
            "Content-Length": str(len(request.body)),
            **self._login.headers(),
        }
        if request.key:
            headers["Idempotency-Key"] = request.key
        lines = [f"{request.method} {request.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _read_answer(reader: asyncio.StreamReader) -> _Answer:
    """Read one answer.

    Raises:
        EOFError: the connection has ended before.
        ValueError: it is no HTTP.
    """
    while True:
        status, headers = await _read_head(reader)
        if status >= http.client.OK:
            break
    if headers.get("transfer-encoding", "").lower() == "chunked":
        data = await _read_chunks(reader)
    elif status == http.client.NO_CONTENT:
        data = b""
    else:
        data = await reader.readexactly(_size(headers.get("content-length", ""), 10))
    stays = headers.get("connection", "").lower() != "close"
    return _Answer(status, headers.get("retry-after"), data, stays)


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")[:-2]
    version, _, rest = first.partition(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0") or not rest[:3].isdecimal():
        raise ValueError(f"no status line: {first[:80]!r}")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return int(rest[:3]), headers


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    data = bytearray()
    while True:
        line = (await reader.readuntil(b"\r\n")).decode("latin-1")
        size = _size(line.partition(";")[0].strip(), 16)
        if size == 0:
            break
        data += await reader.readexactly(size)
        await reader.readexactly(2)
        if len(data) > _BODY_BYTES_MAX:
            raise ValueError("the answer is too long")
    # Lines may follow the last chunk; an empty one ends them.
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return bytes(data)


def _size(text: str, base: int) -> int:
    size = int(text, base)
    if not 0 <= size <= _BODY_BYTES_MAX:
        raise ValueError(f"no length of an answer: {text[:40]!r}")
    return size
