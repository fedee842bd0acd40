"""Who works on which queue right now, by the consumers' own words through the brokers (307)."""

from collections.abc import Mapping
from dataclasses import dataclass

from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError
from fairlead.native.cluster_look import NativeReader

__all__ = ["Holders", "holders_of"]


@dataclass(frozen=True, slots=True)
class Holders:
    """What one look has seen.

    Attributes:
        held: by consumer, the queues of the topic that it works on.
        silent: consumers that the brokers list and that do not answer.
    """

    held: Mapping[str, frozenset[MessageQueue]]
    silent: frozenset[str] = frozenset()

    def is_shared_among(self, consumers: frozenset[str], queues: frozenset[MessageQueue]) -> bool:
        """Tell whether these consumers share these queues: each has one owner, and a fair share."""
        sizes = [len(self.held.get(who, ())) for who in consumers]
        owned = [queue for who in self.held for queue in self.held[who]]
        return (
            set(self.held) == consumers
            and len(owned) == len(queues)
            and set(owned) == queues
            and max(sizes) - min(sizes) <= 1
        )


def holders_of(reader: NativeReader, group: str, topic: str) -> Holders | None:
    """Look once; None: something cannot be seen at the moment.

    A consumer's name is what follows the @ in its id, as `setInstanceName` has set it.
    """
    try:
        look = reader.look(group.__eq__)
    except EnvironmentMissingError:
        return None
    if not look.groups or look.groups[0].unread:
        return None
    members = look.groups[0].members
    return Holders(
        {
            _name(member.member_id): frozenset(
                queue for queue in member.owns if queue.topic == topic
            )
            for member in members
            if not member.silence
        },
        frozenset(_name(member.member_id) for member in members if member.silence),
    )


def _name(client_id: str) -> str:
    return client_id.partition("@")[2]
