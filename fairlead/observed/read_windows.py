"""How far back to read the topics to know all groups."""

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
"""Topic -> how long before its newest record to begin reading it; None: from its first record.

Compacted topics are read whole. A member heartbeats at least three times in its lease, so two
minutes show each member with a lease of up to six. Decisions have a setting of their own.
"""
