"""A group by numbers, as every contestant is given it: topics, members, subscriptions, owners.

Decides nothing. Members and topics have numbers and names made of them; a queue is a topic's number
and its own. ``NOBODY`` stands for the owner of a queue that has none, or whose owner has left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue

NOBODY: Final = -1
_BROKER: Final = "main"

Owners = tuple[tuple[int, ...], ...]
"""Per topic, per queue, the number of its owner."""


@dataclass(frozen=True, slots=True)
class Group:
    """One group.

    Attributes:
        topics: how many queues each topic has.
        subscriptions: lists of topics, each subscribed by the members that name it.
        members: per member, the number of its subscription.
        owners: who owns what now. An owner may have ceased to subscribe the topic.
    """

    topics: tuple[int, ...]
    subscriptions: tuple[tuple[int, ...], ...]
    members: tuple[int, ...]
    owners: Owners

    @classmethod
    def unowned(
        cls,
        topics: Sequence[int],
        subscriptions: Sequence[Sequence[int]],
        members: Sequence[int],
    ) -> Self:
        """Return a group in which nobody owns anything."""
        return cls(
            tuple(topics),
            tuple(tuple(topics) for topics in subscriptions),
            tuple(members),
            tuple((NOBODY,) * count for count in topics),
        )

    @classmethod
    def read(cls, document: dict[str, Any]) -> Self:
        """Return the group of a document."""
        return cls(
            tuple(document["topics"]),
            tuple(tuple(topics) for topics in document["subscriptions"]),
            tuple(document["members"]),
            owners_of(document["owners"]),
        )

    def to_json(self) -> dict[str, Any]:
        """The group as JSON."""
        return {
            "topics": self.topics,
            "subscriptions": self.subscriptions,
            "members": self.members,
            "owners": self.owners,
        }

    def owned_by(self, owners: Owners) -> Self:
        """Return the group with other owners."""
        return replace(self, owners=owners)

    def subscribers(self) -> list[tuple[int, ...]]:
        """Return the members that subscribe each topic, ascending."""
        by_subscription: list[list[int]] = [[] for _ in self.subscriptions]
        for member, number in enumerate(self.members):
            by_subscription[number].append(member)
        by_topic: list[list[int]] = [[] for _ in self.topics]
        for number, topics in enumerate(self.subscriptions):
            for topic in topics:
                by_topic[topic] += by_subscription[number]
        # Topics of one set of subscribers share its tuple: there are few sets and many topics.
        known: dict[tuple[int, ...], tuple[int, ...]] = {}
        ordered = (tuple(sorted(members)) for members in by_topic)
        return [known.setdefault(members, members) for members in ordered]

    def request(self) -> AllocationRequest:
        """Return what the engine would ask a strategy for this group."""
        names = member_names(len(self.members))
        topics = topic_names(len(self.topics))
        wanted = [frozenset(topics[topic] for topic in one) for one in self.subscriptions]
        queues = {
            name: tuple(MessageQueue(name, _BROKER, number) for number in range(count))
            for name, count in zip(topics, self.topics, strict=True)
        }
        owners = {
            queue: names[owner]
            for topic, name in enumerate(topics)
            for queue, owner in zip(queues[name], self.owners[topic], strict=True)
            if owner != NOBODY
        }
        candidates = (
            Candidate(name, wanted[number])
            for name, number in zip(names, self.members, strict=True)
        )
        return AllocationRequest("bench", tuple(candidates), queues, owners)


def owners_of(lists: Sequence[Sequence[int]]) -> Owners:
    """Return owners from the lists of JSON."""
    return tuple(tuple(owners) for owners in lists)


def member_names(count: int) -> list[str]:
    """Return the client ids of so many members, in their order."""
    return [f"member-{number:06}" for number in range(count)]


def topic_names(count: int) -> list[str]:
    """Return the names of so many topics, in their order."""
    return [f"topic-{number:06}" for number in range(count)]
