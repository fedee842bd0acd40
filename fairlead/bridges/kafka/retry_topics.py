"""Creates the retry and dead-letter topics that groups ask for, beside the bridge's loop.

RocketMQ's broker creates ``%RETRY%<group>`` at a heartbeat of a clustering group
(ClientManageProcessor#heartBeat) and ``%DLQ%<group>`` with the first message that needs it. The
bridge creates both when a member asks for them, at the first message that it cannot send back; or
when the engine asks in its place, which an operator's rule allows. The topics of forgotten groups
are removed (:mod:`fairlead.bridges.kafka.retry_removal`).

A failed message waits as long as its delay level, and a queue is read in order: within one queue a
short delay would wait behind a long one. So the retry topic has ``retry_queue_nums`` queues for
each level.

ADR 0141 gives the reasons.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple, Protocol

import structlog
from fairlead_client.session.topic_names import dead_letter_topic, owner_of, retried_group

from fairlead.bridges.kafka.message_limits import LimitBook, own_topics, wanted_limits
from fairlead.bridges.kafka.retry_removal import (
    REMOVE_AFTER_MS,
    Outcome,
    Remover,
    RetryRemoval,
)

__all__ = ["DELAYS", "RETRY_GROUPS_MAX", "WANTED_MAX", "Maker", "RetryTopics"]

DELAYS: Final = 18
"""The levels of RocketMQ's messageDelayLevel, 1 s to 2 h; a first failure waits level 3, 10 s."""
RETRY_GROUPS_MAX: Final = 500
"""The most groups with retry topics; even an invented group would get 19 partitions."""
WANTED_MAX: Final = 2_000
"""The most topics that wait for their creation; above it the oldest is dropped, and its members
ask again."""
_DEAD_LETTER_QUEUES: Final = 1
"""AbstractSendMessageProcessor.DLQ_NUMS_PER_GROUP."""
_FIRST_PAUSE_MS: Final = 1_000
_PAUSE_MS_MAX: Final = 60_000
_DEAD_LETTER_PAUSE_MS_MAX: Final = 600_000
"""Dead-letter topics are not urgent until a message is dead."""

log = structlog.get_logger(__name__)


class Maker(Remover, Protocol):
    """The cluster on which to create the topics."""

    def create(self, topics: Mapping[str, int]) -> Mapping[str, str | None]:
        """Create topics with these numbers of queues; return per topic why that failed, or None."""

    def raise_message_limits(self, limits: Mapping[str, int]) -> Mapping[str, str | None]:
        """Raise message limits; return per topic why that was refused, None for success."""


class RetryTopics:
    """The wanted retry and dead-letter topics that do not exist yet, or have too low limits.

    A separate thread creates all waiting topics in one call, so a slow cluster delays nothing else.
    After a failure there is a pause for that topic, longer each time; each reason is logged once
    until it changes.

    Invented groups cannot fill a cluster with topics: once ``groups_max`` groups have topics, no
    other group gets any until somebody deletes some. A group that has topics keeps them, and gets a
    missing one.

    Args:
        cluster: the cluster for the topics; only that thread uses it.
        retry_queue_nums: queues per delay level; 0: this bridge creates no retry topics.
        groups_max: the most groups with retry topics on this cluster.
        remove_after_ms: when to remove the topics of a forgotten group; 0: never.
    """

    def __init__(
        self,
        cluster: Maker,
        *,
        retry_queue_nums: int,
        groups_max: int = RETRY_GROUPS_MAX,
        remove_after_ms: int = REMOVE_AFTER_MS,
    ) -> None:
        self._cluster = cluster
        self._groups_max = groups_max
        self._queues = retry_queue_nums * DELAYS
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="retry-topics")
        self._wanted: dict[str, _Try] = {}
        self._limits = LimitBook()
        self._making: Future[Mapping[str, str | None]] | None = None
        self._raising: Future[_Raised | None] | None = None
        self._removal = RetryRemoval(cluster, after_ms=remove_after_ms if self._queues else 0)
        self._removing: Future[Outcome | None] | None = None

    def want(self, group: str, topic: str) -> None:
        """Create this topic if it is the retry topic of the group that asks for it.

        A group that reads another group's retry topic waits until that group has it.
        """
        if self._queues and retried_group(topic) == group:
            self._wanted.setdefault(topic, _Try(group, self._queues, _PAUSE_MS_MAX))
            dead = _Try(group, _DEAD_LETTER_QUEUES, _DEAD_LETTER_PAUSE_MS_MAX)
            self._wanted.setdefault(dead_letter_topic(group), dead)
            while len(self._wanted) > WANTED_MAX:
                del self._wanted[next(iter(self._wanted))]

    def note(self, group: str, topic: str) -> None:
        """Note that a group reads a topic: its own topics must accept messages of that size.

        The group is alive, so it keeps its topics.
        """
        if self._queues:
            self._limits.note(group, topic)
            self._removal.alive(group)

    def forgotten(self, group: str, *, now_ms: int) -> None:
        """Close the topics of a group that the engine has forgotten; remove them later."""
        if self._queues:
            self._removal.forgotten(group, now_ms=now_ms)

    def work(self, *, now_ms: int) -> None:
        """Collect the results, and start what is due; returns at once."""
        if self._making is not None and self._making.done():
            self._take(self._making.result(), now_ms)
            self._making = None
        due = {
            topic: tried.queues
            for topic, tried in self._wanted.items()
            if tried.next_at_ms <= now_ms
        }
        if due and self._making is None:
            self._making = self._thread.submit(self._create, due)
        self._work_on_limits(now_ms)
        if self._removing is not None and self._removing.done():
            outcome, self._removing = self._removing.result(), None
            self._removal.finish(outcome, now_ms=now_ms)
            for group in outcome.opened if outcome is not None else ():
                # Closing has overwritten their limits.
                self._limits.made(group)
        if self._removing is None and (task := self._removal.due(now_ms=now_ms)) is not None:
            self._removing = self._thread.submit(self._removal.do, task)

    @property
    def is_busy(self) -> bool:
        """Whether a call to the cluster runs, or its result is not collected yet."""
        return any(each is not None for each in (self._making, self._raising, self._removing))

    def close(self) -> None:
        """Wait for the running call, and end."""
        self._thread.shutdown()

    def _create(self, due: Mapping[str, int]) -> Mapping[str, str | None]:
        """Create the topics within the limit; return per topic why it failed, or None."""
        names = self._cluster.names()
        if names is None:
            return dict.fromkeys(due, "the cluster did not list its topics")
        groups = {group for name in names if (group := owner_of(name)) is not None}
        made: dict[str, int] = {}
        refused: dict[str, str | None] = {}
        for topic, queues in due.items():
            group = owner_of(topic)
            if group not in groups and len(groups) >= self._groups_max:
                refused[topic] = (
                    f"{self._groups_max} groups already have retry topics: delete those of groups "
                    "that are gone, or raise --retry-groups-max"
                )
                continue
            if group is not None:
                groups.add(group)
            made[topic] = queues
        if made:
            refused |= self._cluster.create(made)
            # A request for a closed topic of a forgotten group comes from a member.
            self._cluster.open_to_writes([topic for topic in made if topic in names])
        return refused

    def _work_on_limits(self, now_ms: int) -> None:
        if self._raising is not None and self._raising.done():
            raised, self._raising = self._raising.result(), None
            if raised is None:
                self._limits.failed(now_ms=now_ms)
            else:
                self._limits.log_raised(raised.answers)
                self._limits.missed(raised.missed, now_ms=now_ms)
        if self._raising is None and (due := self._limits.take_due(now_ms=now_ms)):
            self._raising = self._thread.submit(self._raise_limits, due)

    def _raise_limits(self, read: Mapping[str, frozenset[str]]) -> "_Raised | None":
        """Raise the limits of groups' own topics to those of the topics that they read."""
        topics = {topic for group, held in read.items() for topic in (*held, *own_topics(group))}
        known = self._cluster.message_limits(sorted(topics))
        if known is None:
            return None
        wanted: dict[str, int] = {}
        for group, held in read.items():
            wanted |= wanted_limits(known, held, own_topics(group))
        answers = self._cluster.raise_message_limits(wanted) if wanted else {}
        missed = [group for group in read if not {*own_topics(group)} <= known.keys()]
        return _Raised(answers, missed)

    def _take(self, made: Mapping[str, str | None], now_ms: int) -> None:
        for topic in [topic for topic in self._wanted if topic in made]:
            tried, refused = self._wanted[topic], made[topic]
            if refused is None:
                del self._wanted[topic]
                self._limits.made(tried.group)
                _log_made(topic, tried)
            elif tried.put_off(now_ms, refused):
                log.warning(
                    "retry_topic_failed",
                    group=tried.group,
                    topic=topic,
                    times=tried.times,
                    error=refused,
                )


def _log_made(topic: str, tried: "_Try") -> None:
    """Log a new topic; a dead-letter topic only if it was refused before."""
    if tried.times or retried_group(topic) is not None:
        log.info(
            "retry_topic_made",
            group=tried.group,
            topic=topic,
            queues=tried.queues,
            refused=tried.times,
        )


class _Raised(NamedTuple):
    """A cluster's answers about raised limits, and the groups whose topics it did not know."""

    answers: Mapping[str, str | None]
    missed: Sequence[str]


class _Try:
    """A wanted topic: when to try next, how often that failed, and why."""

    def __init__(self, group: str, queues: int, pause_ms_max: int) -> None:
        self.group = group
        self.queues = queues
        self.next_at_ms = 0
        self.times = 0
        self._pause_ms_max = pause_ms_max
        self._error = ""

    def put_off(self, now_ms: int, error: str) -> bool:
        """Wait, twice as long as the last time; return whether the reason has changed."""
        self.next_at_ms = now_ms + min(_FIRST_PAUSE_MS << min(self.times, 20), self._pause_ms_max)
        self.times += 1
        changed, self._error = error != self._error, error
        return changed
