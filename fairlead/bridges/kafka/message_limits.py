"""Raises message limits so that a group can send back every message that it reads.

It decides which limits of retry and dead-letter topics to raise, and to what. A limit that nobody
has set on a topic follows the brokers' default; it is raised only if a topic that the group reads
has set a greater one. No limit is ever lowered.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

import structlog
from fairlead_client.session.topic_names import dead_letter_topic, is_own_topic, retry_topic

__all__ = ["GROUPS_MAX", "HEADERS_MAX", "LimitBook", "MessageLimit", "own_topics", "wanted_limits"]

HEADERS_MAX: Final = 4_096
"""How much a message grows when sent back: it gets its origin and its number of failures."""
GROUPS_MAX: Final = 10_000
"""The most groups to remember."""
_PAUSE_MS: Final = 10_000
_LOOKS_MAX: Final = 3
"""How often to look for new topics, since not every broker knows them at once."""

log = structlog.get_logger(__name__)


class MessageLimit(NamedTuple):
    """A topic's max.message.bytes, and whether it is set on the topic itself."""

    limit: int
    is_own: bool


def own_topics(group: str) -> tuple[str, str]:
    """Return the retry and the dead-letter topic of a group."""
    return retry_topic(group), dead_letter_topic(group)


def wanted_limits(
    known: Mapping[str, MessageLimit], read: Collection[str], own: Collection[str]
) -> dict[str, int]:
    """Return the required values of limits that are too low, by topic.

    Args:
        known: the limits of all existing topics.
        read: the topics that a group reads.
        own: its retry and dead-letter topics.
    """
    set_there = [known[topic].limit for topic in read if topic in known and known[topic].is_own]
    if not set_there:
        return {}
    least = max(set_there) + HEADERS_MAX
    return {topic: least for topic in own if topic in known and known[topic].limit < least}


class LimitBook:
    """The groups with retry topics and the topics they read, from their recent requests."""

    def __init__(self) -> None:
        self._read: dict[str, set[str]] = {}
        self._retrying: set[str] = set()
        self._unchecked: dict[str, int] = {}
        self._looking: dict[str, int] = {}
        self._told: dict[str, str] = {}
        self._next_at_ms = 0

    def note(self, group: str, topic: str) -> None:
        """Note that a group asked for a topic; its retry topics, if any, become due for a check."""
        read = self._read.pop(group, set())
        # The newest last, so that the group with the longest silence is forgotten first.
        self._read[group] = read
        if topic == retry_topic(group):
            self._retrying.add(group)
        elif not is_own_topic(topic):
            read.add(topic)
        if group in self._retrying:
            self._unchecked.setdefault(group, 0)
        if len(self._read) > GROUPS_MAX:
            oldest = next(iter(self._read))
            del self._read[oldest]
            self._retrying.discard(oldest)
            self._unchecked.pop(oldest, None)

    def made(self, group: str) -> None:
        """Make the group's own topics due for a check, since one was just created."""
        if group in self._retrying:
            self._unchecked[group] = _LOOKS_MAX

    def take_due(self, *, now_ms: int) -> dict[str, frozenset[str]]:
        """Return the groups to check now with the topics they read; they are no longer due."""
        if now_ms < self._next_at_ms:
            return {}
        self._looking, self._unchecked = self._unchecked, {}
        due = {group: frozenset(self._read[group]) for group in sorted(self._looking)}
        return {group: read for group, read in due.items() if read}

    def failed(self, *, now_ms: int) -> None:
        """Note that the cluster did not answer: check the groups again after a pause."""
        self._look_again(self._looking, now_ms)

    def missed(self, groups: Collection[str], *, now_ms: int) -> None:
        """Note that topics of these groups do not exist (yet); check again if they are new."""
        left = {group: self._looking[group] - 1 for group in groups if self._looking[group] > 0}
        self._look_again(left, now_ms)

    def _look_again(self, groups: Mapping[str, int], now_ms: int) -> None:
        if groups:
            for group, looks in groups.items():
                if group in self._read:
                    self._unchecked[group] = max(looks, self._unchecked.get(group, 0))
            self._next_at_ms = now_ms + _PAUSE_MS

    def log_raised(self, raised: Mapping[str, str | None]) -> None:
        """Log the raised limits, and each refusal once until its reason changes."""
        for topic, refused in raised.items():
            if refused is None:
                self._told.pop(topic, None)
                log.info("message_limit_raised", topic=topic)
            elif self._told.get(topic) != refused:
                self._told[topic] = refused
                log.warning("message_limit_refused", topic=topic, error=refused)
