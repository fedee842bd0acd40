"""The grid of Kafka's own assignor benchmark, and the groups on it.

After ServerSideAssignorBenchmark of Kafka's jmh-benchmarks: members, queues per member, topics,
subscriptions, and whether a group is shared for the first time or a member joins a settled one. Its
HETEROGENEOUS is five buckets of members and topics that have nothing in common; that is five groups
in one. ``overlapping`` is ours: each bucket subscribes the next one's topics too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Final, Literal, get_args

from fairlead_proof.bench.assignors.group import Group

Subscriptions = Literal["equal", "buckets", "overlapping"]
Run = Literal["full", "join"]

SUBSCRIPTIONS: Final[tuple[Subscriptions, ...]] = get_args(Subscriptions)
RUNS: Final[tuple[Run, ...]] = get_args(Run)
_BUCKETS: Final = 5


@dataclass(frozen=True, slots=True)
class Axes:
    """What a run of the benchmark covers."""

    members: Sequence[int]
    queues_per_member: Sequence[int]
    topics: Sequence[int]
    subscriptions: Sequence[Subscriptions] = SUBSCRIPTIONS
    runs: Sequence[Run] = RUNS


DEFAULT: Final = Axes((1_000, 10_000), (10,), (100,))
WHOLE: Final = Axes((100, 500, 1_000, 5_000, 10_000), (5, 10, 50), (10, 100, 1_000))


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the grid."""

    members: int
    queues_per_member: int
    topics: int
    subscriptions: Subscriptions
    run: Run

    @property
    def queues_per_topic(self) -> int:
        """As Kafka's benchmark has it, rounded down."""
        return self.members * self.queues_per_member // self.topics

    @property
    def queues(self) -> int:
        """How many queues the group has."""
        return self.queues_per_topic * self.topics

    def __str__(self) -> str:
        """Say which point it is."""
        size = f"{self.members:,} members, {self.queues:,} queues, {self.topics:,} topics"
        return f"{size}, {self.subscriptions}, {self.run}"

    def first(self) -> Group:
        """Return the group in which nobody owns anything yet: for a join, without the joiner."""
        members = self.members - 1 if self.run == "join" else self.members
        topics = [self.queues_per_topic] * self.topics
        if self.subscriptions == "equal":
            return Group.unowned(topics, [range(self.topics)], [0] * members)
        count = min(_BUCKETS, members, self.topics)
        size = ceil(self.topics / count)
        buckets = [
            range(number * size, min((number + 1) * size, self.topics)) for number in range(count)
        ]
        wanted: list[list[int]] = [list(bucket) for bucket in buckets]
        if self.subscriptions == "overlapping":
            wanted = [
                [*bucket, *buckets[(place + 1) % count]] for place, bucket in enumerate(buckets)
            ]
        of_bucket = ceil(members / count)
        return Group.unowned(topics, wanted, [member // of_bucket for member in range(members)])

    def joined(self, settled: Group) -> Group:
        """Return a settled group with the joiner, who subscribes what the last member does."""
        return Group(
            settled.topics,
            settled.subscriptions,
            (*settled.members, settled.members[-1]),
            settled.owners,
        )


def points(axes: Axes) -> Iterator[Point]:
    """Yield the points, small ones first; those whose topics would have no queue are left out."""
    for members, per_member, topics, subscriptions, run in product(
        axes.members, axes.queues_per_member, axes.topics, axes.subscriptions, axes.runs
    ):
        point = Point(members, per_member, topics, subscriptions, run)
        if point.queues_per_topic:
            yield point
