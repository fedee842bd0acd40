"""A group of RocketMQ as one look has seen it, as values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.group_connections import GroupConnections
from fairlead.rocketmq.running_info import RunningInfo

__all__ = ["FROZEN", "SeenGroup", "SeenMember", "SeenQueue", "is_retry"]

FROZEN: Final = "frozen"
_RETRY: Final = "%RETRY%"


def is_retry(topic: str) -> bool:
    """Return whether a topic holds a group's failed messages (MixAll#RETRY_GROUP_TOPIC_PREFIX)."""
    return topic.startswith(_RETRY)


@dataclass(frozen=True, slots=True)
class SeenQueue:
    """A queue that the group reads.

    Attributes:
        end: the next offset to be written; None: its broker did not say.
        committed: the group's offset; None: it has committed nothing, or nobody said.
    """

    end: int | None = None
    committed: int | None = None

    @property
    def lag(self) -> int | None:
        """How many messages wait; None: not known, for nobody knows where the group begins."""
        if self.end is None or self.committed is None:
            return None
        return max(0, self.end - self.committed)


@dataclass(frozen=True, slots=True)
class SeenMember:
    """A consumer.

    Attributes:
        client_id: its id.
        addresses: broker name -> the addresses of its connections there; several are twins.
        language: its LanguageCode.
        info: what it says of itself; None: it says nothing.
        silence: why it says nothing: "frozen" (it did not answer in time), or the broker's words.
    """

    client_id: str
    addresses: Mapping[str, tuple[str, ...]]
    language: str = "JAVA"
    info: RunningInfo | None = None
    silence: str = ""

    @property
    def twins(self) -> int:
        """How many processes use this id."""
        return max(map(len, self.addresses.values()))

    def to_json(self, lag: int | None) -> dict[str, Any]:
        """Return JSON values; `lag`: how many messages wait in its queues."""
        return {
            "client_id": self.client_id,
            "language": self.language,
            "client_version": self.info.version if self.info else None,
            "seen_by": {name: list(each) for name, each in sorted(self.addresses.items())},
            "silent_because": self.silence or None,
            "works_on": len(self.info.queues) if self.info else None,
            "lag_messages": lag,
        }


@dataclass(frozen=True, slots=True)
class SeenGroup:
    """A group, and the queues of the topics that it reads.

    Attributes:
        name: its name.
        members: in RocketMQ's order of their ids.
        queues: the queues that the routes have, in RocketMQ's order.
        views: broker name -> whom it knows; None: it did not say.
        partial: sentences on what could not be seen.
    """

    name: str
    members: tuple[SeenMember, ...] = ()
    queues: Mapping[MessageQueue, SeenQueue] = field(default_factory=dict)
    views: Mapping[str, GroupConnections | None] = field(default_factory=dict)
    partial: tuple[str, ...] = ()

    @property
    def is_broadcast(self) -> bool:
        """Whether each member reads every queue."""
        return any(each.is_broadcast for each in self.views.values() if each is not None)

    @property
    def model(self) -> str | None:
        """CLUSTERING or BROADCASTING, as a broker says; None: nobody is there."""
        return next((each.model for each in self.views.values() if each and each.model), None)

    @property
    def strategies(self) -> tuple[str, ...]:
        """The simple names of the classes by which members share the queues."""
        named = {each.info.strategy for each in self.members if each.info and each.info.strategy}
        return tuple(sorted(named))

    @property
    def owners(self) -> dict[MessageQueue, tuple[str, ...]]:
        """Each queue of the routes, and who works on it."""
        found: dict[MessageQueue, list[str]] = {queue: [] for queue in self.queues}
        for member in self.members:
            for queue in member.info.queues if member.info else ():
                if queue in found:
                    found[queue].append(member.client_id)
        return {queue: tuple(ids) for queue, ids in found.items()}

    @property
    def lag(self) -> int:
        """How many messages wait, where that is known."""
        return self.lag_of(self.queues)

    def lag_of(self, queues: Iterable[MessageQueue]) -> int:
        """Return how many messages wait in some queues, where that is known."""
        return sum(self.queues[each].lag or 0 for each in queues if each in self.queues)
