"""Keeps since when a client waits for what, and says it in the log now and then."""

import logging
from dataclasses import dataclass
from typing import Final

from fairlead_client.session.waiting import WaitingKind, WaitingReason

__all__ = ["Waiting", "WaitingLog"]

logger = logging.getLogger(__name__)

_FIRST_MS: Final = 5_000
"""An ordinary start and an ordinary handover are over by then, and say nothing."""
_AGAIN_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a client waits for.

    Attributes:
        kind: in one word.
        words: the same for people, with names, and what to do where something can be done.
        since_ms: since when it waits for this kind of thing, in ms since 1970; of an engine that
            has not answered, since when it has not.
    """

    kind: WaitingKind
    words: str
    since_ms: int


class WaitingLog:
    """Turns what is waited for now into since when, and logs it after 5 s and then each minute.

    Args:
        group: the member's group.
        client_id: the member.
    """

    def __init__(self, group: str, client_id: str) -> None:
        self._group = group
        self._client_id = client_id
        self._kind: WaitingKind | None = None
        self._since_ms = 0
        self._from_ms = 0
        self._due_ms = 0

    def update(self, reason: WaitingReason | None, now_ms: int, wall_ms: int) -> Waiting | None:
        """Take what is waited for now.

        Args:
            reason: that; None: nothing.
            now_ms: a clock that never goes back.
            wall_ms: the time since 1970.
        """
        if reason is None:
            self._kind = None
            return None
        if reason.kind is not self._kind:
            self._kind = reason.kind
            self._from_ms = now_ms if reason.since_ms is None else reason.since_ms
            self._since_ms = wall_ms - (now_ms - self._from_ms)
            self._due_ms = now_ms + _FIRST_MS
        if now_ms >= self._due_ms:
            self._due_ms = now_ms + _AGAIN_MS
            seconds = (now_ms - self._from_ms) // 1_000
            logger.warning(
                "%s of %s waits for %s since %d s: %s",
                *(self._client_id, self._group, reason.kind.value, seconds, reason.words),
            )
        return Waiting(reason.kind, reason.words, self._since_ms)
