"""How far back the topics are read to know all groups."""

from collections.abc import Mapping
from typing import Final

__all__ = ["WINDOWS_MS"]

WINDOWS_MS: Final[Mapping[str, int | None]] = {
    "generations": None,
    "control": None,
    "routes": None,
    "offsets": None,
    "assignments": None,
    "heartbeats": 120_000,
    "releases": 600_000,
    "rejects": 86_400_000,
}
"""Topic -> how long before its newest record it is read from for all groups; None: from its first.

What is compacted is read whole. A member heartbeats at least three times in its lease, so two
minutes tell of each whose lease is not longer than six. Decisions have a setting of their own.
"""
