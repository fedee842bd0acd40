"""The records that a client reads, as values; `transport.decoding` reads them from bytes."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Holder, Position, Queue
from fairlead_client.session.states import Standing


@dataclass(frozen=True, slots=True)
class Drop:
    """The client no longer owns the queue under this epoch.

    `successor` is the client that waits for the release; None: the engine does not say.
    `linger_ms` is how long the client works on before it stops.
    """

    queue: Queue
    epoch: Epoch
    successor: str | None = None
    linger_ms: int = 0


@dataclass(frozen=True, slots=True)
class Add:
    """The client owns the queue under this epoch once every holder in `after` has released it.

    `identity` is the topic's identity that `position` belongs to; None: the engine does not say.
    """

    queue: Queue
    epoch: Epoch
    position: Position
    after: tuple[Holder, ...] = ()
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Assigned:
    """One entry of the whole set; a gated entry has all fields of an add."""

    queue: Queue
    epoch: Epoch
    state: str
    add: Add | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One part of a client's assignment (protocol §3.12).

    `standing` says who decides what the client holds; the lists of one that follows or freezes are
    empty.
    """

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
    standing: Standing = Standing.OWN


@dataclass(frozen=True, slots=True)
class Release:
    """A client released a queue at `position`; None: it never started and never will (§3.6)."""

    group: str
    queue: Queue
    holder: Holder
    position: Position | None


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice of the engine to one client (§3.13); `winner` is (start ms, uuid) of a process.

    A notice `waiting` gives the `reason` why the client waits; None: it waits no longer.
    """

    group: str
    client_id: str
    incarnation: str
    generation: int
    code: str
    message: str
    winner: tuple[int, str] | None = None
    reason: str | None = None
