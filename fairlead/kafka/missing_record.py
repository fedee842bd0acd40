"""Explains why a place in the log has no record."""

from typing import Final, Literal

__all__ = ["COMPACTED_TOPICS", "RecordPlace", "WhyMissing", "why_missing"]

RecordPlace = tuple[str, int, int]
"""A record's place: topic, partition, offset."""

WhyMissing = Literal["retention", "compacted", "not_yet", "never"]
"""``retention``: it is older than the topic's records. ``compacted``: its key was written again.
``not_yet``: the partition ends before it. ``never``: readers never had a record there, or the topic
or partition does not exist."""

COMPACTED_TOPICS: Final = frozenset(("control", "generations", "routes", "offsets", "assignments"))
"""Suffixes of the topics in which a later record of the same key may replace a record."""


def why_missing(suffix: str | None, offset: int, bounds: tuple[int, int] | None) -> WhyMissing:
    """Return why an offset has no record.

    Args:
        suffix: the topic's suffix; None: it is not one of Fairlead's topics.
        offset: the offset.
        bounds: the partition's first offset and its end; None: there is no such partition.
    """
    if suffix is None or bounds is None:
        return "never"
    first, end = bounds
    if offset >= end:
        return "not_yet"
    if suffix in COMPACTED_TOPICS and offset >= 0:
        return "compacted"
    return "retention" if 0 <= offset < first else "never"
