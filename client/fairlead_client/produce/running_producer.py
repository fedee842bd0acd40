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
from fairlead_client.produce.route_refresher import RouteRefresher
from fairlead_client.produce.selector import Selector
from fairlead_client.produce.send_attempts import Mode, SendAttempts
from fairlead_client.produce.sender import Sender
from fairlead_client.produce.sending import SendContext, Sending
from fairlead_client.session.clock import now_ms
from fairlead_client.session.observer import ProducerObserver
from fairlead_client.session.timer import Timer
from fairlead_client.transport.requester import Requester
from fairlead_client.transport.route_reader import RouteReader


@dataclass(frozen=True, slots=True)
class ProducerParts:
    """The parts that a producer creates before its start."""

    settings: ProducerSettings
    client_id: str
    table: PublishTable
    selector: Selector
    make_sender: Callable[[ProducerSettings, str], Sender]
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
        self._reader = RouteReader(settings, parts.client_id, parts.table.set_route, "producers")
        self._requester = Requester(settings, parts.client_id, settings.group, "producers")
        self._refresher = RouteRefresher(
            parts.table,
            self._reader.read_to_end,
            self._requester.ask,
            lambda: parts.selector.forget_except(parts.table.brokers()),
            lambda: self._requester.lack,
        )
        self._reader.start()
        try:
            self._sender = parts.make_sender(settings, parts.client_id)
        except Exception as error:
            self._stop_routes()
            raise StartFailedError(f"no connection to {settings.bootstrap}: {error}") from error
        if not self._reader.ready.wait(settings.start_timeout_ms / 1_000):
            self._stop_routes()
            self._sender.close(0)
            raise StartFailedError(
                f"the routes were not read within {settings.start_timeout_ms} ms: "
                f"{self._reader.last_error}"
            )
        self._look_ups = LookUps(
            parts.table,
            self._refresher,
            self._sender,
            self._timer,
            creates=settings.create_topics,
            lack=lambda: self._requester.lack,
        )
        self._context = SendContext(
            parts.table,
            parts.selector,
            self._sender,
            self._timer,
            self._refresher.ask,
            parts.observer,
        )
        self._timer.start()
        self._refresher.start()

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
        self._stop_routes()
        self._sender.close(max(0, ends_ms - now_ms()))

    def _ended(self, sending: Sending, _result: Future[SendResult]) -> None:
        with self._changed:
            self._under_way.discard(sending)
            if not self._under_way:
                self._changed.notify_all()

    def _stop_routes(self) -> None:
        self._refresher.stop()
        self._reader.stop()
        self._requester.close()
