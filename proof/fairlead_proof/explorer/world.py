"""The bounds of a searched world, and the names of its clients and queues."""

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

__all__ = ["GROUP", "Restart", "WorldBounds"]

GROUP = "orders"
TOPIC = "orders"
BROKER_NAME = "main"
IDENTITY = "first"
PROCESS_START_MS = 1


class Restart(StrEnum):
    """The state with which a new driver starts."""

    LOST = "lost"
    """No state: the checkpoint is gone."""
    OLD = "old"
    """A state older than the written records."""
    INTACT = "intact"
    """The newest state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldBounds:
    """The bounds of one search. Within them everything happens in every order.

    Attributes:
        thin: how many of the clients, from the first one on, reach the log through gateways.
        moves: how often an operator aims a queue at another client, after the first target.
        deaths: how many clients crash, leave or lose their lease.
        losses: how often another driver starts, with the state of ``restart``.
        offsets: how many messages a queue has.
        cap: how many unresolved grants a queue may have.
        comebacks: how many incarnations follow one that lost its lease.
        resets: how often an operator resets a queue to its first message or behind its last.
        mutes: how often an engine finds a client mute and forces its queues from it.
        lost: how many assignments are lost for good; then the engine compares every digest.
        eager: the group hands over without waiting. With this or ``mutes`` two clients may work on
            a queue that the engine marks unsafe.
        ordered: the first client wants its messages in order.
        zombie: the old driver goes on beside the new one, until it reads a tick of it.
    """

    clients: int = 3
    thin: int = 0
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
    """Whether states leave out records that can never have an effect again."""

    @property
    def name(self) -> str:
        """The name of the world in tables: cap, clients, queues, bounds."""
        bounds = f"{self.moves}/{self.deaths}/{self.losses}/{self.offsets}"
        words = [f"K={self.cap}", f"{self.clients} clients", f"{self.queues} queues", bounds]
        if self.thin:
            words.insert(2, f"{self.thin} thin")
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
        """A bridge's answer: the bounds of each queue, without commits."""
        known = tuple(
            QueueOffsets(queue, 0, self.offsets, None, None) for queue in self.message_queues
        )
        return OffsetsKnown(GROUP, TOPIC, IDENTITY, known)


def member_key(client_id: str, life: int) -> MemberKey:
    """Return the member key of one incarnation of a client."""
    return MemberKey(client_id, f"{client_id}.{life}")


def thin_key(client_id: str, life: int) -> MemberKey:
    """Return the member key of one session of a thin client.

    A gateway draws the name, so a later session may rank below an earlier one: here each does.
    """
    return MemberKey(client_id, f"{client_id}.{chr(ord('z') + 1 - life)}")


def life_of(member: MemberKey) -> int:
    """Return the number of a member's incarnation."""
    name = member.incarnation.rpartition(".")[2]
    return int(name) if name.isdecimal() else ord("z") + 1 - ord(name)


def lives_of(member: MemberKey) -> tuple[MemberKey, ...]:
    """Return a member and its client's incarnations before it, oldest first."""
    is_thin = not member.incarnation.rpartition(".")[2].isdecimal()
    key = thin_key if is_thin else member_key
    return tuple(key(member.client_id, life) for life in range(1, life_of(member) + 1))


def process_of(client_id: str) -> Process:
    """Return the process of a client, the same for all incarnations."""
    return Process(PROCESS_START_MS, client_id)


SUBSCRIPTIONS = (Subscription(TOPIC),)
CLIENT_SUBSCRIPTIONS = (ClientSubscription(TOPIC),)
