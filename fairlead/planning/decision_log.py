"""The newest decisions of one group, read from the end of their topic.

Decides from where on the topic must be read: a busy one holds days of every group's decisions, and
what is asked for mostly stands near its end.
"""

from itertools import pairwise
from typing import Final

from fairlead.core.model import Epoch
from fairlead.sources.topic_source import TopicSource
from fairlead.wire.decision_records import DecisionRecord, decisions_of

__all__ = ["claimed_generation", "decisions_after", "hides_newer", "last_life", "newest_epoch"]

_EMPTY: Final = "empty"
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
        if found and not (back_ms and hides_newer(source, found[-1].generation)):
            return found[-1].epoch
    return None


def hides_newer(source: TopicSource, generation: int) -> bool:
    """Tell whether a newer engine may have decided before the window that was read.

    An engine that was superseded may write last, and what it wrote counts for nobody. Only a
    decision of the newer engine tells so, and that may be older than the window.

    Args:
        source: the topics.
        generation: the greatest of the decisions in the window.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    return claimed_generation(source) > generation


def claimed_generation(source: TopicSource) -> int:
    """Return the newest generation that a driver has claimed; 0: none is there.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    return max((row.offset + 1 for row in source.rows("generations", [0])), default=0)


def decisions_after(source: TopicSource, group: str, epoch: Epoch | None) -> list[DecisionRecord]:
    """Return a group's decisions of greater epochs than this one, the oldest first.

    None: every decision that is there.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    found: list[DecisionRecord] = []
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        if back_ms and found and hides_newer(source, found[-1].generation):
            continue
        if epoch is not None and any(each.epoch <= epoch for each in found):
            break
    return [each for each in found if epoch is None or each.epoch > epoch]


def last_life(source: TopicSource, group: str) -> list[DecisionRecord]:
    """Return a group's decisions since it was last without members, and those that emptied it.

    None of them: no decision is there, or any more.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    newest_ms = source.newest_ms("decisions", 0)
    if newest_ms is None:
        return []
    life: list[DecisionRecord] = []
    for back_ms in _LOOKS_BACK_MS:
        found = _read(source, group, newest_ms, back_ms)
        begins = [
            number
            for number, (before, each) in enumerate(pairwise(found), 1)
            if before.phase == _EMPTY and each.phase != _EMPTY
        ]
        life = found[begins[-1] :] if begins else found
        if begins and not (back_ms and hides_newer(source, found[-1].generation)):
            break
    return life


def _read(
    source: TopicSource, group: str, newest_ms: int, back_ms: int | None
) -> list[DecisionRecord]:
    since_ms = None if back_ms is None else max(newest_ms - back_ms, 0)
    return [*decisions_of(group, source.rows("decisions", [0], since_ms))]
