"""Shares a class of queues that overlaps with no other: exact balance with the fewest moves.

It decides how many queues each member has, and which ones. All queues are equal; a member's load is
its number of queues / its capacity. Giving queues one by one to the member whose load stays lowest
is optimal for such a separable convex problem (Gross 1956; Ibaraki and Katoh, Resource Allocation
Problems, 1988). Only members whose next load is exactly the last level may or may not have one
more; those that hold more already come first. A member then gives away only what is above its
share, so the moves are the fewest that the balance allows.
"""

from collections import Counter
from collections.abc import Callable
from heapq import heapify, heapreplace
from itertools import compress

from strategies.sticky.numbered_request import NOBODY, NumberedRequest
from strategies.sticky.zone_places import given_away, near_ones

__all__ = ["deal", "share_one_class", "shares"]


Near = Callable[[list[int], list[int]], frozenset[int]]
"""Returns which of some members, by place and in order, are near to a queue that is left over."""


def shares(
    total: int, capacity: list[float], held: list[int], near: Near | None = None
) -> list[int]:
    """Return how many of ``total`` queues each member gets, given how many it holds.

    ``near`` gets each member's certain number, and returns who should rather have one more if the
    moves allow it.
    """
    if len(set(capacity)) == 1:
        base, rest = divmod(total, len(capacity))
        sure = [base] * len(capacity)
        border = list(range(len(capacity)))
    else:
        sure, border, rest = _unequal(total, capacity)
    border.sort(key=lambda place: held[place] <= sure[place])
    waiting = [place for place in border if held[place] <= sure[place]]
    if near is not None and len(border) - len(waiting) < rest < len(border):
        close = near(sure, waiting)
        border.sort(key=lambda place: (held[place] <= sure[place], place not in close))
    for place in border[:rest]:
        sure[place] += 1
    return sure


def _unequal(total: int, capacity: list[float]) -> tuple[list[int], list[int], int]:
    """Return each member's certain number, the members on the border, and how many get one more."""
    level = total / sum(capacity)
    # One below the floor: despite rounding never more than an optimal share.
    counts = [max(0, int(level * one) - 1) for one in capacity]
    heap = [((counts[place] + 1) / one, place) for place, one in enumerate(capacity)]
    heapify(heap)
    last = max((count / one for count, one in zip(counts, capacity, strict=True)), default=0.0)
    for _ in range(total - sum(counts)):
        last, place = heap[0]
        counts[place] += 1
        heapreplace(heap, ((counts[place] + 1) / capacity[place], place))
    sure = [
        count - 1 if count and count / one == last else count
        for count, one in zip(counts, capacity, strict=True)
    ]
    border = [place for place, one in enumerate(capacity) if (sure[place] + 1) / one == last]
    return sure, border, total - sum(sure)


def share_one_class(
    numbered: NumberedRequest, number: int, queues: list[int], owner: list[int]
) -> None:
    """Write the owners of the queues of a class into ``owner``."""
    members = numbered.classes[number]
    home = numbered.home
    whole = len(queues) == len(home)
    homes = home if whole else list(map(home.__getitem__, queues))
    counted = Counter(homes)
    held = [counted.get(member, 0) for member in members]

    def near(sure: list[int], border: list[int]) -> frozenset[int]:
        gets = {member: size - has for member, size, has in zip(members, sure, held, strict=True)}
        near_members = near_ones(numbered, queues, gets, [members[place] for place in border])
        return frozenset(place for place in border if members[place] in near_members)

    capacity = [numbered.capacity[member] for member in members]
    sizes = shares(len(queues), capacity, held, near if numbered.queue_zone else None)
    left = {
        member: size - has
        for member, size, has in zip(members, sizes, held, strict=True)
        if size > has
    }
    keeps = {
        member: size for member, size, has in zip(members, sizes, held, strict=True) if has > size
    }
    keeps[NOBODY] = 0
    changing = list(compress(queues, map(keeps.__contains__, homes)))
    if whole:
        owner[:] = home
    else:
        for queue, one in zip(queues, homes, strict=True):
            owner[queue] = one
    places = _places(left)
    if places:
        deal(numbered, given_away(numbered, changing, keeps, places), places, owner)


def _places(left: dict[int, int]) -> list[int]:
    """Return one entry per queue that a member still gets, in rounds, so that topics spread."""
    places: list[int] = []
    waiting = list(left)
    while waiting:
        places += waiting
        for member in waiting:
            left[member] -= 1
        waiting = [member for member in waiting if left[member]]
    return places


def deal(numbered: NumberedRequest, queues: list[int], places: list[int], owner: list[int]) -> None:
    """Give equal queues to as many places: home first, then by zone, then in order."""
    if len(places) == len(queues) and not numbered.queue_zone:
        homes = set(places)
        if not any(numbered.home[queue] in homes for queue in queues):
            for queue, member in zip(queues, places, strict=True):
                owner[queue] = member
            return
    free = Counter(places)
    queues = _match(queues, free, {queue: numbered.home[queue] for queue in queues}, owner)
    if numbered.queue_zone:
        waiting: dict[str | None, list[int]] = {}
        for member in reversed(places):
            waiting.setdefault(numbered.member_zone[member], []).append(member)
        queues = _match_zones(numbered, queues, waiting, free, owner)
    rest = []
    for member in places:
        if free[member]:
            free[member] -= 1
            rest.append(member)
    for queue, member in zip(queues, rest, strict=True):
        owner[queue] = member


def _match(
    queues: list[int], free: Counter[int], wanted: dict[int, int], owner: list[int]
) -> list[int]:
    """Give each queue to its wanted member while that has a place; return the other queues."""
    others = []
    for queue in queues:
        member = wanted[queue]
        if free[member] > 0:
            free[member] -= 1
            owner[queue] = member
        else:
            others.append(queue)
    return others


def _match_zones(
    numbered: NumberedRequest,
    queues: list[int],
    waiting: dict[str | None, list[int]],
    free: Counter[int],
    owner: list[int],
) -> list[int]:
    """Give each queue to a place in its zone; return those whose zone has no place left.

    ``waiting`` holds the places of each zone, the next one last.
    """
    others = []
    for queue in queues:
        zone = numbered.queue_zone[queue]
        stack = waiting.get(zone, []) if zone is not None else []
        while stack and not free[stack[-1]]:
            stack.pop()
        if stack:
            member = stack.pop()
            free[member] -= 1
            owner[queue] = member
        else:
            others.append(queue)
    return others
