"""The consumer for asyncio: an asynchronous iterator over the messages of its queues."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from fairlead_client.consumer import Consumer
from fairlead_client.errors import SettingsError
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.observer import Observer
from fairlead_client.session.waiting_log import Waiting
from fairlead_client.settings.client_settings import Settings, SettingsArguments
from fairlead_client.settings.keywords import by_keyword
from fairlead_client.transport.control_thread import ControlThread
from fairlead_client.transport.gateway_task import GatewayTask
from fairlead_client.transport.offset_store import OffsetStore
from fairlead_client.transport.tags import TAG_HEADER

__all__ = ["AsyncConsumer"]

_Any = TypeVar("_Any")


class AsyncConsumer:
    """Joins a group through a gateway, and hands out messages, each queue in order.

    It is a `Consumer` for asyncio: when you ask for the next message, the one before counts as
    processed; with `explicit_done` only `done(message)` counts. What keeps it in its group runs on
    the event loop, without a thread. kafka-python's fetches run on one thread of its own, and its
    commits on another. A cancelled task leaves the group in order; the message in hand is read
    again.

    Its methods are for the loop that it was started on; any thread may call `still_mine` and
    `stop`.

    Args:
        explicit_done: whether only `done` finishes a message.
        tag_header: the Kafka header that holds a message's tag.
        offset_store: where to commit positions instead of Kafka's group offsets.
        observer: receives events, such as a ClientMetrics.
        settings: see `Settings`; `gateway` is required.

    Raises:
        SettingsError: a setting cannot work.
    """

    @by_keyword("topics", "group", "bootstrap", "gateway")
    def __init__(
        self,
        *,
        explicit_done: bool = False,
        tag_header: str = TAG_HEADER,
        offset_store: OffsetStore | None = None,
        observer: Observer | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        if not Settings.of(type(self), settings).gateways:
            remedy = 'give gateway="https://host:port", or use Consumer on a thread'
            raise SettingsError("gateway", "AsyncConsumer needs it", remedy)
        self._consumer = _LoopConsumer(
            explicit_done=explicit_done,
            tag_header=tag_header,
            offset_store=offset_store,
            observer=observer,
            **settings,
        )
        self._fetching = ThreadPoolExecutor(1, thread_name_prefix="fairlead-fetch")
        self._pending: asyncio.Future[Message | None] | None = None

    def __repr__(self) -> str:
        """Return the client's names and state, without secrets."""
        return f"<AsyncConsumer {self._consumer.names}: {self.state}>"

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close; unless the block raised, the message in hand counts as processed.

        A second cancellation does not wait; the client then goes on to leave by itself.
        """
        if kind is None and self._pending is None:
            self._consumer.finish_last()
        await asyncio.shield(asyncio.ensure_future(self.close()))

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Yield messages until `stop` or `close`; raise the error that closed the client."""
        while not self._consumer.is_asked_to_stop:
            message = await self.poll()
            if message is not None:
                yield message
            elif self._consumer.is_over:
                return
        if self._pending is None:
            self._consumer.finish_last()

    async def start(self) -> None:
        """Join the group; return when it has its first lease, and is connected to the data.

        Raises:
            StartFailedError: not joined within `start_timeout_ms`; `__cause__` is the last error.
        """
        self._consumer.loop = asyncio.get_running_loop()
        starting = self._on_thread(self._consumer.start)
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            self.stop()
            await asyncio.wait([starting])
            await self.close()
            raise
        except BaseException:
            self._fetching.shutdown(wait=False)
            raise

    async def poll(self, timeout_ms: int = 1_000) -> Message | None:
        """Return the next message, or None if none comes within `timeout_ms`.

        A cancelled call takes nothing: the next call returns what came meanwhile.

        Raises:
            FairleadClientError: as from `Consumer.poll`.
        """
        # Others on the loop have their turn, however many messages are there.
        await asyncio.sleep(0)
        if self._pending is None:
            message = self._consumer.poll_fetched()
            if message is not None:
                return message
            self._pending = self._on_thread(self._consumer.poll, timeout_ms)
        try:
            message = await asyncio.shield(self._pending)
        except asyncio.CancelledError:
            # The fetch goes on, and may bring a message, which the next call returns.
            raise
        except BaseException:
            self._pending = None
            raise
        self._pending = None
        return message

    def done(self, message: Message) -> bool:
        """Report that this message is processed; return whether that counts."""
        return self._consumer.done(message)

    def stop(self) -> None:
        """Begin to leave; the iteration ends at its next turn. A signal handler may call it."""
        self._consumer.stop()

    async def close(self, timeout_ms: int | None = None) -> None:
        """Leave the group; a message that no call of `poll` has returned is read again."""
        self._consumer.stop()
        if self._pending is not None:
            await asyncio.wait([self._pending])
            self._consumer.drop_last()
        await self._on_thread(self._consumer.close, timeout_ms)
        self._fetching.shutdown(wait=False)

    def subscribe(self, topics: Sequence[str | Subscription]) -> None:
        """Change the subscription and its filters; the client tells the engine at once."""
        self._consumer.subscribe(topics)

    def still_mine(self, queue: Queue) -> Epoch | None:
        """Return the queue's epoch while this client may work on it, else None."""
        return self._consumer.still_mine(queue)

    @property
    def client_id(self) -> str:
        """This client's id, unique in its group."""
        return self._consumer.client_id

    @property
    def state(self) -> str:
        """`new`, `starting`, `running`, `leaving`, `fenced` or `closed`."""
        return self._consumer.state

    @property
    def stopping(self) -> bool:
        """Whether the client leaves or is closed; a loop that polls should end then."""
        return self._consumer.stopping

    @property
    def assigned(self) -> Mapping[Queue, Epoch]:
        """The queues that the client works on now, each with its epoch."""
        return self._consumer.assigned

    @property
    def waiting_for(self) -> Waiting | None:
        """Why the client waits for queues; None: it has all it was promised, or does not run."""
        return self._consumer.waiting_for

    @property
    def last_error(self) -> Exception | None:
        """The last error of the client; it stays after the trouble is over."""
        return self._consumer.last_error

    @property
    def last_error_ms(self) -> int | None:
        """When the last error happened, in ms since 1970."""
        return self._consumer.last_error_ms

    @property
    def counts(self) -> Mapping[str, int]:
        """Counts of events, as of `Consumer`."""
        return self._consumer.counts

    def _on_thread(self, call: Callable[..., _Any], *arguments: Any) -> asyncio.Future[_Any]:
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._fetching, call, *arguments)


class _LoopConsumer(Consumer):
    """A Consumer that a task of an event loop keeps in its group."""

    loop: asyncio.AbstractEventLoop

    @property
    def names(self) -> str:
        """The client and its group."""
        return f"{self.client_id} of {self._settings.group}"

    @property
    def is_asked_to_stop(self) -> bool:
        """Whether the application has asked it to stop."""
        return self._stopping

    @property
    def is_over(self) -> bool:
        """Whether no message will come."""
        return self._in_flight.over

    def poll_fetched(self) -> Message | None:
        """Return the next message that is fetched already; None: none is."""
        if self._thread is None or self._stopping or self._in_flight.over:
            return None
        self._finish_last()
        self._last = self._next_fetched()
        return self._last

    def finish_last(self) -> None:
        """Note that the message in hand is processed, unless only `done` says so."""
        self._finish_last()

    def drop_last(self) -> None:
        """Forget the message in hand: nobody has seen it."""
        self._last = None

    def _gateway_thread(self, store: OffsetStore | None) -> ControlThread:
        return GatewayTask(
            self.loop,
            self._settings,
            self._identity,
            self._application(),
            store=store,
            observer=self._observer,
        )
