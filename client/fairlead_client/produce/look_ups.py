"""Looks up a topic for a message's first attempt, within the message's time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Final, Protocol

from fairlead_client.produce.publish_table import Published, PublishTable
from fairlead_client.produce.send_attempts import SendAttempts
from fairlead_client.produce.send_error import NoRouteError, SendingError
from fairlead_client.produce.sender import Sender
from fairlead_client.produce.sending import Sending
from fairlead_client.session.clock import now_ms
from fairlead_client.session.timer import Timer

LOOK_UPS_MAX: Final = 4
"""How many look-ups for asynchronous messages run at a time; further messages wait."""
THREAD_NAME: Final = "fairlead-producer-look-up"
_TURN: Final = "it waited for the look-ups of other topics"
_ROUTE: Final = "nobody answered the request for its route"
_DATA_PLANE: Final = "the data plane does not know it, or does not answer"


NoRoute = Callable[[str, int], NoRouteError]
"""`f(topic, waited_ms)` returns the error of a topic without a route."""


class RouteFinder(Protocol):
    """Finds the route of a topic, as RouteRefresher does."""

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Return a topic's queues; wait for them at most `timeout_ms`."""


class _LookUp:
    """One message's look-up, and its present step."""

    __slots__ = ("attempts", "begun_ms", "ended", "no_route", "sending", "step", "topic")

    def __init__(
        self, sending: Sending, topic: str, attempts: SendAttempts, now: int, no_route: NoRoute
    ) -> None:
        self.sending = sending
        self.topic = topic
        self.attempts = attempts
        self.begun_ms = now
        self.no_route = no_route
        self.step = _TURN
        self.ended = False

    def fail(self, why: str, *, out_of_time: bool = False) -> None:
        """End the message with an error that names the look-up."""
        failed = self.attempts.failure(
            now_ms(), out_of_time=out_of_time, why=f"looking up topic {self.topic!r}: {why}"
        )
        self.sending.give_up(failed)

    def time_out(self) -> None:
        """End the message because its time is over, unless its attempts have begun."""
        if self.ended:
            return
        if self.step is _ROUTE:
            waited_ms = now_ms() - self.begun_ms
            self.sending.give_up(self.no_route(self.topic, waited_ms))
        else:
            self.fail(self.step, out_of_time=True)


class LookUps:
    """Looks up topics that a producer does not know yet, each for one message.

    A message ends when its time is over, even if its look-up still runs: a dead data plane may
    block a look-up for longer than a message has.

    Args:
        table: the known routes.
        finder: finds other routes.
        sender: knows, or finds out, what a sending needs beside the route.
        timer: ends each message when its time is over.
        creates: whether to create a topic that has only the default route.
        no_route: returns the error of a topic without a route.
    """

    def __init__(
        self,
        table: PublishTable,
        finder: RouteFinder,
        sender: Sender,
        timer: Timer,
        *,
        creates: bool,
        no_route: NoRoute = NoRouteError,
    ) -> None:
        self._table = table
        self._finder = finder
        self._sender = sender
        self._timer = timer
        self._creates = creates
        self._no_route = no_route
        self._pool = ThreadPoolExecutor(LOOK_UPS_MAX, THREAD_NAME)

    def knows(self, topic: str) -> bool:
        """Return whether a message to this topic needs no look-up.

        Raises:
            RouteError: the topic's route is unreadable.
        """
        return self._table.find(topic) is not None and self._sender.knows(topic)

    def begin(
        self, sending: Sending, topic: str, attempts: SendAttempts, *, waited_for: bool
    ) -> None:
        """Look a message's topic up in the background, then begin the first attempt.

        Args:
            sending: the message.
            topic: its topic.
            attempts: its attempts and its time.
            waited_for: whether a thread of the application waits; then the look-up has its own
                thread, and waits for no other look-up.
        """
        now = now_ms()
        look_up = _LookUp(sending, topic, attempts, now, self._no_route)
        self._timer.at(now + attempts.left_ms(now), look_up.time_out)
        run = partial(self._run, look_up)
        if waited_for:
            Thread(target=run, name=THREAD_NAME, daemon=True).start()
            return
        with suppress(RuntimeError):  # after `stop`, whose caller ends the message
            self._pool.submit(run)

    def stop(self) -> None:
        """Begin no more look-ups; running ones end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, look_up: _LookUp) -> None:
        if look_up.sending.result.done():
            return
        try:
            self._look_up(look_up)
        except SendingError as error:
            is_late = look_up.attempts.left_ms(now_ms()) == 0
            # If the message's time is over, the error is that of the message.
            why = f"{look_up.step}: {error}" if is_late else str(error)
            look_up.fail(why, out_of_time=is_late)
            return
        except Exception as error:  # noqa: BLE001 - any error ends the message
            look_up.sending.give_up(error)
            return
        if look_up.attempts.left_ms(now_ms()) == 0:
            look_up.time_out()
            return
        look_up.ended = True
        look_up.sending.attempt()

    def _look_up(self, look_up: _LookUp) -> None:
        topic, attempts = look_up.topic, look_up.attempts
        look_up.step = _ROUTE
        published = self._table.find(topic)
        if published is None:
            published = self._finder.look_up(topic, attempts.left_ms(now_ms()))
        look_up.step = _DATA_PLANE
        if look_up.sending.result.done():
            # The message was given up meanwhile: create no topic for it.
            return
        left_ms = attempts.left_ms(now_ms())
        if left_ms > 0 and not self._sender.knows(topic):
            makes = published.is_default and self._creates
            queues = len(published.info.queues) if makes else None
            self._sender.learn(topic, left_ms, queues)
