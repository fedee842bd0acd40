"""The effort of STICKY: how it ends, what is said of it, and that it is the same everywhere."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from fairlead.core.allocation import Allocation, AllocationRequest, Candidate
from strategies.sticky.strategy import Sticky
from tests.strategies.sticky_groups import owners_of, queues_of

BALANCE = (
    "cut short after {} steps: the balance may not be the best; a greater effort may improve it"
)
MOVES = BALANCE.replace("balance may not be the best", "moves may not be the fewest")


def group(**options: Any) -> AllocationRequest:
    """Return a group of 60 members that subscribe 3 of 12 topics each, with owners by chance."""
    chance = Random(7)
    queues = {
        f"topic-{number:02}": queues_of(f"topic-{number:02}", 10 + 8 * number)
        for number in range(12)
    }
    candidates = tuple(
        Candidate(f"client-{number:02}", frozenset(chance.sample(sorted(queues), 3)))
        for number in range(60)
    )
    owners = {
        queue: chance.choice([one.client_id for one in candidates if topic in one.topics])
        for topic, held in queues.items()
        for queue in held
    }
    return AllocationRequest("group", candidates, queues, owners, options=options)


def weighted(**options: Any) -> AllocationRequest:
    """Return the same group with weights by chance."""
    chance = Random(8)
    queues = [queue for held in group().queues.values() for queue in held]
    return group(weights=[[queue, chance.randint(1, 1_000)] for queue in queues], **options)


def unevenness(request: AllocationRequest, allocation: Allocation) -> int:
    """Return the sum of squared numbers of queues."""
    owners = list(owners_of(request, allocation).values())
    return sum(owners.count(name) ** 2 for name in {*owners})


def test_the_default_effort_is_enough() -> None:
    """With the effort that it has by itself nothing is cut short."""
    assert Sticky().allocate(group()).notes == ()
    assert Sticky().allocate(weighted()).notes == ()


@pytest.mark.parametrize("effort", [0, 100, 10_000, 80_000])
@pytest.mark.parametrize("drawn", [group, weighted])
def test_an_effort_cut_short_leaves_valid_owners(
    drawn: Callable[..., AllocationRequest], effort: int
) -> None:
    """Whenever it ends, each queue has one owner that subscribes its topic, and a note says so."""
    request = drawn(effort=effort)
    allocation = Sticky().allocate(request)
    found = owners_of(request, allocation)
    assert set(found) == {queue for held in request.queues.values() for queue in held}
    assert Sticky().allocate(drawn(effort=effort)) == allocation
    if effort < 1_000:
        assert allocation.notes == (BALANCE.format(effort),)


def test_more_effort_is_more_even() -> None:
    """The more effort the more even, until the balance is reached; then moves are saved."""
    best = unevenness(group(), Sticky().allocate(group()))
    found, notes = [], []
    for effort in range(0, 240_000, 12_000):
        request = group(effort=effort)
        allocation = Sticky().allocate(request)
        found.append(unevenness(request, allocation))
        notes.append(allocation.notes)
        if MOVES.format(effort) in allocation.notes:
            assert found[-1] == best
    assert found == sorted(found, reverse=True)
    assert found[0] > best == found[-1]
    assert BALANCE.format(12_000) in notes[1]
    assert {len(each) for each in notes} == {0, 1}
    assert any(note.startswith("cut") and "moves" in note for each in notes for note in each)
