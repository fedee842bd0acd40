"""Groups that STICKY shares out, and what every result of it keeps."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from fairlead.core.allocation import Allocation, AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from strategies.sticky.strategy import Sticky

Owners = dict[MessageQueue, str]


def queues_of(topic: str, count: int) -> tuple[MessageQueue, ...]:
    """Return the queues of a topic, on two brokers by turns."""
    return tuple(MessageQueue(topic, f"broker-{number % 2}", number) for number in range(count))


def allocate(
    topics: Mapping[str, int],
    members: Mapping[str, Iterable[str]],
    owners: Owners | None = None,
    **options: Any,
) -> Owners:
    """Allocate topics of so many queues, and check what holds for every result."""
    candidates = tuple(
        Candidate(name, frozenset(subscribed)) for name, subscribed in members.items()
    )
    queues = {topic: queues_of(topic, count) for topic, count in topics.items()}
    request = AllocationRequest("group", candidates, queues, owners or {}, options=options)
    return owners_of(request, Sticky().allocate(request))


def owners_of(request: AllocationRequest, allocation: Allocation) -> Owners:
    """Return who owns which queue, once the form of the result is checked."""
    assert set(allocation.topics) == set(request.queues)
    assert not allocation.failures
    found: Owners = {}
    for topic, shares in allocation.topics.items():
        subscribers = {one.client_id for one in request.candidates if topic in one.topics}
        assert set(shares) <= subscribers
        for client_id, owned in shares.items():
            assert owned
            assert list(owned) == [queue for queue in sorted(owned) if queue.topic == topic]
            for queue in owned:
                assert queue not in found
                found[queue] = client_id
    assert set(found) <= {queue for queues in request.queues.values() for queue in queues}
    return found


def everybody(names: Iterable[str], topics: Iterable[str] = ("orders",)) -> dict[str, list[str]]:
    """Return members that all subscribe the same topics."""
    return {name: list(topics) for name in names}


def names(count: int) -> list[str]:
    """Return so many client ids."""
    return [f"client-{number:02}" for number in range(count)]


def moved(before: Owners, after: Owners, present: Iterable[str]) -> int:
    """Count the queues that somebody who is still there loses."""
    still = set(present)
    return sum(
        before[queue] in still and after[queue] != before[queue]
        for queue in after
        if queue in before
    )


def loads(owners: Owners, members: Iterable[str]) -> list[int]:
    """Return how many queues each member has, most first."""
    counts = Counter(owners.values())
    return sorted((counts[name] for name in members), reverse=True)


def draw_owners(draw: st.DrawFn, topics: Mapping[str, int], clients: Iterable[str]) -> Owners:
    """Draw who owned each queue before, or that nobody did."""
    known = st.sampled_from([*clients, ""])
    return {
        queue: owner
        for topic, count in topics.items()
        for queue in queues_of(topic, count)
        if (owner := draw(known))
    }


UnequalGroup = tuple[dict[str, int], dict[str, list[str]], Owners]


@st.composite
def unequal_groups(draw: st.DrawFn, queues_max: int = 3) -> UnequalGroup:
    """Draw up to three topics, up to four members that subscribe some of them, and any owners."""
    topics = {
        f"topic-{number}": draw(st.integers(1, queues_max))
        for number in range(draw(st.integers(1, 3)))
    }
    members = {
        name: draw(st.lists(st.sampled_from(sorted(topics)), unique=True))
        for name in names(draw(st.integers(1, 4)))
    }
    return topics, members, draw_owners(draw, topics, members)
