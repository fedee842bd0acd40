"""One message on its way: attempt after attempt, until an acknowledgement or the end."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock

from fairlead_client.errors import FairleadClientError
from fairlead_client.produce.outgoing import OutgoingMessage, SendResult
from fairlead_client.produce.publish_table import PublishTable
from fairlead_client.produce.queue_choice import QueueSelector, choose
from fairlead_client.produce.selector import Selector
from fairlead_client.produce.send_attempts import SendAttempts
from fairlead_client.produce.send_error import Fault, NoRouteError, SendFailedError, SendingError
from fairlead_client.produce.sender import Accepted, Sender
from fairlead_client.produce.target import Target
from fairlead_client.session.clock import now_ms
from fairlead_client.session.observer import ProducerObserver
from fairlead_client.session.timer import Timer

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SendContext:
    """The parts that all messages of a producer share.

    Attributes:
        table: the topics' queues.
        selector: chooses queues, and learns.
        sender: does one attempt.
        timer: calls functions later.
        ask_route: asks for a topic's route again, without waiting.
        observer: receives events.
        no_route: returns the error of a topic without a route.
    """

    table: PublishTable
    selector: Selector
    sender: Sender
    timer: Timer
    ask_route: Callable[[str], None]
    observer: ProducerObserver
    no_route: Callable[[str, int], NoRouteError] = NoRouteError


class Sending:
    """Drives the retry loop of one message; each attempt ends on another thread.

    Attributes:
        result: where the message is, or the final error.
    """

    def __init__(
        self,
        context: SendContext,
        message: OutgoingMessage,
        attempts: SendAttempts,
        choice: QueueSelector | None,
    ) -> None:
        self._context = context
        self._message = message
        self._attempts = attempts
        self._choice = choice
        self._lock = Lock()
        self._number = 0
        self._target: Target | None = None
        self.result: Future[SendResult] = Future()

    def attempt(self) -> None:
        """Begin the next attempt unless the message has ended; `result` gets a final error."""
        if self.result.done():
            return
        context, now = self._context, now_ms()
        try:
            target = self._select(now)
            timeout_ms = self._attempts.begin(target, now)
            self._target = target
            number = self._number
            ended = context.sender.send(target, self._message, timeout_ms)
            context.timer.at(now + timeout_ms, partial(self._time_out, number, timeout_ms, ended))
        except SendFailedError as final:
            self.give_up(final)
        except Exception as error:  # noqa: BLE001 - any error of a sender ends the message
            self.give_up(self._final(error))
        else:
            ended.add_done_callback(partial(self._ended, number))

    def give_up(self, error: Exception) -> None:
        """End the message with this error, unless it has ended."""
        with suppress(InvalidStateError):
            self.result.set_exception(error)
            self._notify(self._context.observer.failed)

    def _final(self, error: Exception) -> Exception:
        """Return the error, or one that also names the brokers tried before."""
        if not self._attempts.number:
            return error
        final = self._attempts.failure(now_ms(), why=f"{type(error).__name__}: {error}")
        final.__cause__ = error
        return final

    def _select(self, now: int) -> Target:
        topic = self._message.topic
        published = self._context.table.find(topic)
        if published is None:
            raise self._context.no_route(topic, 0)
        turns = published.turns
        if self._choice is None:
            return self._context.selector.select(turns, self._attempts.tried, now)
        queue = choose(self._choice, published.info.queues)
        return next(target for target in turns.targets if target.queue == queue)

    def _is_current(self, number: int) -> bool:
        """End the attempt with this number; False if it has ended already."""
        with self._lock:
            if number != self._number:
                return False
            self._number += 1
            return True

    def _time_out(self, number: int, timeout_ms: int, ended: Future[Accepted]) -> None:
        if self._is_current(number):
            # A message that has not left yet must not leave.
            ended.cancel()
            fault = self._attempts.silent(now_ms())
            self._failed(SendingError(fault, f"no answer within {timeout_ms} ms"))

    def _ended(self, number: int, ended: Future[Accepted]) -> None:
        if ended.cancelled() or not self._is_current(number):
            return
        error = ended.exception()
        if error is None:
            self._accepted(ended.result())
        elif isinstance(error, SendingError):
            self._failed(error)
        else:
            self._failed(SendingError(Fault.REFUSED, f"{type(error).__name__}: {error}"))

    def _accepted(self, accepted: Accepted) -> None:
        target = self._target
        assert target is not None
        now = now_ms()
        latency_ms = self._attempts.took_ms(now)
        avoided_ms = self._context.selector.succeeded(accepted.broker, latency_ms, now_ms=now)
        if accepted.broker != target.broker:
            self._context.table.set_leader(target.queue, accepted.broker)
        observer = self._context.observer
        self._notify(observer.attempt_succeeded, accepted.broker, latency_ms)
        self._notify(observer.avoided, accepted.broker, avoided_ms)
        with suppress(InvalidStateError):
            self.result.set_result(SendResult(target.queue, *accepted))
            self._notify(observer.acknowledged, self._attempts.number + 1)

    def _notify(self, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of the observer; an error of it must not stop the message."""
        try:
            method(*arguments)
        except Exception:
            logger.exception("the producer's observer raised")

    def _failed(self, error: SendingError) -> None:
        target = self._target
        assert target is not None
        context, now = self._context, now_ms()
        broker = error.broker or target.broker
        latency_ms = self._attempts.took_ms(now)
        self._notify(context.observer.attempt_failed, broker, latency_ms, error.fault.value)
        if broker is not None and error.fault.isolates:
            reachable = error.fault is not Fault.UNREACHABLE
            avoided_ms = context.selector.failed(
                broker, latency_ms, reachable=reachable, now_ms=now
            )
            self._notify(context.observer.avoided, broker, avoided_ms)
        if error.fault is Fault.NOT_LEADER:
            context.ask_route(self._message.topic)
        try:
            pause_ms = self._attempts.failed(error, now)
        except FairleadClientError as final:
            self.give_up(final)
            return
        # On the timer's thread, because this one may be the sender's own.
        context.timer.at(now + pause_ms, self.attempt)
