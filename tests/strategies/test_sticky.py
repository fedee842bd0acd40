"""STICKY with equal subscriptions: spread, fewest moves, and independence of the input's order."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest, Candidate
from strategies.sticky.strategy import Sticky
from tests.strategies.sticky_groups import (
    Owners,
    allocate,
    draw_owners,
    everybody,
    loads,
    moved,
    names,
    owners_of,
    queues_of,
)


@st.composite
def equal_worlds(draw: st.DrawFn) -> tuple[dict[str, int], list[str], Owners]:
    """Draw up to three topics, up to eight members and any owners; some have left."""
    topics = {
        f"topic-{number}": draw(st.integers(1, 12)) for number in range(draw(st.integers(1, 3)))
    }
    present = names(draw(st.integers(1, 8)))
    return topics, present, draw_owners(draw, topics, [*present, "gone"])


@given(equal_worlds())
def test_members_differ_by_one_queue_at_most(
    world: tuple[dict[str, int], list[str], Owners],
) -> None:
    """Every queue has one owner and members differ by one queue at most, over all topics."""
    topics, present, owners = world
    after = allocate(topics, everybody(present, topics), owners)
    assert len(after) == sum(topics.values())
    counts = loads(after, present)
    assert counts[0] - counts[-1] <= 1


def fewest_moves(total: int, held: list[int]) -> int:
    """Return the fewest moves of all balanced shares, by trying each of them."""
    base, rest = divmod(total, len(held))
    return min(
        sum(max(0, count - base - more) for count, more in zip(held, extra, strict=True))
        for extra in product((0, 1), repeat=len(held))
        if sum(extra) == rest
    )


@given(equal_worlds())
def test_no_balanced_share_has_fewer_moves(world: tuple[dict[str, int], list[str], Owners]) -> None:
    """Exactly as many queues move as the best of all balanced shares needs."""
    topics, present, owners = world
    after = allocate(topics, everybody(present, topics), owners)
    counts = Counter(owners.values())
    held = [counts[name] for name in present]
    assert moved(owners, after, present) == fewest_moves(sum(topics.values()), held)


@given(equal_worlds(), st.data())
def test_the_order_of_the_request_changes_nothing(
    world: tuple[dict[str, int], list[str], Owners], data: st.DataObject
) -> None:
    """The order of candidates, topics, queues and owners in the request changes nothing."""
    topics, present, owners = world
    candidates = [Candidate(name, frozenset(topics)) for name in present]
    queues = {topic: queues_of(topic, count) for topic, count in topics.items()}
    straight = AllocationRequest("group", tuple(candidates), queues, owners)
    mixed = AllocationRequest(
        "group",
        tuple(data.draw(st.permutations(candidates))),
        {
            topic: tuple(data.draw(st.permutations(queues[topic])))
            for topic in data.draw(st.permutations(list(topics)))
        },
        dict(data.draw(st.permutations(list(owners.items())))),
    )
    assert Sticky().allocate(straight) == Sticky().allocate(mixed)


@given(equal_worlds())
def test_a_settled_group_stays_as_it_is(world: tuple[dict[str, int], list[str], Owners]) -> None:
    """A result allocated again stays as it is."""
    topics, present, owners = world
    after = allocate(topics, everybody(present, topics), owners)
    assert allocate(topics, everybody(present, topics), after) == after


def test_a_leave_moves_only_the_queues_of_the_leaver() -> None:
    """When one of 8 members leaves, of 64 queues only the leaver's 8 move."""
    before = allocate({"orders": 64}, everybody(names(8)))
    after = allocate({"orders": 64}, everybody(names(7)), before)
    changed = [queue for queue in before if after[queue] != before[queue]]
    assert loads(before, names(8)) == [8] * 8
    assert len(changed) == 8
    assert {before[queue] for queue in changed} == {"client-07"}


@pytest.mark.parametrize("members", range(1, 12))
def test_a_join_takes_only_what_the_joiner_lacks(members: int) -> None:
    """When a member joins nobody else gains, and it gets what it is short of."""
    before = allocate({"orders": 64}, everybody(names(members)))
    joined = names(members + 1)
    after = allocate({"orders": 64}, everybody(joined), before)
    changed = [queue for queue in before if after[queue] != before[queue]]
    assert {after[queue] for queue in changed} == {joined[-1]}
    assert len(changed) == 64 // (members + 1)


@pytest.mark.parametrize("more", range(1, 20))
def test_a_growing_topic_moves_no_queue(more: int) -> None:
    """When a topic of a balanced group grows no queue moves."""
    before = allocate({"orders": 30}, everybody(names(7)))
    after = allocate({"orders": 30 + more}, everybody(names(7)), before)
    assert moved(before, after, names(7)) == 0


def test_a_second_client_gets_half_of_six_queues() -> None:
    """Of the 6 queues of one client a second one gets 3."""
    before = allocate({"orders": 6}, everybody(["a"]))
    after = allocate({"orders": 6}, everybody(["a", "b"]), before)
    assert moved(before, after, ["a"]) == 3


def test_four_clients_share_nine_queues_as_3_2_2_2() -> None:
    """4 clients share 9 queues as 3, 2, 2, 2."""
    after = allocate({"orders": 9}, everybody(names(4)))
    assert loads(after, names(4)) == [3, 2, 2, 2]


def test_textbook_revoke_and_add() -> None:
    """A client with queues 1 and 2 too many keeps 3 and gains 4 only if balance asks for it."""
    queues = queues_of("orders", 6)
    before = dict.fromkeys(queues[:4], "a") | dict.fromkeys(queues[4:], "b")
    after = allocate({"orders": 6}, everybody(["a", "b"]), before)
    assert loads(after, ["a", "b"]) == [3, 3]
    assert {after[queue] for queue in queues[4:]} == {"b"}


def test_balance_is_over_all_topics() -> None:
    """Ten topics of one queue each do not all go to the first of five members."""
    topics = {f"topic-{number}": 1 for number in range(10)}
    after = allocate(topics, everybody(names(5), topics))
    assert loads(after, names(5)) == [2] * 5


def test_a_topic_without_subscribers_has_no_owner() -> None:
    """A topic that nobody subscribes has no owner and fails nothing."""
    after = allocate({"orders": 2, "bills": 2}, everybody(["a"]))
    assert set(after) == set(queues_of("orders", 2))


def test_without_members_nothing_is_owned() -> None:
    """A group without members owns nothing."""
    assert allocate({"orders": 2}, {}) == {}


def test_members_are_ordered_as_in_java() -> None:
    """Members stand in the order of Java's strings, whose surrogates sort before U+FFFD."""
    after = allocate({"orders": 1}, everybody(["\ufffd", "\U0001f600"]))
    assert set(after.values()) == {"\U0001f600"}


def test_a_repeated_client_or_queue_counts_once() -> None:
    """A client id or a queue that comes twice counts once."""
    queues = queues_of("orders", 3)
    candidates = (Candidate("a", frozenset({"orders"})),) * 2
    request = AllocationRequest("group", candidates, {"orders": (*queues, *queues)})
    assert owners_of(request, Sticky().allocate(request)) == dict.fromkeys(queues, "a")
