"""How large a world is that is searched, and the names of those who live in it."""

from dataclasses import dataclass
from enum import StrEnum

from fairlead_client.model import Subscription as ClientSubscription

from fairlead.core.model import (
    MemberKey,
    MemberProfile,
    MessageQueue,
    Process,
    Route,
    RouteBroker,
    Subscription,
)
from fairlead.core.records import Heartbeat, OffsetsKnown, QueueOffsets

__all__ = ["GROUP", "Restart", "World"]

GROUP = "orders"
TOPIC = "orders"
BROKER_NAME = "main"
IDENTITY = "first"
PROCESS_START_MS = 1


class Restart(StrEnum):
    """With which state a driver starts that takes over from another."""

    LOST = "lost"
    """With none: the checkpoint is gone."""
    OLD = "old"
    """With one that is older than what was written."""
    INTACT = "intact"
    """With the newest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The bounds of one search. Within them everything happens in every order.

    ``moves``: how often an operator aims a queue at another client, after the first target.
    ``deaths``: how many clients crash, leave or lose their lease. ``losses``: how often another
    driver starts, with the state that ``restart`` says. ``offsets``: how many messages a queue has.
    ``comebacks``: how many incarnations follow one that lost its lease. ``resets``: how often an
    operator moves the start of a queue, back to its first message or behind its last. ``zombie``:
    the old driver goes on beside the new one, until it reads a tick of it. ``mutes``: how often a
    client is found mute, under the rule that queues are taken from who is. ``lost``: how many
    assignments are lost for good; then every digest is heard. ``eager``: the group hands over
    without waiting. ``ordered``: the first client wants its messages in order. A world in which
    the engine need not wait is called unsafe: two may work on one queue where the engine marks it.
    """

    clients: int = 3
    queues: int = 1
    moves: int = 1
    deaths: int = 0
    losses: int = 0
    offsets: int = 1
    cap: int = 2
    comebacks: int = 0
    resets: int = 0
    mutes: int = 0
    lost: int = 0
    eager: bool = False
    ordered: bool = False
    zombie: bool = False
    restart: Restart = Restart.LOST
    prune: bool = True
    """Whether records that can never again have an effect are left out of the states."""

    @property
    def name(self) -> str:
        """The world in the words of the tables: cap, clients, queues, bounds."""
        bounds = f"{self.moves}/{self.deaths}/{self.losses}/{self.offsets}"
        words = [f"K={self.cap}", f"{self.clients} clients", f"{self.queues} queues", bounds]
        if self.comebacks:
            words.append(f"{self.comebacks} comebacks")
        if self.resets:
            words.append(f"{self.resets} resets")
        if self.mutes:
            words.append(f"{self.mutes} mute")
        if self.lost:
            words.append(f"{self.lost} lost records")
        words += [word for word in ("eager", "ordered") if getattr(self, word)]
        if self.eager or self.mutes:
            words.append("unsafe")
        if self.losses:
            words.append(self.restart)
        if self.zombie:
            words.append("zombie")
        if not self.prune:
            words.append("unpruned")
        return " ".join(words)

    def heartbeat(self, member: MemberKey, lives: int) -> Heartbeat:
        """Return a member's first heartbeat."""
        ordered = self.ordered and member.client_id == self.client_ids[0]
        profile = MemberProfile(consume_from="first_offset", ordered=ordered)
        process = process_of(member.client_id)
        return Heartbeat(GROUP, member, process, lives, 1, 0, profile, SUBSCRIPTIONS, None, 0)

    @property
    def client_ids(self) -> tuple[str, ...]:
        """The client ids, in order."""
        return tuple(f"c{number}" for number in range(self.clients))

    @property
    def message_queues(self) -> tuple[MessageQueue, ...]:
        """The queues, in order."""
        return tuple(MessageQueue(TOPIC, BROKER_NAME, number) for number in range(self.queues))

    @property
    def route(self) -> Route:
        """The one topic's route."""
        return Route(TOPIC, IDENTITY, (RouteBroker(BROKER_NAME, 6, self.queues, self.queues),))

    @property
    def offsets_known(self) -> OffsetsKnown:
        """What a bridge answers: the bounds of each queue, and that nothing was committed."""
        known = tuple(
            QueueOffsets(queue, 0, self.offsets, None, None) for queue in self.message_queues
        )
        return OffsetsKnown(GROUP, TOPIC, IDENTITY, known)


def member_key(client_id: str, life: int) -> MemberKey:
    """Return the member that a client is in one of its lives."""
    return MemberKey(client_id, f"{client_id}.{life}")


def life_of(member: MemberKey) -> int:
    """Return which life of its client a member is."""
    return int(member.incarnation.rpartition(".")[2])


def process_of(client_id: str) -> Process:
    """Return the process of a client, the same in all of its lives."""
    return Process(PROCESS_START_MS, client_id)


SUBSCRIPTIONS = (Subscription(TOPIC),)
CLIENT_SUBSCRIPTIONS = (ClientSubscription(TOPIC),)
