"""The grid is that of Kafka's benchmark, and its groups are as Kafka makes them."""

from collections import Counter

import pytest
from fairlead_proof.bench.assignors.grid import DEFAULT, WHOLE, Point, Subscriptions, points
from fairlead_proof.bench.assignors.group import NOBODY


def test_the_whole_grid_has_every_size_kind_and_run() -> None:
    """5 x 3 x 3 sizes with 3 kinds of subscriptions and 2 runs, without topics of no queue."""
    found = list(points(WHOLE))
    sizes = {(point.members, point.queues_per_member, point.topics) for point in found}
    assert (100, 5, 1_000) not in sizes
    assert len(sizes) == 5 * 3 * 3 - 1
    assert len(found) == len(sizes) * 3 * 2


def test_default_has_both_sizes() -> None:
    """Without a word, 1,000 members with 10,000 queues and 10,000 with 100,000 are measured."""
    assert {(point.members, point.queues) for point in points(DEFAULT)} == {
        (1_000, 10_000),
        (10_000, 100_000),
    }


@pytest.mark.parametrize(
    "kind, wanted",
    [
        ("equal", [(0, 1, 2, 3, 4, 5, 6)]),
        ("buckets", [(0, 1), (2, 3), (4, 5), (6,), ()]),
        ("overlapping", [(0, 1, 2, 3), (2, 3, 4, 5), (4, 5, 6), (6,), (0, 1)]),
    ],
)
def test_topics_and_members_are_cut_into_five_parts(
    kind: Subscriptions, wanted: list[tuple[int, ...]]
) -> None:
    """Topics and members are cut into five parts, each rounded up, as Kafka's benchmark does."""
    group = Point(12, 7, 7, kind, "full").first()
    assert list(group.subscriptions) == wanted
    assert group.topics == (12,) * 7
    sizes = Counter(group.members)
    assert sizes == ({0: 12} if kind == "equal" else {0: 3, 1: 3, 2: 3, 3: 3})


def test_the_joiner_owns_nothing_at_first() -> None:
    """A join has one member less at first; the joiner owns nothing and subscribes as the last."""
    point = Point(11, 4, 5, "buckets", "join")
    settled = point.first().owned_by(((0,) * 8,) * 5)
    joined = point.joined(settled)
    assert len(settled.members) == 10
    assert joined.members == (*settled.members, settled.members[-1])
    assert joined.owners == settled.owners
    assert point.first().owners == ((NOBODY,) * 8,) * 5
