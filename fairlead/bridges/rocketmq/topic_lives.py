"""Decides from the ends of queues whether a topic is still the one that it was.

RocketMQ's topics have no id. Of a topic that was deleted and made again between two looks only this
remains: the ends of its queues fell, and what it holds is younger than what it held. A broker that
crashed and lost its youngest messages has fallen ends too, but keeps older messages: that is the
same topic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.topic_ends import QueueEnd

__all__ = ["Fall", "TopicLives"]


class Fall(StrEnum):
    """What became of a topic whose ends fell."""

    MADE_AGAIN = "made_again"
    LOST_MESSAGES = "lost_messages"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class _Suspicion:
    """These queues ended further on; first seen below at ``since_ms``."""

    queues: set[MessageQueue]
    since_ms: int


class TopicLives:
    """The greatest ends of each topic's queues.

    Args:
        confirm_ms: how long ends must stay below before that counts: one answer may be old.
    """

    def __init__(self, *, confirm_ms: int) -> None:
        self._confirm_ms = confirm_ms
        self._ends: dict[str, dict[MessageQueue, QueueEnd]] = {}
        self._suspicions: dict[str, _Suspicion] = {}

    def begin(self, topic: str) -> None:
        """Note that a topic begins another life, or is watched no more."""
        self._ends.pop(topic, None)
        self._suspicions.pop(topic, None)

    def note(
        self, topic: str, ends: Mapping[MessageQueue, QueueEnd], *, now_ms: int
    ) -> tuple[MessageQueue, ...]:
        """Note ends as masters report them.

        Args:
            topic: the topic.
            ends: those that are known now; a queue without one proves nothing.
            now_ms: a monotonic clock.

        Returns:
            The queues that have stayed below for long enough; `judge` says what that means.
        """
        known = self._ends.setdefault(topic, {})
        suspicion = self._suspicions.get(topic)
        for queue, end in ends.items():
            if end.offset < known.get(queue, end).offset:
                if suspicion is None:
                    suspicion = self._suspicions[topic] = _Suspicion(set(), now_ms)
                suspicion.queues.add(queue)
                continue
            known[queue] = end
            if suspicion is not None:
                suspicion.queues.discard(queue)
        if suspicion is None:
            return ()
        if not suspicion.queues:
            del self._suspicions[topic]
            return ()
        lasts = now_ms - suspicion.since_ms >= self._confirm_ms
        return tuple(sorted(suspicion.queues)) if lasts else ()

    def falls(self, topic: str, ends: Mapping[MessageQueue, int]) -> bool:
        """Tell whether ends are below known ones, or were lately: offsets may be of two lives."""
        known = self._ends.get(topic, {})
        return topic in self._suspicions or any(
            queue in known and end < known[queue].offset for queue, end in ends.items()
        )

    def judge(self, topic: str, begins: Mapping[MessageQueue, int | None]) -> Fall:
        """Decide what the fallen ends of a topic mean.

        Args:
            topic: the topic.
            begins: fallen queue -> when its first message was stored, by the broker's clock; None:
                it is empty. Queues whose broker did not say are left out.
        """
        suspicion, known = self._suspicions.get(topic), self._ends.get(topic, {})
        if suspicion is None:
            return Fall.UNKNOWN
        for queue, begun_ms in begins.items():
            if queue in suspicion.queues and (begun_ms is None or begun_ms > known[queue].last_ms):
                return Fall.MADE_AGAIN
        if not suspicion.queues <= begins.keys():
            return Fall.UNKNOWN
        for queue in suspicion.queues:
            del known[queue]
        del self._suspicions[topic]
        return Fall.LOST_MESSAGES
