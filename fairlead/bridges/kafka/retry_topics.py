"""Makes the retry and dead-letter topics of groups that ask for theirs, beside the bridge's loop.

RocketMQ's broker makes ``%RETRY%<group>`` at a heartbeat of a clustering group
(ClientManageProcessor#heartBeat) and ``%DLQ%<group>`` with the first message that needs it. Here
both are made when a member asks for them, which it does with the first message that it cannot send
back; or when the engine asks in its stead, which an operator's rule lets it do. Those of groups
that are forgotten are removed (:mod:`fairlead.bridges.kafka.retry_removal`).

A message that failed waits for as long as its delay level says, and a queue is read in order: where
delays share a queue a short one waits behind a long one. So the retry topic has queues for each
level, and ``retry_queue_nums`` of them.

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
"""So many groups have topics of their own; a group that is only invented asks for 19 partitions."""
WANTED_MAX: Final = 2_000
"""So many topics wait to be made; of more the oldest are dropped, whose members ask again."""
_DEAD_LETTER_QUEUES: Final = 1
"""AbstractSendMessageProcessor.DLQ_NUMS_PER_GROUP."""
_FIRST_PAUSE_MS: Final = 1_000
_PAUSE_MS_MAX: Final = 60_000
_DEAD_LETTER_PAUSE_MS_MAX: Final = 600_000
"""Nobody waits for a dead-letter topic before a message is dead."""

log = structlog.get_logger(__name__)


class Maker(Remover, Protocol):
    """The cluster on which the topics are made."""

    def create(self, topics: Mapping[str, int]) -> Mapping[str, str | None]:
        """Make topics of so many queues; tell of each why it was refused, None: it is there."""

    def raise_message_limits(self, limits: Mapping[str, int]) -> Mapping[str, str | None]:
        """Allow bigger messages; tell of each topic why that was refused, None: it is so."""


class RetryTopics:
    """The retry and dead-letter topics that are wanted and not there yet, or hold too little.

    They are made on a thread of their own, all that wait in one call: whatever a cluster does with
    it, nothing else waits. After a failure there is a pause for that topic, longer each time; why
    it fails is logged once until that changes.

    Groups that nobody keeps cannot fill a cluster with topics: when so many groups as may have
    theirs on the cluster, no other group gets any until one of these topics is deleted. A group
    that has its topics keeps them, and gets one that is missing.

    Args:
        cluster: where they are made; asked on that thread alone.
        retry_queue_nums: queues of each delay level; 0: this bridge makes no retry topics.
        groups_max: so many groups have topics of their own on this cluster.
        remove_after_ms: those of a forgotten group are removed after so long; 0: never.
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
        """Make this topic if it is the retry topic of the group that asks for it.

        A group that reads the retry topic of another one waits until that group has it.
        """
        if self._queues and retried_group(topic) == group:
            self._wanted.setdefault(topic, _Try(group, self._queues, _PAUSE_MS_MAX))
            dead = _Try(group, _DEAD_LETTER_QUEUES, _DEAD_LETTER_PAUSE_MS_MAX)
            self._wanted.setdefault(dead_letter_topic(group), dead)
            while len(self._wanted) > WANTED_MAX:
                del self._wanted[next(iter(self._wanted))]

    def note(self, group: str, topic: str) -> None:
        """Note that a group reads a topic: what it sends back must fit into its own topics.

        So the group is alive, and keeps its topics.
        """
        if self._queues:
            self._limits.note(group, topic)
            self._removal.alive(group)

    def forgotten(self, group: str, *, now_ms: int) -> None:
        """Close the topics of a group that the engine has forgotten, and remove them later."""
        if self._queues:
            self._removal.forgotten(group, now_ms=now_ms)

    def work(self, *, now_ms: int) -> None:
        """Take what was made, and make what is due; returns at once."""
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
            self._removal.take(outcome, now_ms=now_ms)
            for group in outcome.opened if outcome is not None else ():
                # What limits they had was lost when they were closed.
                self._limits.made(group)
        if self._removing is None and (task := self._removal.due(now_ms=now_ms)) is not None:
            self._removing = self._thread.submit(self._removal.do, task)

    @property
    def is_busy(self) -> bool:
        """Whether the cluster is being asked, or it was not taken in yet what it said."""
        return any(each is not None for each in (self._making, self._raising, self._removing))

    def close(self) -> None:
        """Wait for what is being made, and end."""
        self._thread.shutdown()

    def _create(self, due: Mapping[str, int]) -> Mapping[str, str | None]:
        """Make those of the topics that are within the bound; tell of the others why not."""
        names = self._cluster.names()
        if names is None:
            return dict.fromkeys(due, "the cluster did not tell which topics there are")
        groups = {group for name in names if (group := owner_of(name)) is not None}
        made: dict[str, int] = {}
        refused: dict[str, str | None] = {}
        for topic, queues in due.items():
            group = owner_of(topic)
            if group not in groups and len(groups) >= self._groups_max:
                refused[topic] = (
                    f"{self._groups_max} groups have topics of their own already: delete those of "
                    "groups that are gone, or raise --retry-groups-max"
                )
                continue
            if group is not None:
                groups.add(group)
            made[topic] = queues
        if made:
            refused |= self._cluster.create(made)
            # Whoever asks for a topic that is closed, because its group was forgotten, is a member.
            self._cluster.open_to_writes([topic for topic in made if topic in names])
        return refused

    def _work_on_limits(self, now_ms: int) -> None:
        if self._raising is not None and self._raising.done():
            raised, self._raising = self._raising.result(), None
            if raised is None:
                self._limits.failed(now_ms=now_ms)
            else:
                self._limits.tell(raised.answers)
                self._limits.missed(raised.missed, now_ms=now_ms)
        if self._raising is None and (due := self._limits.take_due(now_ms=now_ms)):
            self._raising = self._thread.submit(self._raise_limits, due)

    def _raise_limits(self, read: Mapping[str, frozenset[str]]) -> "_Raised | None":
        """Let the own topics of groups hold what those hold that they read."""
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
    """Say that a topic is there; of a dead-letter topic only if it was refused before."""
    if tried.times or retried_group(topic) is not None:
        log.info(
            "retry_topic_made",
            group=tried.group,
            topic=topic,
            queues=tried.queues,
            refused=tried.times,
        )


class _Raised(NamedTuple):
    """What a cluster said of limits to be raised, and whose topics it did not know."""

    answers: Mapping[str, str | None]
    missed: Sequence[str]


class _Try:
    """A topic that is wanted: when it may be tried, how often that failed, and why."""

    def __init__(self, group: str, queues: int, pause_ms_max: int) -> None:
        self.group = group
        self.queues = queues
        self.next_at_ms = 0
        self.times = 0
        self._pause_ms_max = pause_ms_max
        self._error = ""

    def put_off(self, now_ms: int, error: str) -> bool:
        """Wait, twice as long as the last time; return whether the reason is another one."""
        self.next_at_ms = now_ms + min(_FIRST_PAUSE_MS << min(self.times, 20), self._pause_ms_max)
        self.times += 1
        changed, self._error = error != self._error, error
        return changed
