"""A started producer: its threads and connections, from the first message to the last."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Condition

from fairlead_client.errors import ClientClosedError, StartFailedError
from fairlead_client.produce.look_ups import LookUps
from fairlead_client.produce.outgoing import OutgoingMessage, SendResult
from fairlead_client.produce.producer_settings import ProducerSettings
from fairlead_client.produce.publish_table import PublishTable
from fairlead_client.produce.queue_choice import QueueSelector
from fairlead_client.produce.routes import Routes
from fairlead_client.produce.selector import Selector
from fairlead_client.produce.send_attempts import Mode, SendAttempts
from fairlead_client.produce.sender import Sender
from fairlead_client.produce.sending import SendContext, Sending
from fairlead_client.session.clock import now_ms
from fairlead_client.session.observer import ProducerObserver
from fairlead_client.session.timer import Timer


@dataclass(frozen=True, slots=True)
class ProducerParts:
    """The parts that a producer creates before its start."""

    settings: ProducerSettings
    client_id: str
    table: PublishTable
    selector: Selector
    make_sender: Callable[[ProducerSettings, str], Sender]
    routes: Routes
    observer: ProducerObserver


class RunningProducer:
    """The threads and connections of a started producer.

    Raises:
        StartFailedError: no connection, or no routes within `start_timeout_ms`.
    """

    def __init__(self, parts: ProducerParts) -> None:
        settings = parts.settings
        self._settings = settings
        self._open = True
        self._under_way: set[Sending] = set()
        self._changed = Condition()
        self._timer = Timer("fairlead-producer-timer")
        self._routes = parts.routes
        self._routes.start()
        try:
            self._sender = parts.make_sender(settings, parts.client_id)
        except Exception as error:
            self._routes.stop()
            raise StartFailedError(f"no connection to {settings.where}: {error}") from error
        try:
            self._routes.await_ready(settings.start_timeout_ms)
        except StartFailedError:
            self._routes.stop()
            self._sender.close(0)
            raise
        self._look_ups = LookUps(
            parts.table,
            self._routes,
            self._sender,
            self._timer,
            creates=settings.create_topics,
            no_route=self._routes.no_route,
        )
        self._context = SendContext(
            parts.table,
            parts.selector,
            self._sender,
            self._timer,
            self._routes.ask,
            parts.observer,
            self._routes.no_route,
        )
        self._timer.start()

    def begin(
        self,
        message: OutgoingMessage,
        mode: Mode,
        timeout_ms: int | None,
        choice: QueueSelector | None,
    ) -> Future[SendResult]:
        """Begin to send a checked message, without waiting.

        Raises:
            ClientClosedError: the producer was closed meanwhile.
            RouteError: the topic's route is unreadable.
            TopicNameError: Kafka has another topic under this name.
        """
        settings = self._settings
        once = mode is Mode.ONE_WAY or choice is not None
        attempts = SendAttempts(
            attempts_max=1 if once else 1 + settings.retries,
            timeout_ms=settings.send_timeout_ms if timeout_ms is None else timeout_ms,
            attempt_timeout_ms=settings.attempt_timeout_ms,
            begun_ms=now_ms(),
        )
        sending = Sending(self._context, message, attempts, choice)
        is_known = self._look_ups.knows(message.topic)
        with self._changed:
            if not self._open:
                raise ClientClosedError("this producer is closed; create a new one")
            self._under_way.add(sending)
        sending.result.add_done_callback(partial(self._ended, sending))
        if is_known:
            sending.attempt()
        else:
            waited_for = mode is Mode.SYNC
            self._look_ups.begin(sending, message.topic, attempts, waited_for=waited_for)
        return sending.result

    def close(self, timeout_ms: int) -> None:
        """Wait for unfinished messages for `timeout_ms`, fail the rest, and disconnect."""
        ends_ms = now_ms() + timeout_ms
        with self._changed:
            self._open = False
            self._changed.wait_for(lambda: not self._under_way, timeout_ms / 1_000)
            left = list(self._under_way)
        for sending in left:
            sending.give_up(ClientClosedError("the producer was closed before an answer came"))
        self._timer.stop()
        self._look_ups.stop()
        self._routes.stop()
        self._sender.close(max(0, ends_ms - now_ms()))

    def _ended(self, sending: Sending, _result: Future[SendResult]) -> None:
        with self._changed:
            self._under_way.discard(sending)
            if not self._under_way:
                self._changed.notify_all()
