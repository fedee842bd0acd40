"""Which groups there are, by name: whoever means one of them and mistypes it is told so.

Decides what counts as known: whoever has an assignment, a rule or a reset in Fairlead's topics, and
the groups of the data cluster. It reads names alone, and only when one is not known otherwise.
"""

import difflib
from collections.abc import Iterable
from typing import Final

import orjson

from fairlead.core.records import ALL_GROUPS
from fairlead.errors import UsageError
from fairlead.settings import KafkaSettings
from fairlead.wire.topics import TopicNames
from streaming.reading import partition_counts, read_to_end

__all__ = ["named_groups", "nearest_groups", "unknown_group"]

_NAMED_MAX: Final = 3


def named_groups(kafka: KafkaSettings) -> frozenset[str]:
    """Return the groups that have an assignment, a rule or a reset.

    Raises:
        EnvironmentMissingError: the topics cannot be read.
    """
    names = TopicNames(kafka.topic_prefix)
    counts = partition_counts(kafka, [names.name(each) for each in ("control", "assignments")])
    found = {
        _group_of(record.key)
        for topic, partitions in counts.items()
        for record in read_to_end(kafka, topic, range(partitions))
        if record.value is not None
    }
    return frozenset(found - {ALL_GROUPS, ""})


def nearest_groups(group: str, known: Iterable[str]) -> list[str]:
    """Return the names that are nearest to a name, the nearest first; three at most.

    >>> nearest_groups("order", ["billing", "orders", "orders-eu", "invoices"])
    ['orders', 'orders-eu', 'invoices']
    """
    return difflib.get_close_matches(group, sorted(known), n=_NAMED_MAX, cutoff=0.0)


def unknown_group(group: str, known: Iterable[str]) -> UsageError:
    """Return the refusal of a group that nobody knows."""
    nearest = nearest_groups(group, known)
    beside = f"the nearest known are {', '.join(nearest)}" if nearest else "no group is known"
    return UsageError(
        f"{group}: nobody knows this group: no member, no rule, no reset and no commit.",
        remedy=f"Check its name ({beside}); --new-group if it is meant to begin there.",
    )


def _group_of(key: bytes | None) -> str:
    """Return the group of a key of control or assignments; "" if it is none of theirs."""
    try:
        named = orjson.loads(key or b"")
    except orjson.JSONDecodeError:
        return ""
    return named[0] if isinstance(named, list) and named and isinstance(named[0], str) else ""
