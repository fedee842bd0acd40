"""Whether a bridge is silent: recent requests that nobody has answered."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.bridge_liveness import BridgeLiveness, is_sign
from fairlead.observed.finding import Finding
from fairlead.wire.decode import decode_request
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["LOOK_BACK_MS", "BridgeSilence", "bridge_silence"]

_SAME_MOMENT_MS: Final = 1_000
_UNANSWERED_MS: Final = 10_000
"""A bridge answers within a second; a slow cluster has five."""
LOOK_BACK_MS: Final = 600_000
"""The engine repeats a request every half minute while somebody waits."""


@dataclass(frozen=True, slots=True)
class BridgeSilence:
    """Requests that no bridge answers.

    Attributes:
        since_ms: when the first of them was written.
        told_ms: when a bridge last told a route or an answer; None: never, as far as the log shows.
        topics: what they ask about, sorted by name.
        now_ms: when somebody looked.
    """

    since_ms: int
    told_ms: int | None
    topics: tuple[str, ...]
    now_ms: int

    def without(self, absent: Collection[str]) -> "BridgeSilence | None":
        """Leave out absent topics: an older bridge does not answer for them; None: nothing left."""
        left = tuple(topic for topic in self.topics if topic not in absent)
        return replace(self, topics=left) if left else None

    def words(self) -> str:
        """Say for how long nobody has answered, and when a bridge last told anything."""
        last = (
            "no bridge has ever told a route or offsets"
            if self.told_ms is None
            else f"a bridge last told something {(self.now_ms - self.told_ms) // 1_000} s ago"
        )
        return f"no bridge has answered for {(self.now_ms - self.since_ms) // 1_000} s: {last}"

    def finding(self, lives: Sequence[BridgeLiveness]) -> Finding:
        """Return the problem, with what the bridges report of themselves."""
        start = lives[0].command if len(lives) == 1 else "fairlead bridge kafka"
        signs = [each.words() for each in lives] or ["no bridge has ever given a sign of life"]
        return Finding(
            problem="bridge_silent",
            subject=", ".join(self.topics),
            text="; ".join((self.words(), *signs)),
            remedy="check that the bridge runs, and read its log; to keep it running use "
            f"{start} --supervise; where there is no bridge, use fairlead route put",
        )


def bridge_silence(
    source: TopicSource, answers: Sequence[RawRecord], now_ms: int
) -> BridgeSilence | None:
    """Return the requests that have waited for a bridge for ten seconds or longer; None: none.

    Args:
        source: the topics.
        answers: rows of the offsets topic; the newest answer is among them.
        now_ms: the time.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    times = [row.append_ms for row in answers if not is_sign(row)]
    routed_ms = source.newest_ms("routes", 0)
    told_ms = max((*times, *(() if routed_ms is None else (routed_ms,))), default=None)
    since_ms = max(now_ms - LOOK_BACK_MS, 0 if told_ms is None else told_ms + _SAME_MOMENT_MS)
    asked = sorted(_asked(source, since_ms))
    if not asked or now_ms - asked[0][0] < _UNANSWERED_MS:
        return None
    return BridgeSilence(asked[0][0], told_ms, tuple(sorted({topic for _, topic in asked})), now_ms)


def _asked(source: TopicSource, since_ms: int) -> Iterator[tuple[int, str]]:
    limits = WireLimits(1)
    for row in source.rows("requests", source.partitions_of("requests"), since_ms):
        try:
            request = decode_request(row, limits)
        except WireError:
            continue
        if row.append_ms > since_ms:
            yield row.append_ms, request.topic
