"""The quarantine of a group whose step failed, with its waiting rows."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["HeldRow", "Quarantine", "plain_quarantine", "read_quarantine"]


class HeldRow(NamedTuple):
    """A row of the log with the shard's clock at its place."""

    topic: str
    partition: int
    offset: int
    append_ms: int
    clock_ms: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Why and since when a group is set aside, in milliseconds of the shard's clock.

    ``retry_ms`` is the clock of the next attempt, ``failures`` the number of failed ones, ``error``
    the class of the newest exception. ``overflow``: some rows were too many, and were given up.
    """

    since_ms: int
    retry_ms: int
    failures: int
    error: str
    overflow: bool = False
    rows: tuple[HeldRow, ...] = ()


def plain_quarantine(quarantine: Quarantine) -> list[Any]:
    """Return a quarantine as plain JSON values."""
    return [
        quarantine.since_ms,
        quarantine.retry_ms,
        quarantine.failures,
        quarantine.error,
        quarantine.overflow,
        [[*row[:5], _text(row.key), _text(row.value)] for row in quarantine.rows],
    ]


def read_quarantine(plain: list[Any]) -> Quarantine:
    """Return the quarantine that :func:`plain_quarantine` wrote."""
    since_ms, retry_ms, failures, error, overflow, rows = plain
    held = tuple(
        HeldRow(topic, partition, offset, append_ms, clock_ms, _bytes(key), _bytes(value))
        for topic, partition, offset, append_ms, clock_ms, key, value in rows
    )
    return Quarantine(since_ms, retry_ms, failures, error, overflow, held)


def _text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text, validate=True)
