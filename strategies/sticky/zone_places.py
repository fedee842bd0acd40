"""Uses zones for choices that balance and moves leave open: which queues go, who has one more.

It decides nothing if no queue has a zone. A member gives away first queues that a taker is near to,
then others, and last those of its own zone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from strategies.sticky.numbered_request import NOBODY, NumberedRequest

__all__ = ["ZonePlaces", "given_away", "near_ones"]


class ZonePlaces:
    """The number of places left in each zone; None as a zone has none."""

    def __init__(self, zones: Iterable[str | None]) -> None:
        """Count one place for each zone named."""
        self._left = Counter(zone for zone in zones if zone is not None)

    def fill(self, zone: str | None, places: int) -> None:
        """Use up several places of a zone, even more than it has."""
        if zone is not None:
            self._left[zone] -= places

    def use(self, zone: str | None) -> bool:
        """Use up one place of a zone; return whether there was one."""
        if zone is None or self._left[zone] <= 0:
            return False
        self._left[zone] -= 1
        return True


def near_ones(
    numbered: NumberedRequest, queues: list[int], gets: Mapping[int, int], order: Iterable[int]
) -> frozenset[int]:
    """Return the members, tried in order, in whose zone a queue will need an owner.

    Args:
        numbered: the members and queues.
        queues: all queues to share.
        gets: how many more than now each possible owner certainly gets; below 0: it gives away.
        order: members that may get one more.
    """
    places = ZonePlaces(
        numbered.queue_zone[queue]
        for queue in queues
        if (home := numbered.home[queue]) == NOBODY
        or (gets[home] < 0 and not numbered.in_zone(queue, home))
    )
    for member, count in gets.items():
        places.fill(numbered.member_zone[member], max(0, count))
    return frozenset(member for member in order if places.use(numbered.member_zone[member]))


def given_away(
    numbered: NumberedRequest, queues: list[int], keeps: Mapping[int, int], takers: Iterable[int]
) -> list[int]:
    """Return the queues that their owners do not keep, ascending.

    Args:
        numbered: the members and queues.
        queues: queues of owners that keep less than they have, ascending.
        keeps: how many each of these owners keeps.
        takers: the members that get the queues, repeated once per queue.
    """
    left = dict(keeps)
    if not numbered.queue_zone:
        return [queue for queue in queues if not _keep(left, numbered.home[queue])]
    places = ZonePlaces(numbered.member_zone[member] for member in takers)
    owned: dict[int, list[int]] = {}
    for queue in queues:
        owned.setdefault(numbered.home[queue], []).append(queue)
    given: list[int] = []
    # A member that keeps nothing has no choice, so it comes first.
    for member in sorted(owned, key=lambda one: keeps[one] > 0):
        own = owned[member]
        near = [queue for queue in own if member != NOBODY and numbered.in_zone(queue, member)]
        others = [queue for queue in own if member == NOBODY or not numbered.in_zone(queue, member)]
        count = len(own) - keeps[member]
        # From the end: without a preference the first queues stay.
        wanted: list[int] = []
        for queue in reversed(others):
            if len(wanted) < count and places.use(numbered.queue_zone[queue]):
                wanted.append(queue)
        chosen = frozenset(wanted)
        rest = [queue for queue in reversed(others) if queue not in chosen] + near[::-1]
        for queue in rest[: count - len(wanted)]:
            places.use(numbered.queue_zone[queue])
            wanted.append(queue)
        given += wanted
    return sorted(given)


def _keep(left: dict[int, int], member: int) -> bool:
    kept = left[member] > 0
    left[member] -= kept
    return kept
