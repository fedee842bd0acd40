"""The records that a client reads, as values; `decoding` makes them from bytes."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Holder, Position, Queue


@dataclass(frozen=True, slots=True)
class Drop:
    """The queue is no longer the client's under this epoch.

    `successor` is the client id of who waits for its release; None: the engine does not say.
    `linger_ms` is how long to work on before the queue is stopped.
    """

    queue: Queue
    epoch: Epoch
    successor: str | None = None
    linger_ms: int = 0


@dataclass(frozen=True, slots=True)
class Add:
    """The queue is the client's under this epoch once every holder in `after` has let go of it.

    `identity` is the life of its topic that `position` is of; None: the engine does not say.
    """

    queue: Queue
    epoch: Epoch
    position: Position
    after: tuple[Holder, ...] = ()
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Assigned:
    """One entry of the whole set; a gated one carries all that an add does."""

    queue: Queue
    epoch: Epoch
    state: str
    add: Add | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One part of what the engine wants a client to have (protocol §3.12)."""

    group: str
    client_id: str
    incarnation: str
    generation: int
    epoch: Epoch
    part: int = 0
    parts: int = 1
    drop: tuple[Drop, ...] = ()
    add: tuple[Add, ...] = ()
    assigned: tuple[Assigned, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """One client let go of a queue at `position`; None: it never started, never will (§3.6)."""

    group: str
    queue: Queue
    holder: Holder
    position: Position | None


@dataclass(frozen=True, slots=True)
class Notice:
    """The engine tells one client something (§3.13); `winner` is (start ms, uuid) of a process.

    `reason` is why the client waits, of a notice `waiting`; None: nothing keeps it any more.
    """

    group: str
    client_id: str
    incarnation: str
    generation: int
    code: str
    message: str
    winner: tuple[int, str] | None = None
    reason: str | None = None
