"""Looks up what a message's first attempt needs, within the time that the message has."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Final, Protocol

from fairlead_client.errors import NotAllowedError
from fairlead_client.produce.publish_table import Published, PublishTable
from fairlead_client.produce.send_attempts import SendAttempts
from fairlead_client.produce.send_error import NoRouteError, SendingError
from fairlead_client.produce.sender import Sender
from fairlead_client.produce.sending import Sending
from fairlead_client.session.clock import now_ms
from fairlead_client.session.timer import Timer

LOOK_UPS_MAX: Final = 4
"""So many look-ups that nobody waits for are under way at a time; further messages wait."""
THREAD_NAME: Final = "fairlead-producer-look-up"
_TURN: Final = "other topics were looked up before it"
_ROUTE: Final = "its route was asked for"
_DATA_PLANE: Final = "the data plane does not know it, or does not answer"


MissingRight = Callable[[], NotAllowedError | None]
"""Tells a right that is missing; None: none is."""


class RouteFinder(Protocol):
    """Finds the route of a topic; RouteRefresher is one."""

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Return a topic's queues; wait for them at most so long."""


class _LookUp:
    """One message's look-up, and what it waits for."""

    __slots__ = ("attempts", "begun_ms", "ended", "lack", "sending", "step", "topic")

    def __init__(
        self, sending: Sending, topic: str, attempts: SendAttempts, now: int, lack: MissingRight
    ) -> None:
        self.sending = sending
        self.topic = topic
        self.attempts = attempts
        self.begun_ms = now
        self.lack = lack
        self.step = _TURN
        self.ended = False

    def fail(self, why: str, *, out_of_time: bool = False) -> None:
        """End the message with an error that names the look-up."""
        failed = self.attempts.failure(
            now_ms(), out_of_time=out_of_time, why=f"looking up topic {self.topic!r}: {why}"
        )
        self.sending.give_up(failed)

    def time_out(self) -> None:
        """The message's time is over: end it, unless its attempts have begun."""
        if self.ended:
            return
        if self.step is _ROUTE:
            waited_ms = now_ms() - self.begun_ms
            self.sending.give_up(NoRouteError(self.topic, waited_ms, self.lack()))
        else:
            self.fail(self.step, out_of_time=True)


class LookUps:
    """Looks up topics that a producer does not know yet, each for one message.

    A message ends with its time, however long its look-up goes on: a data plane that is gone can
    hold up whoever asks it for longer than a message has.

    Args:
        table: the routes that are known.
        finder: finds others.
        sender: knows, or finds out, what sending needs beside the route.
        timer: where the end of each message is put down before its look-up begins.
        creates: whether a topic that has only the default route is made.
        lack: tells the right without which no bridge can be asked for a route.
    """

    def __init__(
        self,
        table: PublishTable,
        finder: RouteFinder,
        sender: Sender,
        timer: Timer,
        *,
        creates: bool,
        lack: MissingRight = lambda: None,
    ) -> None:
        self._table = table
        self._finder = finder
        self._sender = sender
        self._timer = timer
        self._creates = creates
        self._lack = lack
        self._pool = ThreadPoolExecutor(LOOK_UPS_MAX, THREAD_NAME)

    def knows(self, topic: str) -> bool:
        """Tell whether a message to this topic needs no look-up.

        Raises:
            RouteError: the topic's route cannot be read.
        """
        return self._table.find(topic) is not None and self._sender.knows(topic)

    def begin(
        self, sending: Sending, topic: str, attempts: SendAttempts, *, waited_for: bool
    ) -> None:
        """Look a message's topic up, and then begin its first attempt; wait for neither.

        Args:
            sending: the message.
            topic: its topic.
            attempts: the time it has.
            waited_for: whether a thread of the application waits; then it is looked up at once, and
                stands behind no topic that others wait for in vain.
        """
        now = now_ms()
        look_up = _LookUp(sending, topic, attempts, now, self._lack)
        self._timer.at(now + attempts.left_ms(now), look_up.time_out)
        run = partial(self._run, look_up)
        if waited_for:
            Thread(target=run, name=THREAD_NAME, daemon=True).start()
            return
        with suppress(RuntimeError):  # when it was stopped: who did so ends the message
            self._pool.submit(run)

    def stop(self) -> None:
        """Begin no other look-up; those under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, look_up: _LookUp) -> None:
        if look_up.sending.result.done():
            return
        try:
            self._look_up(look_up)
        except SendingError as error:
            is_late = look_up.attempts.left_ms(now_ms()) == 0
            # A wait that ends with the message's own time says what the message's end would say.
            why = f"{look_up.step}: {error}" if is_late else str(error)
            look_up.fail(why, out_of_time=is_late)
            return
        except Exception as error:  # noqa: BLE001 - it is the message's end, whoever waits for it
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
            # Nothing is made for a message that was given up while its route was asked for.
            return
        left_ms = attempts.left_ms(now_ms())
        if left_ms > 0 and not self._sender.knows(topic):
            makes = published.is_default and self._creates
            queues = len(published.info.queues) if makes else None
            self._sender.learn(topic, left_ms, queues)
