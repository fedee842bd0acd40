"""A small TCP balancer in a thread: it forwards each connection to a server that lives."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Sequence
from typing import Final, Self

__all__ = ["TcpBalancer"]

_CHUNK: Final = 65_536
_HOST: Final = "127.0.0.1"
_SECONDS_MAX: Final = 10.0


class TcpBalancer:
    """Forwards connections in turn; one that is refused goes to the next server.

    A connection ends when its server ends, as with any balancer of TCP: its client hears of it.

    Args:
        ports: the servers' ports on this machine.

    Attributes:
        port: its own port, as soon as it is entered.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self.port = 0
        self._ports = tuple(ports)
        self._turn = itertools.count()
        self._open: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._listens, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="balancer", daemon=True)

    def __enter__(self) -> Self:
        """Begin to forward."""
        self._thread.start()
        assert self._listens.wait(_SECONDS_MAX), "a socket on loopback takes no time"
        return self

    def __exit__(self, *_exception: object) -> None:
        """End all connections."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_SECONDS_MAX)

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, _HOST, 0)
        self.port = server.sockets[0].getsockname()[1]
        self._listens.set()
        await self._stop.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        with contextlib.suppress(asyncio.CancelledError):
            await self._forward(reader, writer)
        writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = next(self._turn)
        for number in range(len(self._ports)):
            port = self._ports[(first + number) % len(self._ports)]
            try:
                answers, asks = await asyncio.open_connection(_HOST, port)
            except OSError:
                continue
            pumps = [
                asyncio.ensure_future(_pump(*each)) for each in ((reader, asks), (answers, writer))
            ]
            try:
                # Whichever side ends first ends both: nobody sends half of a request here.
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
                asks.close()
            return


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(_CHUNK):
            sink.write(data)
            await sink.drain()
