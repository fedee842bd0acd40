"""STICKY's input: members and queues as numbers, and the possible owners of each queue.

It decides the order (RocketMQ's), which current owner counts (one that may still own the queue) and
the possible owners of each queue. Queues with the same possible owners form a class. There are few
classes even with many queues, so all later steps work on classes. Rules, in order: an owner must
subscribe to the topic and not be drained; an effective pin leaves only its client; a ban excludes
an owner; with ``zone_first`` only members in the queue's zone remain, if there are any.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice, repeat
from operator import itemgetter, lt

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order
from strategies.sticky.options import StickyOptions

__all__ = ["NOBODY", "NumberedRequest", "TopicShare", "numbered_request"]

NOBODY = -1
"""Instead of a member's number: nobody. Instead of a class: no possible owner."""


@dataclass(slots=True)
class TopicShare:
    """One topic, with queues ``start`` to ``stop`` of the request."""

    topic: str
    start: int
    stop: int


@dataclass(slots=True)
class NumberedRequest:
    """Members and queues by number, both in RocketMQ's order.

    ``classes`` holds the possible owners of each class, ascending; ``class_queues`` its queues,
    ascending. ``home`` is the current owner of each queue; NOBODY if none may keep it.
    ``queue_zone`` is empty if no queue has a zone. ``shared`` is the class of a topic's queues
    unless something narrows it; ``narrowed`` has the classes of its other queues. Members with the
    same subscriptions have the same number in ``profile``; ``subscribed`` holds the topics.
    """

    client_ids: list[str]
    capacity: list[float]
    member_zone: list[str | None]
    profile: list[int]
    queues: list[MessageQueue] = field(default_factory=list)
    queue_zone: list[str | None] = field(default_factory=list)
    home: list[int] = field(default_factory=list)
    topics: list[TopicShare] = field(default_factory=list)
    classes: list[tuple[int, ...]] = field(default_factory=list)
    class_queues: list[list[int]] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)
    narrowed: dict[str, dict[int, None]] = field(default_factory=dict)
    drained: frozenset[int] = frozenset()
    subscribed: list[frozenset[str]] = field(default_factory=list)
    shared_by: dict[int, list[int]] = field(default_factory=dict)

    def classes_of(self, member: int) -> list[int]:
        """Return the classes that a member may own, ascending."""
        profile = self.profile[member]
        topics = self.subscribed[profile]
        if profile not in self.shared_by:
            shared = {self.shared[topic] for topic in topics if topic in self.shared}
            self.shared_by[profile] = sorted(shared)
        own = self.shared_by[profile] if member not in self.drained else []
        if not self.narrowed:
            return own
        narrowed = {
            number
            for topic in topics & self.narrowed.keys()
            for number in self.narrowed[topic]
            if _is_in(self.classes[number], member)
        }
        return sorted(narrowed.union(own)) if narrowed else own

    def sole_class(self, profile: int, counted: set[int]) -> int | None:
        """Return the only counted class that a profile shares; None if there are several."""
        sole = NOBODY
        for topic in self.subscribed[profile]:
            number = self.shared.get(topic, NOBODY)
            if number != sole and number in counted:
                if sole != NOBODY:
                    return None
                sole = number
        return sole

    def in_zone(self, queue: int, member: int) -> bool:
        """Tell whether a queue is in the zone of a member."""
        zone = self.queue_zone[queue] if self.queue_zone else None
        return zone is not None and zone == self.member_zone[member]


def _is_in(members: tuple[int, ...], member: int) -> bool:
    place = bisect_left(members, member)
    return place < len(members) and members[place] == member


def numbered_request(request: AllocationRequest, options: StickyOptions) -> NumberedRequest:
    """Return a request in numbers; the order of its candidates and queues does not matter."""
    return _Builder(request, options).build()


def _sorted_candidates(candidates: Iterable[Candidate]) -> list[Candidate]:
    ordered = list(candidates)
    ids = [candidate.client_id for candidate in ordered]
    # For ASCII, code points and UTF-16 units sort alike; the engine's ids are sorted and distinct.
    if all(map(str.isascii, ids)) and all(map(lt, ids, islice(ids, 1, None))):
        return ordered
    ordered = sorted(candidates, key=lambda candidate: java_order(candidate.client_id))
    distinct = {candidate.client_id: candidate for candidate in ordered}
    if len(distinct) == len(ordered):
        return ordered
    # A repeated client id counts once; which entry counts must not depend on the input's order.
    ordered.sort(key=lambda one: (sorted(one.topics), one.zone or "", one.capacity))
    distinct = {candidate.client_id: candidate for candidate in ordered}
    return [distinct[client_id] for client_id in sorted(distinct, key=java_order)]


def _sorted_queues(queues: Iterable[MessageQueue]) -> list[MessageQueue]:
    ordered = list(queues)
    # For ASCII, code points and UTF-16 units sort alike, and plain tuples compare much faster.
    if not all(map(str.isascii, set(map(itemgetter(1), ordered)))):
        return sorted(dict.fromkeys(ordered), key=queue_order)
    if all(map(lt, ordered, islice(ordered, 1, None))):
        return ordered
    return sorted(dict.fromkeys(ordered))


class _Builder:
    """Builds one numbered request; remembers its classes."""

    def __init__(self, request: AllocationRequest, options: StickyOptions) -> None:
        self.request = request
        self.options = options
        self.candidates = _sorted_candidates(request.candidates)
        ids = [candidate.client_id for candidate in self.candidates]
        self.number = {client_id: number for number, client_id in enumerate(ids)}
        self.zones = options.zones.with_reported(request)
        self.numbered = NumberedRequest(
            ids,
            [options.capacity.get(one.client_id, one.capacity) for one in self.candidates],
            self.zones.of_clients(ids),
            [0] * len(ids),
            drained=frozenset(self.number[one] for one in options.drained & self.number.keys()),
        )
        self.class_numbers: dict[tuple[int, ...], int] = {}
        self.narrowed: dict[tuple[int, str | None, frozenset[str]], int] = {}
        self.special = {queue.topic for queue in (*options.pins, *options.bans)}
        self.zoned = self.zones.knows_queues()

    def build(self) -> NumberedRequest:
        """Return the request, topic by topic in RocketMQ's order."""
        for topic, shared in self._shared_classes().items():
            self._add_topic(topic, shared)
        return self.numbered

    def _shared_classes(self) -> Mapping[str, int]:
        """Return the class of each topic, in order: the possible owners of its ordinary queues."""
        profiles: dict[frozenset[str], list[int]] = {}
        for number, candidate in enumerate(self.candidates):
            profiles.setdefault(candidate.topics, []).append(number)
        for number, members in enumerate(profiles.values()):
            for member in members:
                self.numbered.profile[member] = number
        self.numbered.subscribed += profiles
        by_topic: dict[str, list[int]] = {
            topic: [] for topic in sorted(self.request.queues, key=java_order)
        }
        groups = list(profiles.values())
        adding = {topic: numbers.append for topic, numbers in by_topic.items()}
        for number, topics in enumerate(profiles):
            for topic in topics:
                add = adding.get(topic)
                if add is not None:
                    add(number)
        classes: dict[tuple[int, ...], int] = {}
        # If all members' subscriptions differ, a profile's number is that of its member.
        alone = len(groups) == len(self.candidates)
        for numbers in map(tuple, by_topic.values()):
            if numbers not in classes:
                each = numbers if alone else [one for number in numbers for one in groups[number]]
                classes[numbers] = self._class(self._not_drained(tuple(sorted(each))))
        return {topic: classes[tuple(numbers)] for topic, numbers in by_topic.items()}

    def _not_drained(self, members: tuple[int, ...]) -> tuple[int, ...]:
        drained = self.numbered.drained
        return tuple([one for one in members if one not in drained]) if drained else members

    def _class(self, members: tuple[int, ...]) -> int:
        """Return the number of the class with these possible owners."""
        if not members:
            return NOBODY
        number = self.class_numbers.get(members)
        if number is None:
            number = self.class_numbers[members] = len(self.numbered.classes)
            self.numbered.classes.append(members)
            self.numbered.class_queues.append([])
        return number

    def _add_topic(self, topic: str, shared: int) -> None:
        numbered = self.numbered
        queues = _sorted_queues(self.request.queues[topic])
        start = len(numbered.queues)
        stop = start + len(queues)
        numbered.queues += queues
        numbered.topics.append(TopicShare(topic, start, stop))
        zones = [self.zones.of_queue(queue) for queue in queues] if self.zoned else []
        numbered.queue_zone += zones
        homes = self._homes(topic, queues)
        if topic not in self.special and not (self.options.zone_first and zones):
            numbered.home += homes
            if shared != NOBODY:
                numbered.shared[topic] = shared
                numbered.class_queues[shared] += range(start, stop)
            return
        for number, queue in enumerate(queues):
            zone = zones[number] if zones and self.options.zone_first else None
            found = self._class_of(topic, queue, zone, shared)
            may_keep = found != NOBODY and _is_in(numbered.classes[found], homes[number])
            numbered.home.append(homes[number] if may_keep else NOBODY)
            if found != NOBODY:
                numbered.narrowed.setdefault(topic, {})[found] = None
                numbered.class_queues[found].append(start + number)

    def _homes(self, topic: str, queues: list[MessageQueue]) -> list[int]:
        """Return each queue's current owner if it subscribes to the topic and is not drained."""
        owners = self.request.owners
        if not owners:
            return [NOBODY] * len(queues)
        # map() runs in C: a big group has 100,000 queues.
        names = map(owners.get, queues, repeat(""))
        homes = list(map(self.number.get, names, repeat(NOBODY)))
        profile, subscribed = self.numbered.profile, self.numbered.subscribed
        if len(subscribed) == 1 and topic in subscribed[0] and not self.numbered.drained:
            return homes
        owners_now = set(homes)
        owners_now.discard(NOBODY)
        drained = owners_now & self.numbered.drained
        known = dict.fromkeys(map(profile.__getitem__, owners_now))
        others = {one for one in known if topic not in subscribed[one]}
        if not drained and not others:
            return homes
        leavers = drained.union([one for one in owners_now if profile[one] in others])
        return [NOBODY if one in leavers else one for one in homes]

    def _class_of(self, topic: str, queue: MessageQueue, zone: str | None, shared: int) -> int:
        """Return the class of a queue that a pin, a ban or its zone may narrow."""
        for client_id in self.options.pins.get(queue, ()):
            number = self.number.get(client_id)
            if number is None or number in self.numbered.drained:
                continue
            if topic in self.candidates[number].topics:
                return self._class((number,))
        banned = self.options.bans.get(queue, frozenset())
        if shared == NOBODY or (zone is None and not banned):
            return shared
        key = (shared, zone, banned)
        if key not in self.narrowed:
            ids, member_zone = self.numbered.client_ids, self.numbered.member_zone
            left = [one for one in self.numbered.classes[shared] if ids[one] not in banned]
            near = [one for one in left if zone is not None and member_zone[one] == zone]
            self.narrowed[key] = self._class(tuple(near or left))
        return self.narrowed[key]
