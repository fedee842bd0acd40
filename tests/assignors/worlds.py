"""Groups drawn by chance: who subscribes what, who settled them, and what changed since."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fairlead_proof.bench.assignors.group import NOBODY, Group, Owners

SETTLERS: Final = ("STICKY", "UNIFORM", "COOPERATIVE_STICKY")
KINDS: Final = ("equal", "buckets", "ring", "nested", "any")
CHANGES: Final = ("join", "leave", "growth", "subscription", "several", "none")


@dataclass(frozen=True, slots=True)
class Draft:
    """A group before it is settled, and what happens to it then.

    Attributes:
        kind: how its members subscribe.
        settled_by: who shares it for the first time; None if owners are drawn, or there are none.
        change: what happens to it afterwards.
        first: the group without owners, or with drawn ones.
        seed: of the change.
    """

    kind: str
    settled_by: str | None
    change: str
    first: Group
    seed: int

    def changed(self, owners: Owners | None) -> Group:
        """Return the group to be shared: settled with these owners, and changed."""
        group = self.first if owners is None else self.first.owned_by(owners)
        return _changed(group, self.change, random.Random(self.seed))


def drafts(seed: int, count: int) -> list[Draft]:
    """Draw so many groups; every combination of kind, settler and change comes in turn."""
    chance = random.Random(seed)
    return [_draft(number, chance) for number in range(count)]


def _draft(number: int, chance: random.Random) -> Draft:
    kind = KINDS[number % len(KINDS)]
    settled_by = chance.choice((*SETTLERS, None))
    # Most are small, so that a difference can be understood; some are not.
    members = chance.randint(1, 8) if chance.random() < 0.7 else chance.randint(9, 40)
    topics = [chance.randint(1, chance.choice((3, 12))) for _ in range(chance.randint(1, 6))]
    if members > 8:
        topics = [count * chance.randint(1, 6) for count in topics]
    subscriptions = _subscriptions(kind, len(topics), chance)
    wanted = [chance.randrange(len(subscriptions)) for _ in range(members)]
    group = Group.unowned(topics, subscriptions, wanted)
    if settled_by is None and chance.random() < 0.8:
        group = group.owned_by(_drawn_owners(group, chance))
    change = chance.choice(CHANGES) if settled_by else "none"
    return Draft(kind, settled_by, change, group, chance.randrange(2**32))


def _subscriptions(kind: str, topics: int, chance: random.Random) -> list[list[int]]:
    everything = list(range(topics))
    match kind:
        case "equal":
            return [everything]
        case "buckets":
            cut = chance.randint(0, topics)
            return [part for part in (everything[:cut], everything[cut:]) if part]
        case "ring":
            return [sorted({topic, (topic + 1) % topics}) for topic in everything]
        case "nested":
            return [everything[: topic + 1] for topic in everything]
        case _:
            return [
                sorted(chance.sample(everything, chance.randint(1, topics)))
                for _ in range(chance.randint(2, 6))
            ]


def _drawn_owners(group: Group, chance: random.Random) -> Owners:
    """Any owners: even or not, some of them missing, some in the hands of few."""
    missing = chance.choice((0, 0.1, 0.5))
    few = chance.randint(1, len(group.members))
    return _each(
        group,
        lambda subscribers: (
            NOBODY
            if not subscribers or chance.random() < missing
            else chance.choice(subscribers[:few])
        ),
    )


def _each(group: Group, owner: Callable[[Sequence[int]], int]) -> Owners:
    return tuple(
        tuple(owner(subscribers) for _ in range(count))
        for subscribers, count in zip(group.subscribers(), group.topics, strict=True)
    )


def _changed(group: Group, change: str, chance: random.Random) -> Group:
    if change == "several":
        for one in chance.sample(CHANGES[:4], 2):
            group = _changed(group, one, chance)
        return group
    several = chance.choice((1, 1, 1, 2, 5))
    match change:
        case "join":
            return _joined(group, several, chance)
        case "leave":
            return _left(group, several, chance)
        case "growth":
            return _grown(group, several, chance)
        case "subscription":
            members = list(group.members)
            for _ in range(several):
                members[chance.randrange(len(members))] = chance.randrange(len(group.subscriptions))
            return Group(group.topics, group.subscriptions, tuple(members), group.owners)
        case _:
            return group


def _joined(group: Group, several: int, chance: random.Random) -> Group:
    """Members join anywhere in the order of names."""
    members: list[tuple[int, int | None]] = [(one, at) for at, one in enumerate(group.members)]
    for _ in range(several):
        subscription = chance.randrange(len(group.subscriptions))
        members.insert(chance.randint(0, len(members)), (subscription, None))
    return _renumbered(group, members)


def _left(group: Group, several: int, chance: random.Random) -> Group:
    stay = max(1, len(group.members) - several)
    kept = sorted(chance.sample(range(len(group.members)), stay))
    return _renumbered(group, [(group.members[at], at) for at in kept])


def _renumbered(group: Group, members: Sequence[tuple[int, int | None]]) -> Group:
    """Return the group with these members: each with its subscription, and where it was."""
    place = {before: now for now, (_, before) in enumerate(members) if before is not None}
    owners = tuple(tuple(place.get(owner, NOBODY) for owner in one) for one in group.owners)
    subscribed = tuple(subscription for subscription, _ in members)
    return Group(group.topics, group.subscriptions, subscribed, owners)


def _grown(group: Group, several: int, chance: random.Random) -> Group:
    more = [0] * len(group.topics)
    for _ in range(several):
        more[chance.randrange(len(more))] += chance.randint(1, 6)
    return Group(
        tuple(_sums(group.topics, more)),
        group.subscriptions,
        group.members,
        tuple((*one, *[NOBODY] * new) for one, new in zip(group.owners, more, strict=True)),
    )


def _sums(left: Iterable[int], right: Iterable[int]) -> list[int]:
    return [one + other for one, other in zip(left, right, strict=True)]
