"""Who shares in a queue, by its entries: the short way for most queues, and what passes whom by."""

from typing import Any

import pytest

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.ownership import GrantEnds, QueueOwnership, ownership_of, shares_of
from fairlead.wire.assignment_records import HeldEntry

QUEUE, MEMBER, EPOCH = MessageQueue("orders", "main", 0), MemberKey("c1", "i1"), Epoch(1, 1)
ENTRIES = [(MEMBER, HeldEntry(QUEUE, EPOCH, "held"))]


class _Assignments:
    def queues(self) -> dict[MessageQueue, list[tuple[MemberKey, HeldEntry]]]:
        return {QUEUE: ENTRIES}


class _Releases:
    def __init__(self, *, ended: bool) -> None:
        self._ended = ended

    def has(self, *_: object) -> bool:
        return self._ended


class _Decisions:
    def is_over(self, *_: object) -> bool:
        return False

    def grant(self, *_: object) -> None:
        return None


@pytest.mark.parametrize("ended", [False, True])
def test_the_short_way_says_what_the_rule_says(*, ended: bool) -> None:
    """The member owns the queue, or nobody does if its grant is over."""
    releases: Any = _Releases(ended=ended)
    decisions: Any = _Decisions()
    assignments: Any = _Assignments()
    ends = GrantEnds(releases, decisions, ())
    short = ownership_of(assignments, ends)
    shares = shares_of(QUEUE, ENTRIES, ends)
    assert [(each.state, each.member, each.epoch) for each in shares] == (
        [] if ended else [("held", MEMBER, EPOCH)]
    )
    wanted = {} if ended else {QUEUE: QueueOwnership("held", MEMBER, EPOCH)}
    assert short.queues == wanted
    assert short.owned == ({} if ended else {MEMBER: 1})


NEXT, LAST = MemberKey("c2", "i2"), MemberKey("c3", "i3")
SECOND, THIRD = Epoch(1, 2), Epoch(1, 3)
DRAINS = (MEMBER, HeldEntry(QUEUE, EPOCH, "draining"))
NEVER_STARTED = (NEXT, HeldEntry(QUEUE, SECOND, "draining"))


def _shares(*entries: tuple[MemberKey, HeldEntry]) -> list[tuple[str, MemberKey]]:
    releases: Any = _Releases(ended=False)
    decisions: Any = _Decisions()
    found = shares_of(QUEUE, list(entries), GrantEnds(releases, decisions, ()))
    return [(each.state, each.member) for each in found]


def test_a_dropped_successor_passes_nobody_by() -> None:
    """While a successor that never started is dropped, the one it waited for still drains."""
    assert _shares(DRAINS, NEVER_STARTED) == [("draining", MEMBER), ("draining", NEXT)]


def test_a_standing_grant_passes_by_whom_it_does_not_wait_for() -> None:
    """A newer grant that waits for the first member alone says that the second one has ended."""
    waits = HeldEntry(QUEUE, THIRD, "gated", ((MEMBER, EPOCH),))
    found = _shares(DRAINS, NEVER_STARTED, (LAST, waits))
    assert found == [("draining", MEMBER), ("gated", LAST)]
