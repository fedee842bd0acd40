"""The producer: it sends messages to their topics' queues, around slow and dead brokers."""

import asyncio
import os
import random
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from types import TracebackType
from typing import Final, Self, Unpack

from fairlead_client.errors import (
    ClientClosedError,
    ClientStartedError,
    ForkedClientError,
    LifecycleError,
)
from fairlead_client.produce.broker_health import BrokerHealth, BrokerState
from fairlead_client.produce.kafka_sender import KafkaSender
from fairlead_client.produce.outgoing import OutgoingMessage, SendResult, check_message
from fairlead_client.produce.producer_settings import ProducerArguments, ProducerSettings
from fairlead_client.produce.publish_table import PublishTable
from fairlead_client.produce.queue_choice import QueueSelector
from fairlead_client.produce.routes import KafkaRoutes, Routes
from fairlead_client.produce.running_producer import ProducerParts, RunningProducer
from fairlead_client.produce.selector import FairSelector, Selector
from fairlead_client.produce.send_attempts import Mode
from fairlead_client.produce.sender import Sender
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.message_check import check_for_rocketmq
from fairlead_client.rocketmq.name_server_routes import NameServerRoutes
from fairlead_client.rocketmq.rocketmq_selector import Line, RocketMQSelector
from fairlead_client.rocketmq.rocketmq_sender import RocketMQSender
from fairlead_client.session.client_identity import new_client_identity
from fairlead_client.session.observer import ProducerObserver
from fairlead_client.settings.keywords import by_keyword, check_function

RANDOM_MAX: Final = 2**31
CLOSE_TIMEOUT_MS: Final = 5_000
MakeSender = Callable[[ProducerSettings, str], Sender]


class Producer:
    """Sends messages; any number of threads may use it, and asyncio by `asend`.

    Args:
        make_sender: `f(settings, client_id)` returns the Sender of another data plane; None:
            that of `data_plane`.
        observer: receives events; see metrics.ProducerMetrics.
        **settings: see ProducerSettings and the README.

    Raises:
        SettingsError: a setting cannot work.
    """

    @by_keyword("bootstrap")
    def __init__(
        self,
        *,
        make_sender: MakeSender | None = None,
        observer: ProducerObserver | None = None,
        **settings: Unpack[ProducerArguments],
    ) -> None:
        self._settings = ProducerSettings.of(type(self), settings)
        if make_sender is not None:
            check_function(type(self), "make_sender", make_sender, "f(settings, client_id)")
        self.client_id = new_client_identity(self._settings.client_id).client_id
        observer = observer or ProducerObserver()
        self._selector = _selector(self._settings)
        table = PublishTable(_random_start, self._settings.zone, observer.route_unreadable)
        make_own, routes = self._data_plane(table)
        self._parts = ProducerParts(
            self._settings,
            self.client_id,
            table,
            self._selector,
            make_sender or make_own,
            routes,
            observer,
        )
        self._running: RunningProducer | None = None
        self._started = False
        self._starting = Lock()
        self._pid = os.getpid()

    def start(self) -> Self:
        """Connect and read the routes.

        Raises:
            ClientStartedError: the producer was started before.
            StartFailedError: no connection, or no routes within `start_timeout_ms`.
            ForkedClientError: the process forked.
        """
        self._check_process()
        with self._starting:
            if self._started:
                raise ClientStartedError("this producer was started before; create a new one")
            self._started = True
            self._running = RunningProducer(self._parts)
        return self

    def close(self, timeout_ms: int = CLOSE_TIMEOUT_MS) -> None:
        """Wait for unfinished messages for `timeout_ms`, fail the rest, and disconnect."""
        self._check_process()
        with self._starting:
            self._started = True
            running, self._running = self._running, None
        if running is not None:
            running.close(timeout_ms)

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def send(
        self,
        message: OutgoingMessage,
        timeout_ms: int | None = None,
        *,
        selector: QueueSelector | None = None,
    ) -> SendResult:
        """Send a message and wait until a broker acknowledges it.

        Args:
            message: the message.
            timeout_ms: the time for all attempts together; None: `send_timeout_ms`.
            selector: chooses the queue, and the producer tries no other one; see `by_hash`.

        Raises:
            MessageError: the message is not valid; nothing was tried.
            NoRouteError: no bridge, or no name server of RocketMQ, knows its topic.
            RouteError: its topic's route is unreadable.
            NoQueueError: its topic has no queue to write to.
            SendFailedError: no attempt succeeded; the error names every broker tried.
            LifecycleError: the producer is not started, or closed.
        """
        sending = self._checked(message).begin(message, Mode.SYNC, timeout_ms, selector)
        return sending.result()

    def send_async(
        self,
        message: OutgoingMessage,
        timeout_ms: int | None = None,
        *,
        selector: QueueSelector | None = None,
    ) -> Future[SendResult]:
        """Send a message; return at once a future of the result, or of an error as from `send`.

        Raises:
            MessageError: the message is not valid; nothing was tried.
            LifecycleError: the producer is not started, or closed.
        """
        return self._checked(message).begin(message, Mode.ASYNC, timeout_ms, selector)

    async def asend(
        self,
        message: OutgoingMessage,
        timeout_ms: int | None = None,
        *,
        selector: QueueSelector | None = None,
    ) -> SendResult:
        """Send a message without blocking the event loop; it raises what `send` raises."""
        sending = self._checked(message).begin(message, Mode.ASYNC, timeout_ms, selector)
        return await asyncio.wrap_future(sending)

    def send_one_way(self, message: OutgoingMessage) -> None:
        """Send a message once, and do not wait for an answer.

        Raises:
            MessageError: the message is not valid; nothing was tried.
            LifecycleError: the producer is not started, or closed.
        """
        self._checked(message).begin(message, Mode.ONE_WAY, None, None)

    def brokers(self) -> dict[str, BrokerState]:
        """Return the state of each broker that the producer has sent to."""
        self._check_process()
        return self._selector.states()

    def _checked(self, message: OutgoingMessage) -> RunningProducer:
        """Check the producer's state and the message; return the running producer."""
        self._check_process()
        running = self._running
        if running is None:
            if self._started:
                raise ClientClosedError("this producer is closed; create a new one")
            raise LifecycleError("this producer is not started; call start() or use `with`")
        settings = self._settings
        check_message(message, settings.max_message_bytes, delays=settings.is_rocketmq)
        if settings.is_rocketmq:
            check_for_rocketmq(message)
        return running

    def _data_plane(self, table: PublishTable) -> tuple[MakeSender, Routes]:
        """Return what makes the sender, and where the routes come from."""
        settings, selector = self._settings, self._selector

        def refreshed() -> None:
            selector.forget_except(table.brokers())

        if not settings.is_rocketmq:
            return _kafka_sender, KafkaRoutes(settings, self.client_id, table, refreshed)
        brokers = Brokers(settings.rocketmq_settings, table.set_route)
        creates = settings.create_topics
        routes = NameServerRoutes(brokers, table, refreshed, creates=creates)
        return lambda *_: RocketMQSender(brokers, settings.group, creates=creates), routes

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedClientError("the process forked; create the producer in the child")


def _selector(settings: ProducerSettings) -> Selector:
    if settings.selection == "fair":
        health = BrokerHealth(settings.table, settings.attempt_ms)
        return FairSelector(health, avoid=settings.avoid_slow)
    line: Line = "5" if settings.selection == "rocketmq-5" else "4.9"
    return RocketMQSelector(line, settings.table, _random_start, avoid=settings.avoid_slow)


def _random_start() -> int:
    return random.randrange(RANDOM_MAX)  # noqa: S311 - it spreads load and guards nothing


def _kafka_sender(settings: ProducerSettings, client_id: str) -> Sender:
    return KafkaSender(
        settings,
        client_id,
        attempt_timeout_ms=settings.attempt_ms,
        longest_attempt_ms=settings.longest_attempt_ms,
        max_message_bytes=settings.max_message_bytes,
    )
