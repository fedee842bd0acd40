"""Laws of our own selection: fairness, no starvation, never the broker that has just failed."""

from collections import Counter

import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.fair_selection import FairRoundRobin
from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.produce.target import Target
from hypothesis import given
from hypothesis import strategies as st

NOBODY: frozenset[str] = frozenset()
A1, A2, B1, B2, C1, C2 = SIX = tuple(
    Target(Queue("T", broker, number), broker) for broker in "ABC" for number in (1, 2)
)
BROKERS = st.sets(st.sampled_from("ABC"))


def test_next_broker_after_a_failure() -> None:
    """Of A1, A2, B1, B2, C1, C2 the queue after a failed A1 is B1; each later time another."""
    turns, after = FairRoundRobin(SIX, 0), list[Target]()
    while len(after) < 5:
        if turns.select() == A1:
            after.append(turns.select(tried=("A",)))
    assert after == [B1, B2, C1, C2, B1]


def test_neighbours_of_an_avoided_broker_share_its_load() -> None:
    """Around an avoided A each of the four other queues gets a quarter of 600 sendings."""
    turns = FairRoundRobin(SIX, 0)
    taken = Counter(turns.select(frozenset("A")) for _ in range(600))
    assert taken == dict.fromkeys((B1, B2, C1, C2), 150)


def test_repeated_attempts_are_shared_too() -> None:
    """A fails each time it is tried: the attempts after it are spread over all other queues."""
    turns, taken = FairRoundRobin(SIX, 0), Counter[Target]()
    for _ in range(600):
        target = turns.select()
        if target.broker == "A":
            target = turns.select(tried=("A",))
        taken[target] += 1
    assert taken == dict.fromkeys((B1, B2, C1, C2), 150)


@pytest.mark.parametrize(
    "avoided, unreachable, tried, brokers",
    [
        ("A", "", (), "BC"),
        ("AB", "B", (), "C"),
        # Nobody is free: a reachable one, then any that was not tried, then not the last.
        ("ABC", "B", (), "AC"),
        ("ABC", "ABC", (), "ABC"),
        ("ABC", "ABC", ("A",), "BC"),
        ("C", "C", ("A", "B"), "C"),
        ("", "", ("A", "B", "C"), "AB"),
    ],
)
def test_the_best_kind_of_broker_is_chosen_in_turn(
    avoided: str, unreachable: str, tried: tuple[str, ...], brokers: str
) -> None:
    """The best kind of broker that there is a queue of is chosen, each of its queues in turn."""
    turns = FairRoundRobin(SIX, 3)
    taken = {
        turns.select(frozenset(avoided), frozenset(unreachable), tried).broker for _ in range(6)
    }
    assert taken == set(brokers)


def test_the_own_zone_is_preferred() -> None:
    """Queues of the own zone are preferred, until none of them may be taken."""
    near, far = Target(Queue("T", "k", 0), "1", "near"), Target(Queue("T", "k", 1), "2", "far")
    unknown = Target(Queue("T", "k", 2), "3")
    turns = FairRoundRobin((far, unknown, near), 0, zone="near")
    assert {turns.select() for _ in range(4)} == {near}
    assert {turns.select(frozenset("1")) for _ in range(4)} == {far, unknown}
    assert turns.select(tried=("1",)) in (far, unknown)
    elsewhere = FairRoundRobin((far, unknown, near), 0, zone="moon")
    assert {elsewhere.select() for _ in range(3)} == {near, far, unknown}


def test_a_queue_without_a_leader_is_the_last_choice() -> None:
    """A queue that nobody leads is taken only when there is no other."""
    led, leaderless = Target(Queue("T", "k", 0), "1"), Target(Queue("T", "k", 1), None)
    turns = FairRoundRobin((led, leaderless), 0)
    assert {turns.select(frozenset("1"), frozenset("1"), ("1",)) for _ in range(3)} == {led}
    assert FairRoundRobin((leaderless,), 5).select(tried=("1",)) == leaderless


def test_selection_without_queues_raises_a_named_error() -> None:
    """Without queues there is a named error."""
    with pytest.raises(NoQueueError):
        FairRoundRobin((), 0).select()


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    start=st.integers(0, 1_000),
    avoided=BROKERS,
    unreachable=BROKERS,
    tried=st.lists(st.sampled_from("ABC"), unique=True, max_size=3),
)
def test_no_queue_is_ahead_of_another_by_more_than_one(
    sizes: list[int], start: int, avoided: set[str], unreachable: set[str], tried: list[str]
) -> None:
    """Whatever is passed over, no queue that may be taken is ahead of another by more than one."""
    there = [
        Target(Queue("T", broker, number), broker)
        for broker, size in zip("ABC", sizes, strict=False)
        for number in range(size)
    ]
    turns = FairRoundRobin(there, start)
    taken = [
        turns.select(frozenset(avoided), frozenset(unreachable), tried)
        for _ in range(2 * len(there) + 1)
    ]
    counts = Counter(taken)
    brokers = {target.broker for target in taken}
    # Every queue of a broker that is taken at all takes turns.
    among = [target for target in there if target.broker in brokers]
    assert max(counts.values()) - min(counts[target] for target in among) <= 1
    others = {target.broker for target in there} - set(tried[-1:])
    assert not tried or not others or tried[-1] not in brokers


@given(
    start=st.integers(0, 100),
    calls=st.lists(st.tuples(BROKERS, st.sampled_from([(), ("A",), ("B",)])), max_size=60),
)
def test_a_full_round_takes_every_queue_once(
    start: int, calls: list[tuple[set[str], tuple[str, ...]]]
) -> None:
    """Whatever was passed over before, a full round takes every queue once."""
    turns = FairRoundRobin(SIX, start)
    for avoided, tried in calls:
        turns.select(frozenset(avoided), NOBODY, tried)
    assert sorted(turns.select() for _ in SIX) == sorted(SIX)
