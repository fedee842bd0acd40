"""Where an operator wants a group to go on: the words of ``fairlead offsets reset --to``.

Decides which offset of a queue they mean, within known bounds.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

__all__ = ["BadTargetError", "ResetTarget", "read_target"]

_OFFSET: Final = re.compile(r"[0-9]{1,18}")
_MILLISECONDS: Final = re.compile(r"([0-9]{13})ms")
_REMEDY: Final = (
    "give earliest, latest, an offset such as 9120, a time such as 2026-05-04T10:00:00Z, or "
    "milliseconds since 1970 such as 1781000000000ms"
)
_NO_SUCH_MESSAGE: Final = -1
_TIME_MS: Final = range(10**12, 10**13)
"""Times that the protocol allows: the years 2001 to 2286."""


class BadTargetError(ValueError):
    """A text names no place to go on from; ``remedy`` says what would."""

    def __init__(self, detail: str, remedy: str = _REMEDY) -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class ResetTarget:
    """One place for every queue. ``number``: the offset, or the time in ms; else 0."""

    kind: Literal["earliest", "latest", "offset", "timestamp"]
    number: int = 0

    @property
    def timestamps(self) -> tuple[int, ...]:
        """The times whose offsets must be looked up."""
        return (self.number,) if self.kind == "timestamp" else ()

    def offset_of(self, earliest: int, latest: int, for_times: Mapping[int, int]) -> int:
        """Return the offset that it means in a queue, inside its bounds.

        Args:
            earliest: the first kept offset.
            latest: the offset of the next message.
            for_times: time -> the first offset whose message is not older, −1: there is none.
        """
        if self.kind == "earliest":
            return earliest
        wanted = self.number
        if self.kind == "timestamp":
            wanted = for_times[self.number]
        if self.kind == "latest" or wanted == _NO_SUCH_MESSAGE:
            return latest
        return min(max(wanted, earliest), latest)


_ENDS: Final = {"earliest": ResetTarget("earliest"), "latest": ResetTarget("latest")}


def read_target(text: str) -> ResetTarget:
    """Return the target that a text names: earliest, latest, an offset, a time.

    Raises:
        BadTargetError: it names none of these, or a time without its zone.
    """
    if text in _ENDS:
        return _ENDS[text]
    if _OFFSET.fullmatch(text):
        if int(text) in _TIME_MS:
            say = f"write {text}ms for a time; no queue has such a high offset"
            raise BadTargetError(f"{text!r} looks like a time in milliseconds", say)
        return ResetTarget("offset", int(text))
    if milliseconds := _MILLISECONDS.fullmatch(text):
        return _at(int(milliseconds[1]), text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadTargetError(f"{text!r} is no place to go on from") from None
    if moment.tzinfo is None:
        zoned = "add its zone: Z for UTC, or such as +01:00"
        raise BadTargetError(f"{text!r} is a time without its zone", zoned)
    since = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return _at((since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000, text)


def _at(milliseconds: int, text: str) -> ResetTarget:
    if milliseconds not in _TIME_MS:
        raise BadTargetError(f"{text!r} is out of bounds", "name a time of the years 2001 to 2286")
    return ResetTarget("timestamp", milliseconds)
