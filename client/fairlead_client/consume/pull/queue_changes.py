"""Tells the application which queues it has, once for each topic whose queues changed."""

import logging
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from fairlead_client.consume.pull.listener import QueueListener
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.timer import Timer

logger = logging.getLogger(__name__)

GATHER_MS: Final = 50
"""What comes and goes within it is one change."""


class QueueChanges:
    """Gathers changes, and tells of each topic what it is after them.

    A queue changes when its work begins or ends here, not when the engine decides it: the queues
    of one decision begin as their former owners release them. One that came back under another
    epoch has changed, as one that RocketMQ drops and adds again in one run has.

    Args:
        listener: the application's function.
        timer: on whose thread it is called.
        every: returns all readable queues of a topic, in order.
        mine: returns those of them that this client works on, in order, each with its epoch.
    """

    def __init__(
        self,
        listener: QueueListener,
        timer: Timer,
        every: Callable[[str], Sequence[Queue]],
        mine: Callable[[str], Sequence[tuple[Queue, Epoch]]],
    ) -> None:
        self._listener = listener
        self._timer = timer
        self._every = every
        self._mine = mine
        self._lock = Lock()
        self._topics: dict[str, None] = {}
        self._notified: dict[str, tuple[tuple[Queue, Epoch], ...]] = {}

    def changed(self, topic: str) -> None:
        """A queue of the topic came or went. From any thread, without waiting."""
        with self._lock:
            first = not self._topics
            self._topics[topic] = None
        if first:
            self._timer.after(GATHER_MS, self._notify)

    def _notify(self) -> None:
        with self._lock:
            topics, self._topics = self._topics, {}
        for topic in topics:
            mine = tuple(self._mine(topic))
            if self._notified.get(topic, ()) == mine:
                continue
            self._notified[topic] = mine
            try:
                self._listener(topic, tuple(self._every(topic)), tuple(queue for queue, _ in mine))
            except Exception:
                logger.exception("message_queue_changed(%s) raised", topic)
