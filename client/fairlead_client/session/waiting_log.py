"""Tracks why and since when a client waits, and logs it now and then."""

import logging
from dataclasses import dataclass
from typing import Final

from fairlead_client.session.waiting import WaitingKind, WaitingReason

__all__ = ["Waiting", "WaitingLog"]

logger = logging.getLogger(__name__)

_FIRST_MS: Final = 5_000
"""A normal start or handover is over by then, and logs nothing."""
_AGAIN_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a client waits for.

    Attributes:
        kind: the kind, in one word.
        words: a sentence for people, with names, and what to do if something can be done.
        since_ms: since when it waits for this kind, in ms since 1970; for `engine`, since when
            no engine has answered.
    """

    kind: WaitingKind
    words: str
    since_ms: int


class WaitingLog:
    """Notes since when a client waits, and logs the reason after 5 s and then each minute.

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
        """Update the reason, and return it with its start.

        Args:
            reason: why the client waits now; None: it does not wait.
            now_ms: a clock that never goes back.
            wall_ms: the time in ms since 1970.
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
                "%s of %s has waited %d s for %s: %s",
                *(self._client_id, self._group, seconds, reason.kind.value, reason.words),
            )
        return Waiting(reason.kind, reason.words, self._since_ms)
