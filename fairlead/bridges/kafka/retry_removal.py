"""Closes the retry and dead-letter topics of groups that are forgotten, and removes them later.

A topic is removed in two steps, so that no message is lost whenever it comes. When the engine says
that a group is forgotten its topics are closed: Kafka takes no message for them any more, so a
sender knows, keeps its message and asks for the topic; that opens it again. So does any other
request of the group. A topic that has been closed for long enough is removed if it is empty. That
its group has committed to the end is no proof: anybody who may commit for it may do so unread.

That a topic is closed stands on the cluster. A bridge that is started anew goes on from there.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import structlog
from fairlead_client.session.topic_names import owner_of

from fairlead.bridges.kafka.message_limits import MessageLimit, own_topics

__all__ = ["CLOSED_BYTES", "FORGOTTEN_MAX", "REMOVE_AFTER_MS", "Remover", "RetryRemoval"]

CLOSED_BYTES: Final = 0
"""The max.message.bytes of a closed topic: no batch is so small."""
REMOVE_AFTER_MS: Final = 3 * 3_600 * 1_000
"""Longer than the longest delay, 2 h: whatever waited in the topic has been due since."""
FORGOTTEN_MAX: Final = 10_000
"""Of so many forgotten groups it is remembered that they are; topics of others stay."""
_LOOKS: Final = 3
"""So often, in the time above, a closed topic that holds something is looked at again."""
_PAUSE_MS: Final = 10_000
"""After the cluster did not answer."""

log = structlog.get_logger(__name__)


class Remover(Protocol):
    """The cluster from which topics are removed."""

    def names(self) -> Sequence[str] | None:
        """Return the names of all topics that are there; None: it did not answer."""

    def message_limits(self, topics: Sequence[str]) -> Mapping[str, MessageLimit] | None:
        """Return how big messages may be in topics that are there; None: it did not answer."""

    def close_to_writes(self, topics: Sequence[str]) -> Mapping[str, str | None]:
        """Let topics, if any, take no message; tell of each why not, None: it is so."""

    def open_to_writes(self, topics: Sequence[str]) -> Sequence[str]:
        """Let those of the topics take messages again that are closed; return which were."""

    def is_empty(self, topic: str) -> bool:
        """Tell whether no queue of a topic holds a message; unknown: False."""

    def delete(self, topics: Sequence[str]) -> Mapping[str, str | None]:
        """Delete topics, if any; tell of each why that was refused, None: it is gone."""


class Task(NamedTuple):
    """What is to be done on the cluster now.

    ``find``: look for what is closed; ``to_open``: groups whose topics shall take messages again;
    ``looks``: forgotten groups -> which of their topics were closed when they were looked at last.
    """

    find: bool
    to_open: Collection[str]
    looks: Mapping[str, frozenset[str]]


class Outcome(NamedTuple):
    """What became of a task.

    ``found``: groups -> their closed topics; ``opened``: groups whose topics take messages again;
    ``looks``: forgotten groups -> those closed by now; None: none of its topics is left.
    """

    found: Mapping[str, frozenset[str]]
    opened: Collection[str]
    looks: Mapping[str, frozenset[str] | None]


class _Forgotten(NamedTuple):
    """A group that is forgotten: when it is looked at, and which of its topics are closed."""

    look_at_ms: int
    closed: frozenset[str]


class RetryRemoval:
    """Which groups are forgotten, which of their topics are closed, and what is due.

    Args:
        cluster: where the topics are; asked by ``do`` alone.
        after_ms: a closed topic that holds nothing is removed after so long; 0: none is closed.
    """

    def __init__(self, cluster: Remover, *, after_ms: int) -> None:
        self._cluster = cluster
        self._after_ms = after_ms
        self._to_find = after_ms > 0
        self._find_at_ms = 0
        self._spoken: set[str] = set()
        """Who asked for something before it was known which topics are closed."""
        self._to_open: set[str] = set()
        self._forgotten: dict[str, _Forgotten] = {}
        self._doing: Task | None = None

    def forgotten(self, group: str, *, now_ms: int) -> None:
        """The engine has forgotten this group: nobody reads its retry topic."""
        if self._after_ms:
            self._to_open.discard(group)
            self._spoken.discard(group)
            if len(self._forgotten) < FORGOTTEN_MAX:
                self._forgotten.setdefault(group, _Forgotten(now_ms, frozenset()))

    def alive(self, group: str) -> None:
        """Somebody asked for something in the name of this group: its topics are kept."""
        known = self._forgotten.pop(group, None)
        if known is not None and known.closed:
            self._to_open.add(group)
        if self._to_find:
            self._spoken.add(group)

    def due(self, *, now_ms: int) -> Task | None:
        """Return what is to be done now, and count it as begun; None: nothing is."""
        looks = {
            group: known.closed
            for group, known in sorted(self._forgotten.items())
            if known.look_at_ms <= now_ms
        }
        find = self._to_find and self._find_at_ms <= now_ms
        if not (find or self._to_open or looks):
            return None
        self._doing, self._to_open = Task(find, self._to_open, looks), set()
        return self._doing

    def do(self, task: Task) -> Outcome | None:
        """Do it; called where it may take its time. None: the cluster did not answer."""
        names = self._cluster.names()
        if names is None:
            return None
        there = sorted(topic for topic in names if owner_of(topic) is not None)
        limits = self._cluster.message_limits(there) if there else {}
        if limits is None:
            return None
        closed = {topic for topic, limit in limits.items() if _is_closed(limit)}
        found: dict[str, frozenset[str]] = {}
        if task.find:
            for topic in sorted(closed):
                group = owner_of(topic) or ""
                found[group] = found.get(group, frozenset()) | {topic}
        to_open = [topic for topic in there if topic in closed and owner_of(topic) in task.to_open]
        opened = self._cluster.open_to_writes(to_open) if to_open else ()
        for topic in opened:
            log.info("retry_topic_opened", group=owner_of(topic), topic=topic)
        looks = {
            group: self._look([each for each in own_topics(group) if each in there], before)
            for group, before in task.looks.items()
        }
        return Outcome(found, {owner_of(topic) or "" for topic in opened}, looks)

    def take(self, outcome: Outcome | None, *, now_ms: int) -> None:
        """Note what became of the task that was begun last."""
        task, self._doing = self._doing, None
        assert task is not None, "nothing was begun"
        if outcome is None:
            self._again(task, now_ms)
            return
        if task.find:
            self._to_find = False
            for group, closed in outcome.found.items():
                if group in self._spoken:
                    self._to_open.add(group)
                else:
                    self._forgotten[group] = _Forgotten(now_ms + self._after_ms, closed)
            self._spoken.clear()
        for group, left in outcome.looks.items():
            if left is not None and group not in self._forgotten:
                # It spoke while its topics were being closed.
                self._to_open.add(group)
            elif left is None:
                self._forgotten.pop(group, None)
            else:
                pause_ms = self._after_ms // (_LOOKS if task.looks[group] else 1)
                self._forgotten[group] = _Forgotten(now_ms + pause_ms, left)

    def _again(self, task: Task, now_ms: int) -> None:
        """Let what the cluster did not answer be done after a pause."""
        self._find_at_ms = now_ms + _PAUSE_MS
        self._to_open.update(task.to_open)
        for group in task.looks.keys() & self._forgotten.keys():
            known = self._forgotten[group]
            self._forgotten[group] = known._replace(look_at_ms=now_ms + _PAUSE_MS)

    def _look(self, topics: Sequence[str], before: Collection[str]) -> frozenset[str] | None:
        """Close a group's topics, and remove those that were closed before and hold nothing.

        Returns:
            Which are there and closed now; None: none is there.
        """
        empty = [topic for topic in topics if topic in before and self._cluster.is_empty(topic)]
        # Only now: what was closed before it was looked at, and still is, has taken no message.
        limits = self._cluster.message_limits(topics) if topics else {}
        closed = {topic for topic, limit in (limits or {}).items() if _is_closed(limit)}
        gone = _done(self._cluster.delete([topic for topic in empty if topic in closed]))
        for topic in sorted(gone):
            log.info("retry_topic_removed", group=owner_of(topic), topic=topic)
        opened = [topic for topic in topics if topic not in closed | gone]
        for topic in sorted(newly := _done(self._cluster.close_to_writes(opened))):
            log.info("retry_topic_closed", group=owner_of(topic), topic=topic)
        closed |= newly
        left = frozenset(topics) - gone
        return left & closed if left else None


def _done(answers: Mapping[str, str | None]) -> set[str]:
    """Return the topics with which it went well; log the others."""
    for topic, refused in answers.items():
        if refused is not None:
            log.warning("retry_topic_kept", group=owner_of(topic), topic=topic, error=refused)
    return {topic for topic, refused in answers.items() if refused is None}


def _is_closed(limit: MessageLimit) -> bool:
    return limit.is_own and limit.limit == CLOSED_BYTES
