"""The newest decisions of one group, read from the end of their topic.

Decides from where on the topic must be read: a busy one holds days of every group's decisions, and
what is asked for mostly stands near its end.
"""

from typing import Final

from fairlead.local.decisions import Decision, DecisionReader, Epoch
from fairlead.sources.topic_source import TopicSource

__all__ = ["decisions_after", "newest_epoch"]

_LOOKS_BACK_MS: Final = (60_000, 3_600_000, None)
"""So long before the newest decision of all groups the topic is read from; None: from its begin."""


def newest_epoch(source: TopicSource, group: str) -> Epoch | None:
    """Return the epoch of a group's newest decision; None: none is there, or any more.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return None
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        if found:
            return found[-1].epoch
    return None


def decisions_after(source: TopicSource, group: str, epoch: Epoch | None) -> list[Decision]:
    """Return a group's decisions of greater epochs than this one, the oldest first.

    None: every decision that is there.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    found: list[Decision] = []
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        if epoch is not None and any(each.epoch <= epoch for each in found):
            break
    return [each for each in found if epoch is None or each.epoch > epoch]


def _read(source: TopicSource, group: str, newest_ms: int, back_ms: int | None) -> list[Decision]:
    since_ms = None if back_ms is None else max(newest_ms - back_ms, 0)
    reader, found = DecisionReader(group), list[Decision]()
    for row in source.read("decisions", [0], since_ms):
        try:
            decision = None if row.value is None else reader.read(row.value)
        except ValueError:
            # Of a later version, or nobody's: it tells nothing of this group.
            continue
        if decision is not None:
            found.append(decision)
    return found
