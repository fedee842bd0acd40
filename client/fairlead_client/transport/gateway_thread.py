"""The thread that keeps a member in its group through a gateway.

It waits neither for the gateway nor for the application.
"""

from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final

from fairlead_client.session.application import Application
from fairlead_client.session.client_identity import ClientIdentity
from fairlead_client.session.observer import Observer
from fairlead_client.settings.client_settings import Settings
from fairlead_client.thin.thin_member import Reply
from fairlead_client.thin.thin_words import Request
from fairlead_client.transport.gateway_control import Answer, GatewayControl, Message
from fairlead_client.transport.gateway_lanes import GatewayLanes
from fairlead_client.transport.offset_store import OffsetStore

__all__ = ["GatewayThread"]

MESSAGES_PER_TURN_MAX: Final = 1_000


class GatewayThread(GatewayControl):
    """Keeps one member in its group, on a thread of its own."""

    def __init__(
        self,
        settings: Settings,
        identity: ClientIdentity,
        application: Application,
        *,
        store: OffsetStore | None,
        observer: Observer,
    ) -> None:
        self._inbox: SimpleQueue[Message] = SimpleQueue()
        super().__init__(settings, identity, application, store=store, observer=observer)
        self._lanes = GatewayLanes(settings, self._answered)
        self._thread = Thread(target=self._run, name="fairlead-session", daemon=True)

    def start(self) -> None:
        """Begin to join."""
        self._thread.start()

    def _put(self, message: Message) -> None:
        self._inbox.put(message)

    def _request(self, request: Request) -> None:
        self._lanes.send(request)

    def _close_connections(self) -> None:
        self._lanes.close()

    def _answered(self, number: int, reply: Reply) -> None:
        self._inbox.put(Answer(number, reply))

    def _run(self) -> None:
        """Serve until the session is closed, somebody aborts the client, or a bug ends it."""
        try:
            self.begin()
            wait_s = 0.0
            while not self.is_over:
                self._take_all(wait_s)
                wait_s = self.turn()
        except Exception as error:  # noqa: BLE001 - whatever it was, the client stops
            self.fail(error)
        finally:
            self.end()

    def _take_all(self, wait_s: float) -> None:
        try:
            self.take(self._inbox.get(timeout=wait_s))
            for _ in range(MESSAGES_PER_TURN_MAX):
                self.take(self._inbox.get_nowait())
        except Empty:
            # Time has passed, and the application may have made progress.
            self.take(None)
