"""Closes the retry and dead-letter topics of forgotten groups, and removes them later.

It removes a topic in two steps, so that no message is ever lost. When the engine has forgotten a
group, the bridge closes its topics: Kafka then accepts no messages for them, so a sender notices,
keeps its message and asks for the topic; that opens it again. Any other request of the group opens
it too. A topic that has been closed long enough is removed if it is empty. A commit at its end is
no proof of that, since anybody with the permission may commit without reading.

The cluster stores whether a topic is closed, so a restarted bridge goes on from there.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import structlog
from fairlead_client.session.topic_names import owner_of

from fairlead.bridges.kafka.message_limits import MessageLimit, own_topics

__all__ = ["CLOSED_BYTES", "FORGOTTEN_MAX", "REMOVE_AFTER_MS", "Remover", "RetryRemoval"]

CLOSED_BYTES: Final = 0
"""The max.message.bytes of a closed topic; every batch is larger."""
REMOVE_AFTER_MS: Final = 3 * 3_600 * 1_000
"""Longer than the longest delay, 2 h, so every waiting message has become due."""
FORGOTTEN_MAX: Final = 10_000
"""The most forgotten groups to remember; the topics of others stay."""
_LOOKS: Final = 3
"""How often, within the time above, to check a closed topic that is not empty."""
_PAUSE_MS: Final = 10_000
"""The pause after the cluster did not answer."""

log = structlog.get_logger(__name__)


class Remover(Protocol):
    """The cluster with the topics to remove."""

    def names(self) -> Sequence[str] | None:
        """Return the names of all topics; None: the cluster did not answer."""

    def message_limits(self, topics: Sequence[str]) -> Mapping[str, MessageLimit] | None:
        """Return the message limits of existing topics; None: the cluster did not answer."""

    def close_to_writes(self, topics: Sequence[str]) -> Mapping[str, str | None]:
        """Close topics, if any; return per topic why that failed, None for success."""

    def open_to_writes(self, topics: Sequence[str]) -> Sequence[str]:
        """Open the closed ones of these topics; return them."""

    def is_empty(self, topic: str) -> bool:
        """Tell whether a topic holds no message; False if unknown."""

    def delete(self, topics: Sequence[str]) -> Mapping[str, str | None]:
        """Delete topics, if any; return per topic why that was refused, None for success."""


class Task(NamedTuple):
    """What to do on the cluster now.

    ``find``: look for closed topics; ``to_open``: groups whose topics to open; ``looks``: forgotten
    groups -> their topics that were closed at the last look.
    """

    find: bool
    to_open: Collection[str]
    looks: Mapping[str, frozenset[str]]


class Outcome(NamedTuple):
    """The result of a task.

    ``closed``: groups -> their closed topics; ``opened``: groups whose topics were opened;
    ``looks``: forgotten groups -> their topics closed by now; None: no topic is left.
    """

    closed: Mapping[str, frozenset[str]]
    opened: Collection[str]
    looks: Mapping[str, frozenset[str] | None]


class _Forgotten(NamedTuple):
    """A forgotten group: when to look at it next, and its closed topics."""

    look_at_ms: int
    closed: frozenset[str]


class RetryRemoval:
    """The forgotten groups, their closed topics, and what is due.

    Args:
        cluster: the cluster with the topics; only ``do`` uses it.
        after_ms: how long an empty topic stays closed before it is removed; 0: close none.
    """

    def __init__(self, cluster: Remover, *, after_ms: int) -> None:
        self._cluster = cluster
        self._after_ms = after_ms
        self._to_find = after_ms > 0
        self._find_at_ms = 0
        self._spoken: set[str] = set()
        """Groups that made a request before it was known which topics are closed."""
        self._to_open: set[str] = set()
        self._forgotten: dict[str, _Forgotten] = {}
        self._doing: Task | None = None

    def forgotten(self, group: str, *, now_ms: int) -> None:
        """Note that the engine has forgotten this group: nobody reads its retry topic."""
        if self._after_ms:
            self._to_open.discard(group)
            self._spoken.discard(group)
            if len(self._forgotten) < FORGOTTEN_MAX:
                self._forgotten.setdefault(group, _Forgotten(now_ms, frozenset()))

    def alive(self, group: str) -> None:
        """Note a request of this group: keep its topics."""
        known = self._forgotten.pop(group, None)
        if known is not None and known.closed:
            self._to_open.add(group)
        if self._to_find:
            self._spoken.add(group)

    def due(self, *, now_ms: int) -> Task | None:
        """Return what to do now, and count it as begun; None if nothing is due."""
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
        """Do the task, on a thread that may wait; None: the cluster did not answer."""
        names = self._cluster.names()
        if names is None:
            return None
        there = sorted(topic for topic in names if owner_of(topic) is not None)
        limits = self._cluster.message_limits(there) if there else {}
        if limits is None:
            return None
        closed = {topic for topic, limit in limits.items() if _is_closed(limit)}
        by_group: dict[str, frozenset[str]] = {}
        if task.find:
            for topic in sorted(closed):
                group = owner_of(topic) or ""
                by_group[group] = by_group.get(group, frozenset()) | {topic}
        to_open = [topic for topic in there if topic in closed and owner_of(topic) in task.to_open]
        opened = self._cluster.open_to_writes(to_open) if to_open else ()
        for topic in opened:
            log.info("retry_topic_opened", group=owner_of(topic), topic=topic)
        looks = {
            group: self._look([each for each in own_topics(group) if each in there], before)
            for group, before in task.looks.items()
        }
        return Outcome(by_group, {owner_of(topic) or "" for topic in opened}, looks)

    def finish(self, outcome: Outcome | None, *, now_ms: int) -> None:
        """Note the result of the task begun last."""
        task, self._doing = self._doing, None
        assert task is not None, "nothing was begun"
        if outcome is None:
            self._again(task, now_ms)
            return
        if task.find:
            self._to_find = False
            for group, closed in outcome.closed.items():
                if group in self._spoken:
                    self._to_open.add(group)
                else:
                    self._forgotten[group] = _Forgotten(now_ms + self._after_ms, closed)
            self._spoken.clear()
        for group, left in outcome.looks.items():
            if left is not None and group not in self._forgotten:
                # The group made a request while its topics were being closed.
                self._to_open.add(group)
            elif left is None:
                self._forgotten.pop(group, None)
            else:
                pause_ms = self._after_ms // (_LOOKS if task.looks[group] else 1)
                self._forgotten[group] = _Forgotten(now_ms + pause_ms, left)

    def _again(self, task: Task, now_ms: int) -> None:
        """Repeat what the cluster did not answer after a pause."""
        self._find_at_ms = now_ms + _PAUSE_MS
        self._to_open.update(task.to_open)
        for group in task.looks.keys() & self._forgotten.keys():
            known = self._forgotten[group]
            self._forgotten[group] = known._replace(look_at_ms=now_ms + _PAUSE_MS)

    def _look(self, topics: Sequence[str], before: Collection[str]) -> frozenset[str] | None:
        """Close a group's topics, and remove empty ones that were closed before.

        Returns:
            The topics that exist and are closed now; None: no topic exists.
        """
        empty = [topic for topic in topics if topic in before and self._cluster.is_empty(topic)]
        # Check the limits last: a topic closed before the look, and still closed, got no message.
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
    """Return the topics without an error; log the others."""
    for topic, refused in answers.items():
        if refused is not None:
            log.warning("retry_topic_kept", group=owner_of(topic), topic=topic, error=refused)
    return {topic for topic, refused in answers.items() if refused is None}


def _is_closed(limit: MessageLimit) -> bool:
    return limit.is_own and limit.limit == CLOSED_BYTES
