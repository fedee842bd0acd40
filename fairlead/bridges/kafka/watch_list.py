"""Which topics the bridge looks at: those named, those that match a pattern, those asked for.

A topic that was asked for and has no route is forgotten when nobody has asked again for a while, so
that misspelt topics do not pile up: who waits for a route asks again. Of more such topics than are
kept the one that was asked for longest ago is forgotten.
"""

import re
from collections.abc import Iterable
from typing import Final

from fairlead.wire.texts import TOPIC

__all__ = ["ASKED_MAX", "WatchList"]

ASKED_MAX: Final = 2_000
"""All topics of the list are described in one call every two seconds."""


class WatchList:
    """The topics to look at.

    Args:
        named: topics that are always looked at.
        pattern: a regular expression that whole names match, None for none.
        hidden_prefix: names that begin so never match the pattern: Fairlead's own topics. Nor do
            names that the protocol does not allow, the brokers' own topics among them.
        forget_ms: how long a topic without a route stays after it was last asked for.
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

    @property
    def wants_discovery(self) -> bool:
        """Whether the names of all topics are needed, to match them with the pattern."""
        return self._pattern is not None

    def discover(self, names: Iterable[str]) -> None:
        """Take the names of all topics of the cluster."""
        pattern = self._pattern
        if pattern is not None:
            self._matching = frozenset(
                name
                for name in names
                if pattern.fullmatch(name) and TOPIC.allows(name) and not self._is_hidden(name)
            )

    def ask(self, topic: str, *, now_ms: int) -> None:
        """Note that a group asked for this topic now."""
        self._asked.pop(topic, None)
        self._asked[topic] = now_ms
        if len(self._asked) > ASKED_MAX:
            del self._asked[next(iter(self._asked))]

    def is_configured(self, topic: str) -> bool:
        """Tell whether the settings, not only a request, put this topic here."""
        return topic in self._named or topic in self._matching

    def topics(self, routed: Iterable[str], *, now_ms: int) -> list[str]:
        """Return the topics to look at now, sorted.

        Args:
            routed: the topics that have a published route of this cluster. They are looked at for
                as long as they have it: nobody asks for them again, yet all rely on them.
            now_ms: the clock of ``ask``.
        """
        oldest_ms = now_ms - self._forget_ms
        self._asked = {topic: at for topic, at in self._asked.items() if at >= oldest_ms}
        return sorted({*self._named, *self._matching, *self._asked, *routed})

    def _is_hidden(self, name: str) -> bool:
        return bool(self._hidden_prefix) and name.startswith(self._hidden_prefix)
