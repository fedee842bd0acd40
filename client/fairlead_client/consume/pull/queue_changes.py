"""Calls the application's `message_queue_changed`, once for each topic whose queues changed."""

import logging
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from fairlead_client.consume.pull.listener import QueueListener
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.timer import Timer

logger = logging.getLogger(__name__)

GATHER_MS: Final = 50
"""Changes within this time count as one."""


class QueueChanges:
    """Gathers changes, and calls the listener with each changed topic's queues.

    A queue changes when its work begins or ends here, not when the engine decides: the queues of
    one decision begin when their former owners release them. A queue that comes back under another
    epoch has changed too, as in RocketMQ.

    Args:
        listener: the application's function.
        timer: the timer whose thread calls the listener.
        every: returns all readable queues of a topic, in order.
        mine: returns the topic's queues that this client works on, in order, with their epochs.
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
        """Note that a queue of the topic came or went. Any thread may call it; it never waits."""
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
