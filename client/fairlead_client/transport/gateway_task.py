"""The task of an event loop that keeps a member in its group through a gateway.

No thread does what it does: whoever blocks the loop for longer than the lease loses the lease.
"""

import asyncio
from contextlib import suppress
from typing import Final

from fairlead_client.session.application import Application
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings
from fairlead_client.thin.thin_member import Reply
from fairlead_client.thin.thin_words import Request
from fairlead_client.transport.gateway_control import Answer, GatewayControl, Message
from fairlead_client.transport.gateway_streams import GatewayStreams
from fairlead_client.transport.offset_store import OffsetStore

__all__ = ["GatewayTask"]

MESSAGES_PER_TURN_MAX: Final = 1_000


class GatewayTask(GatewayControl):
    """Keeps one member in its group, on an event loop; any thread may call its methods."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: Settings,
        identity: ClientIdentity,
        application: Application,
        *,
        store: OffsetStore | None,
        observer: Observer,
    ) -> None:
        self._loop = loop
        self._inbox: asyncio.Queue[Message] = asyncio.Queue()
        super().__init__(settings, identity, application, store=store, observer=observer)
        self._streams = GatewayStreams(settings, self._answered)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to join."""
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._task = self._loop.create_task(self._run(), name="fairlead-session")

    def _put(self, message: Message) -> None:
        # A loop that has ended needs no message: its lease ends by itself.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._inbox.put_nowait, message)

    def _request(self, request: Request) -> None:
        self._streams.send(request)

    def _close_connections(self) -> None:
        self._streams.close()

    def _answered(self, number: int, reply: Reply) -> None:
        self._inbox.put_nowait(Answer(number, reply))

    async def _run(self) -> None:
        """Serve until the session is closed, somebody aborts the client, or a bug ends it."""
        try:
            self.begin()
            wait_s = 0.0
            while not self.is_over:
                await self._take_all(wait_s)
                wait_s = self.turn()
        except Exception as error:  # noqa: BLE001 - whatever it was, the client stops
            self.fail(error)
        finally:
            self.end()

    async def _take_all(self, wait_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                self.take(await self._inbox.get())
        for _ in range(MESSAGES_PER_TURN_MAX):
            if self._inbox.empty():
                break
            self.take(self._inbox.get_nowait())
        # Time has passed, and the application may have made progress.
        self.take(None)
