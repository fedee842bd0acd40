"""Releases that were read are remembered, within bounds."""

import pytest
from fairlead_client.model import Epoch, Holder, Position, Queue
from fairlead_client.session import seen_releases
from fairlead_client.session.records import Release
from fairlead_client.session.seen_releases import PER_QUEUE_MAX, SeenReleases

QUEUE = Queue("orders", "main", 1)


def release(number: int, offset: int | None, queue_id: int = 1) -> Release:
    """Return a release by b under an epoch."""
    position = None if offset is None else Position(0, offset)
    return Release("orders", QUEUE._replace(queue_id=queue_id), holder(number), position)


def holder(number: int) -> Holder:
    """Return b under an epoch."""
    return Holder("b", "b-1", Epoch(1, number))


def test_a_release_of_nothing_is_one_too() -> None:
    """None is a release too; what was not read is not found."""
    seen = SeenReleases()
    seen.remember(release(1, None))
    assert seen.find(QUEUE, holder(1)) == (True, None)
    assert seen.find(QUEUE, holder(2)) == (False, None)
    assert seen.find(QUEUE._replace(queue_id=2), holder(1)) == (False, None)


@pytest.mark.parametrize("order", [(5, None, 3), (None, 3, 5), (3, 5, None)])
def test_the_greatest_released_position_stands(order: tuple[int | None, ...]) -> None:
    """Of several for one holder the greatest position stands, in whatever order they come."""
    seen = SeenReleases()
    for offset in order:
        seen.remember(release(1, offset))
    assert seen.find(QUEUE, holder(1)) == (True, (0, 5))


def test_the_oldest_release_of_a_queue_is_forgotten_first() -> None:
    """The oldest of a queue is forgotten first."""
    seen = SeenReleases()
    for number in range(PER_QUEUE_MAX + 1):
        seen.remember(release(number, number))
    assert not seen.find(QUEUE, holder(0))[0]
    assert seen.find(QUEUE, holder(1))[0]


def test_the_queue_not_read_for_longest_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client forgets first the queue it has read nothing about for longest."""
    monkeypatch.setattr(seen_releases, "RELEASES_MAX", 2)
    seen = SeenReleases()
    for queue_id in (1, 2, 1, 3):
        seen.remember(release(1, 0, queue_id))
    found = [seen.find(QUEUE._replace(queue_id=queue_id), holder(1))[0] for queue_id in (1, 2, 3)]
    assert found == [True, False, True]


def test_not_more_than_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many holders queues have, no more releases are kept than the bound."""
    monkeypatch.setattr(seen_releases, "RELEASES_MAX", 20)
    seen = SeenReleases()
    for number in range(200):
        seen.remember(release(number, number, queue_id=number // 6))
    kept = [
        (number, queue_id)
        for number in range(200)
        for queue_id in range(40)
        if seen.find(QUEUE._replace(queue_id=queue_id), holder(number))[0]
    ]
    assert 10 < len(kept) <= 20
    assert kept[-1] == (199, 199 // 6)
