"""The words of the protocol as values: queue, epoch, position, holder, subscription, process.

Plain immutable values, without input, output or clock. Their order is the order of the protocol:
epochs and positions compare as pairs.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Queue(NamedTuple):
    """A queue of a topic; on Kafka a topic partition, with the cluster's name as broker name."""

    topic: str
    broker_name: str
    queue_id: int


class Epoch(NamedTuple):
    """A group's decision, [generation, number]; it only grows for each queue, so it fences."""

    generation: int
    number: int


class Position(NamedTuple):
    """[reset, offset]: `offset` is the next one to read, `reset` the operator's reset it follows.

    A reset is a control offset + 1, 0 = none. Compared as a pair, so that whatever follows a newer
    reset wins over anything older, also when its offset is lower.
    """

    reset: int
    offset: int


class Holder(NamedTuple):
    """Who was granted a queue: one incarnation of a client, under one epoch."""

    client_id: str
    incarnation: str
    epoch: Epoch


EPOCH_ZERO = Epoch(0, 0)
"""Below every epoch that an engine issues: generations start at 1."""


ALL_TAGS = "*"
"""The tag expression of who wants every message."""


POSITION_ZERO = Position(0, 0)
"""The start of a queue that no operator has reset."""


class Progress(NamedTuple):
    """How far one queue is processed, contiguously, under one epoch.

    `end` is the next offset to be written, as far as the application told it. `identity` is the
    life of its topic that the position is of, as the add said. `idle_ms` is how long ago a pull
    was last tried under this epoch; None: the application does not tell.
    """

    queue: Queue
    epoch: Epoch
    position: Position
    end: int | None = None
    identity: str | None = None
    idle_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Subscription:
    """A topic that the client wants queues of, with RocketMQ's filter.

    `tags` are those of a tag expression where somebody has parted it already. `sub_version` tells
    a newer subscription of the same topic from an older one, in ms since 1970; 0: the client gives
    one that is greater than each before, also where its clock is set back.
    """

    topic: str
    expression: str = "*"
    expression_type: str = "tag"
    tags: tuple[str, ...] = field(default=())
    sub_version: int = 0

    @property
    def wanted_tags(self) -> tuple[str, ...]:
        """The tags of a tag expression `A || B`, each once; none where all messages are wanted.

        All are wanted by an expression that names no tag, and by one that has `*` among them.
        """
        told = self.tags or self.expression.split("||")
        tags = tuple(dict.fromkeys(tag for each in told if (tag := each.strip())))
        return () if ALL_TAGS in tags else tags


@dataclass(frozen=True, slots=True)
class Process:
    """One operating system process; of two with one client id the greater pair is the client."""

    start_ms: int
    uuid: str

    @property
    def rank(self) -> tuple[int, str]:
        """What two processes with the same client id are compared by."""
        return (self.start_ms, self.uuid)
