"""Why a place in the log has no record."""

from typing import Final, Literal

__all__ = ["COMPACTED_TOPICS", "RecordPlace", "WhyMissing", "why_missing"]

RecordPlace = tuple[str, int, int]
"""A record's place: topic, partition, offset."""

WhyMissing = Literal["retention", "compacted", "not_yet", "never"]
"""``retention``: it is older than what the topic keeps. ``compacted``: its key was written again.
``not_yet``: the partition ends before it. ``never``: nothing was ever there that a reader sees, or
there is no such topic or partition."""

COMPACTED_TOPICS: Final = frozenset(("control", "generations", "routes", "offsets", "assignments"))
"""Suffixes of the topics in which a record may give way to a later one of its key."""


def why_missing(suffix: str | None, offset: int, bounds: tuple[int, int] | None) -> WhyMissing:
    """Return why an offset has no record.

    Args:
        suffix: of its topic; None: it is none of Fairlead's.
        offset: the offset.
        bounds: the first offset that is kept and the end; None: there is no such partition.
    """
    if suffix is None or bounds is None:
        return "never"
    first, end = bounds
    if offset >= end:
        return "not_yet"
    if suffix in COMPACTED_TOPICS and offset >= 0:
        return "compacted"
    return "retention" if 0 <= offset < first else "never"
