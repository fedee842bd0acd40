"""The terms of the protocol as immutable values. Epochs and positions compare as pairs."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple


class Queue(NamedTuple):
    """A queue of a topic; on Kafka a topic partition, with the cluster's name as broker name."""

    topic: str
    broker_name: str
    queue_id: int


class Epoch(NamedTuple):
    """A group's decision, [generation, number]. A queue's epoch only grows, so it fences."""

    generation: int
    number: int


class Position(NamedTuple):
    """[reset, offset]: `offset` is the next one to read, `reset` the operator's reset it follows.

    A reset is a control offset + 1; 0 means none. Positions compare as pairs, so a position after
    a newer reset wins over an older one, even with a lower offset.
    """

    reset: int
    offset: int


class Holder(NamedTuple):
    """The holder of a queue: one incarnation of a client, under one epoch."""

    client_id: str
    incarnation: str
    epoch: Epoch


class DataPlane(NamedTuple):
    """Where a member reads, and the id under which that data plane lists it."""

    kind: str
    member: str


EPOCH_ZERO = Epoch(0, 0)
"""Below every epoch that an engine issues: generations start at 1."""


ALL_TAGS = "*"
"""The tag expression for every message."""


POSITION_ZERO = Position(0, 0)
"""The start of a queue that no operator has reset."""


class Progress(NamedTuple):
    """How far one queue is processed without gaps, under one epoch.

    Attributes:
        queue: the queue.
        epoch: the epoch of the work.
        position: the next position to read.
        end: the next offset to be written, if the application reported it.
        identity: the identity of the topic that the position belongs to, as the add named it.
        idle_ms: how long ago a pull was last tried under this epoch; None if nobody reports it.
    """

    queue: Queue
    epoch: Epoch
    position: Position
    end: int | None = None
    identity: str | None = None
    idle_ms: int | None = None


@lru_cache(maxsize=1_000)
def _wanted_tags(named: tuple[str, ...]) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tag for name in named if (tag := name.strip())))
    return () if ALL_TAGS in tags else tags


@dataclass(frozen=True, slots=True)
class Subscription:
    """A topic that the client subscribes to, with RocketMQ's filter.

    Attributes:
        topic: the topic's name.
        expression: the tags, such as `A || B`; `*` for all messages.
        expression_type: `tag`; the client evaluates no other type.
        tags: the tags one by one, instead of the expression.
        sub_version: orders subscriptions of one topic, in ms since 1970. With 0 the client chooses
            a greater version than before, even if its clock was set back.
    """

    topic: str
    expression: str = "*"
    expression_type: str = "tag"
    tags: tuple[str, ...] = field(default=())
    sub_version: int = 0

    @property
    def wanted_tags(self) -> tuple[str, ...]:
        """The tags of the expression `A || B`, each once; empty if all messages are wanted.

        An expression without a tag, or with `*` among its tags, wants all messages.
        """
        return _wanted_tags(self.tags or tuple(self.expression.split("||")))


@dataclass(frozen=True, slots=True)
class Process:
    """One operating system process; of two with one client id, the greater pair is the client."""

    start_ms: int
    uuid: str

    @property
    def rank(self) -> tuple[int, str]:
        """The pair that orders two processes with the same client id."""
        return (self.start_ms, self.uuid)
