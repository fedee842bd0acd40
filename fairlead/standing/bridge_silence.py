"""Whether a bridge is silent: what was asked of it lately and has no answer in the log."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from fairlead.sources.topic_source import TopicSource
from fairlead.wire.decode import decode_request
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits

__all__ = ["BridgeSilence", "bridge_silence"]

_SAME_MOMENT_MS: Final = 1_000
_UNANSWERED_MS: Final = 10_000
"""A bridge answers within a second; a cluster that is slow has five."""
_LOOK_BACK_MS: Final = 600_000
"""The engine asks again every half minute, for as long as somebody waits."""


@dataclass(frozen=True, slots=True)
class BridgeSilence:
    """Requests that nobody answers.

    Attributes:
        since_ms: when the first of them was asked.
        told_ms: when a route or offsets were last told; None: never, or not any more.
        topics: what they ask about, in their order by name.
        now_ms: when that was looked at.
    """

    since_ms: int
    told_ms: int | None
    topics: tuple[str, ...]
    now_ms: int

    def without(self, absent: "frozenset[str]") -> "BridgeSilence | None":
        """Leave out topics that do not exist: a bridge tells nothing of them; None: all."""
        left = tuple(topic for topic in self.topics if topic not in absent)
        return BridgeSilence(self.since_ms, self.told_ms, left, self.now_ms) if left else None

    def row(self) -> dict[str, Any]:
        """Return it as a row of `group check --all`."""
        waited = (self.now_ms - self.since_ms) // 1_000
        last = (
            "no route or offsets were ever told"
            if self.told_ms is None
            else f"routes or offsets were last told {(self.now_ms - self.told_ms) // 1_000} s ago"
        )
        return {
            "problem": "bridge_silent",
            "for": ", ".join(self.topics),
            "says": f"no bridge has answered for {waited} s: {last}",
            "do": "look whether the bridge runs, and at its log: fairlead bridge kafka --supervise "
            "starts it again; or fairlead route put, where there is no bridge",
        }


def bridge_silence(source: TopicSource, now_ms: int | None = None) -> BridgeSilence | None:
    """Return what waits for a bridge for ten seconds or longer; None: nothing does.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    now = round(time.time() * 1_000) if now_ms is None else now_ms
    times = [source.newest_ms(suffix, 0) for suffix in ("routes", "offsets")]
    told = max((each for each in times if each is not None), default=None)
    since = max(now - _LOOK_BACK_MS, 0 if told is None else told + _SAME_MOMENT_MS)
    asked = sorted(_asked(source, since))
    if not asked or now - asked[0][0] < _UNANSWERED_MS:
        return None
    return BridgeSilence(asked[0][0], told, tuple(sorted({topic for _, topic in asked})), now)


def _asked(source: TopicSource, since_ms: int) -> Iterator[tuple[int, str]]:
    limits = WireLimits(1)
    for row in source.rows("requests", source.partitions_of("requests"), since_ms):
        try:
            request = decode_request(row, limits)
        except WireError:
            continue
        if row.append_ms > since_ms:
            yield row.append_ms, request.topic
