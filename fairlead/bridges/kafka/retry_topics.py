"""Makes the retry and dead-letter topics of groups that join theirs, beside the bridge's loop.

RocketMQ's broker makes ``%RETRY%<group>`` at a heartbeat of a clustering group
(ClientManageProcessor#heartBeat) and ``%DLQ%<group>`` with the first message that needs it. Here
the engine asks for the route of the retry topic when the first clustering member that subscribes to
it has joined, and that is when both are made.

A message that failed waits for as long as its delay level says, and a queue is read in order: where
delays share a queue a short one waits behind a long one. So the retry topic has queues for each
level, and ``retry_queue_nums`` of them.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import structlog

from fairlead.bridges.kafka.topic_names import dead_letter_topic, retried_group

__all__ = ["DELAYS", "RetryTopics"]

DELAYS: Final = 18
"""The levels of RocketMQ's messageDelayLevel, 1 s to 2 h; a first failure waits level 3, 10 s."""
_DEAD_LETTER_QUEUES: Final = 1
"""AbstractSendMessageProcessor.DLQ_NUMS_PER_GROUP."""
_FIRST_PAUSE_MS: Final = 1_000
_PAUSE_MS_MAX: Final = 60_000

log = structlog.get_logger(__name__)

Create = Callable[[Mapping[str, int]], Mapping[str, str | None]]
"""Makes topics of so many queues; tells of each why it was refused, None: it is there."""


class RetryTopics:
    """The retry topics that are wanted and not there yet.

    They are made on a thread of their own, all that wait in one call: whatever a cluster does with
    it, nothing else waits. After a failure there is a pause, longer each time, for that topic.

    Args:
        create: makes topics; called on that thread alone.
        retry_queue_nums: queues of each delay level; 0: this bridge makes no retry topics.
    """

    def __init__(self, create: Create, *, retry_queue_nums: int) -> None:
        self._create = create
        self._queues = retry_queue_nums * DELAYS
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="retry-topics")
        self._wanted: dict[str, _Try] = {}
        self._under_way: Future[Mapping[str, str | None]] | None = None

    def want(self, group: str, topic: str) -> None:
        """Make this topic if it is the retry topic of the group that asks for it.

        A group that reads the retry topic of another one waits until that group has it.
        """
        if self._queues and retried_group(topic) == group:
            self._wanted.setdefault(topic, _Try())

    def work(self, *, now_ms: int) -> None:
        """Take what was made, and make what is due; returns at once."""
        if self._under_way is not None and self._under_way.done():
            self._take(self._under_way.result(), now_ms)
            self._under_way = None
        due = [topic for topic, tried in self._wanted.items() if tried.next_at_ms <= now_ms]
        if due and self._under_way is None:
            self._under_way = self._thread.submit(self._create, self._topics(due))

    def close(self) -> None:
        """Wait for what is being made, and end."""
        self._thread.shutdown()

    def _topics(self, due: list[str]) -> dict[str, int]:
        wanted = dict.fromkeys(due, self._queues)
        for topic in due:
            group = retried_group(topic)
            assert group is not None, "nothing else is wanted"
            wanted[dead_letter_topic(group)] = _DEAD_LETTER_QUEUES
        return wanted

    def _take(self, made: Mapping[str, str | None], now_ms: int) -> None:
        for topic in [topic for topic in self._wanted if topic in made]:
            group = retried_group(topic)
            assert group is not None, "nothing else is wanted"
            refused = made[topic] or made[dead_letter_topic(group)]
            if refused is None:
                del self._wanted[topic]
                log.info("retry_topic_made", group=group, topic=topic, queues=self._queues)
            else:
                tried = self._wanted[topic]
                tried.put_off(now_ms)
                log.warning(
                    "retry_topic_failed", group=group, topic=topic, times=tried.times, error=refused
                )


class _Try:
    """When a topic may be tried, and how often that failed."""

    def __init__(self) -> None:
        self.next_at_ms = 0
        self.times = 0

    def put_off(self, now_ms: int) -> None:
        """Wait, twice as long as the last time."""
        self.next_at_ms = now_ms + min(_FIRST_PAUSE_MS << min(self.times, 10), _PAUSE_MS_MAX)
        self.times += 1
