"""What an answer is worth: how even it is and how many queues it moves; and which of two is better.

Loads are numbers of queues, over all topics of the group. Of two answers the more even one has the
smaller sum of squared loads, Kafka's own measure too; two are equally even if their loads, sorted,
are the same. A move is a queue whose owner could have kept it and does not; what an owner cannot
keep (it left, or no longer subscribes) moves under every answer alike and does not count.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import chain

from fairlead_proof.bench.assignors.group import NOBODY, Group, Owners


class BadAnswerError(ValueError):
    """A queue went to somebody who does not subscribe it, or to nobody though somebody does."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer, measured.

    Attributes:
        moved: queues taken from an owner that could have kept them.
        loads: queues of each member, most first.
        topic_spread: the most that two subscribers of one topic differ by within it.
    """

    moved: int
    loads: tuple[int, ...]
    topic_spread: int

    @property
    def spread(self) -> int:
        """Queues of the member that has most less those of the one that has least."""
        return self.loads[0] - self.loads[-1] if self.loads else 0

    @property
    def squares(self) -> int:
        """The sum of squared loads."""
        return sum(load * load for load in self.loads)


def outcome(group: Group, after: Owners) -> Outcome:
    """Measure an answer.

    Raises:
        BadAnswerError: it is none.
    """
    moved = 0
    topic_spread = 0
    loads = Counter(dict.fromkeys(range(len(group.members)), 0))
    members_of: dict[tuple[int, ...], frozenset[int]] = {}
    for topic, subscribers in enumerate(group.subscribers()):
        members = members_of.setdefault(subscribers, frozenset(subscribers))
        owned = Counter(after[topic])
        strangers = owned.keys() - (members or {NOBODY})
        if strangers or len(after[topic]) != group.topics[topic]:
            raise BadAnswerError(f"topic {topic} went to members {sorted(strangers)}")
        if members:
            loads.update(owned)
            least = min(owned.values()) if len(owned) == len(members) else 0
            topic_spread = max(topic_spread, max(owned.values(), default=0) - least)
        moved += sum(
            now != before
            for before, now in zip(group.owners[topic], after[topic], strict=True)
            if before in members
        )
    return Outcome(moved, tuple(sorted(loads.values(), reverse=True)), topic_spread)


def is_worse(ours: Outcome, theirs: Outcome) -> bool:
    """Tell whether ours is less even: by squares, by the most, by the least or by the spread."""
    return ours.loads != theirs.loads and (
        ours.squares >= theirs.squares
        or ours.loads[0] > theirs.loads[0]
        or ours.loads[-1] < theirs.loads[-1]
    )


def moves_more(ours: Outcome, theirs: Outcome) -> bool:
    """Tell whether ours moves more queues than an answer that is as even."""
    return ours.loads == theirs.loads and ours.moved > theirs.moved


def least_moves(group: Group) -> int | None:
    """Return the fewest moves of a share that is as even as can be; None if that is not simple.

    It is where subscribers fall into parts that have no topic in common. A part of n members and q
    queues gives each q // n and q % n of them one more; who holds more than its share loses the
    rest, and those that hold more are the first to have one more.
    """
    parts: dict[tuple[int, ...], list[int]] = {}
    for topic, subscribers in enumerate(group.subscribers()):
        if subscribers:
            parts.setdefault(subscribers, []).append(topic)
    everybody = list(chain.from_iterable(parts))
    if len(everybody) != len(set(everybody)):
        return None
    least = 0
    for members, topics in parts.items():
        held = Counter(chain.from_iterable(group.owners[topic] for topic in topics))
        base, rest = divmod(sum(group.topics[topic] for topic in topics), len(members))
        above = [held[member] - base for member in members if held[member] > base]
        least += sum(above) - min(rest, len(above))
    return least
