"""The topics that the bridge watches: named ones, ones that match a pattern, requested ones.

The bridge forgets a requested topic without a route if nobody repeats the request for a while, so
that misspelt topics do not pile up; a client that waits for a route repeats it. Above a limit it
forgets the topic with the oldest request.
"""

import re
from collections.abc import Iterable
from typing import Final

from fairlead.errors import UsageError
from fairlead.wire.texts import TOPIC

__all__ = ["ASKED_MAX", "WatchList"]

ASKED_MAX: Final = 2_000
"""The most requested topics; one call every two seconds describes the whole list."""


class WatchList:
    """The topics to watch.

    Args:
        named: topics that are always watched.
        pattern: a regular expression for whole names, or None.
        hidden_prefix: names with this prefix (Fairlead's own topics) never match the pattern, and
            neither do names that the protocol does not allow, such as the brokers' own topics.
        forget_ms: how long a topic without a route stays after its last request.
    """

    def __init__(
        self,
        *,
        named: Iterable[str],
        pattern: re.Pattern[str] | None,
        hidden_prefix: str,
        forget_ms: int,
    ) -> None:
        self._named = frozenset(named)
        self._pattern = pattern
        self._hidden_prefix = hidden_prefix
        self._forget_ms = forget_ms
        self._matching: frozenset[str] = frozenset()
        self._asked: dict[str, int] = {}

    @classmethod
    def of(
        cls, topics: Iterable[str], pattern: str | None, *, prefix: str, forget_ms: int
    ) -> "WatchList":
        """Return the list of what a user has named.

        Args:
            topics: topics that are always watched.
            pattern: a regular expression for whole names, or None.
            prefix: that of Fairlead's own topics.
            forget_ms: how long a topic without a route stays after its last request.

        Raises:
            UsageError: a name or the pattern is invalid.
        """
        return cls(
            named=[_checked_topic(topic) for topic in topics],
            pattern=_checked_pattern(pattern),
            hidden_prefix=prefix,
            forget_ms=forget_ms,
        )

    @property
    def wants_discovery(self) -> bool:
        """Whether the pattern needs the names of all topics."""
        return self._pattern is not None

    def discover(self, names: Iterable[str]) -> None:
        """Match the names of all topics of the cluster."""
        pattern = self._pattern
        if pattern is not None:
            self._matching = frozenset(
                name
                for name in names
                if pattern.fullmatch(name) and TOPIC.allows(name) and not self._is_hidden(name)
            )

    def ask(self, topic: str, *, now_ms: int) -> None:
        """Note that a group asks for this topic now."""
        self._asked.pop(topic, None)
        self._asked[topic] = now_ms
        if len(self._asked) > ASKED_MAX:
            del self._asked[next(iter(self._asked))]

    def is_configured(self, topic: str) -> bool:
        """Tell whether the settings, and not only a request, name this topic."""
        return topic in self._named or topic in self._matching

    def topics(self, routed: Iterable[str], *, now_ms: int) -> list[str]:
        """Return the topics to look at now, sorted.

        Args:
            routed: the topics with a published route of this cluster. They stay watched as long as
                they have it: nobody asks for them again, but all rely on them.
            now_ms: the clock of ``ask``.
        """
        oldest_ms = now_ms - self._forget_ms
        self._asked = {topic: at for topic, at in self._asked.items() if at >= oldest_ms}
        return sorted({*self._named, *self._matching, *self._asked, *routed})

    def _is_hidden(self, name: str) -> bool:
        return bool(self._hidden_prefix) and name.startswith(self._hidden_prefix)


def _checked_topic(topic: str) -> str:
    """Return the name of a topic to watch.

    Raises:
        UsageError: no topic has such a name.
    """
    if not TOPIC.allows(topic):
        raise UsageError(f"topics: {topic!r} cannot be watched.", remedy=f"Give {TOPIC.words}.")
    return topic


def _checked_pattern(pattern: str | None) -> re.Pattern[str] | None:
    """Return the regular expression of the topics to watch.

    Raises:
        UsageError: it is none.
    """
    try:
        return None if pattern is None else re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"topic_pattern: {pattern!r} is not a regular expression ({error}).",
            remedy="Use Python's syntax, such as orders-.*",
        ) from None
