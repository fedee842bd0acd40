"""The contract between the engine and an allocation strategy.

A strategy decides who *should* own which queue; it never decides when. It receives every topic of
the group, the members with their subscriptions and the current owners at once, and must be a pure
function of that request.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from fairlead.core.model import MessageQueue

__all__ = [
    "Allocation",
    "AllocationError",
    "AllocationRequest",
    "Candidate",
    "Placement",
    "Strategy",
    "described",
]

ERROR_TEXT_MAX = 200


class AllocationError(Exception):
    """A strategy cannot allocate a topic. ``code`` is stable and stands in the audit record."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def described(error: BaseException) -> str:
    """Word an exception without what differs from run to run: the record must be the same again."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - a user's exception may not even say what it is
        said = ""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x…", said)
    return f"{type(error).__name__}: {text[:ERROR_TEXT_MAX]}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member as a strategy sees it."""

    client_id: str
    topics: frozenset[str]
    zone: str | None = None
    capacity: int = 1


@dataclass(frozen=True, slots=True)
class Placement:
    """What operators said of single queues and clients at run time.

    ``pins``: the client that shall own a queue; ``bans``: clients that shall not; ``weights`` of
    queues, 0 or more; ``capacities`` of clients, more than 0. Each goes before what the strategy's
    options say of the same queue or client.
    """

    pins: Mapping[MessageQueue, str] = field(default_factory=dict)
    bans: Mapping[MessageQueue, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[MessageQueue, float] = field(default_factory=dict)
    capacities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """Everything a strategy may look at. Candidates and queues come sorted as RocketMQ sorts them.

    ``queues`` maps each topic to its readable queues; ``owners`` maps a queue to the client id that
    holds it now; ``slots`` is ``subscribers`` (a topic is shared by its subscribers) or ``group``
    (every member counts, as in RocketMQ). ``queue_zones`` says where a queue's leader stands, as
    far as that is known. ``weights`` are measured ones, for a strategy that ``takes_weights``: a
    queue that is not named weighs 1. Those of the group's own retry topic are named, with 0 until
    they are measured. ``placement`` has the rules of single queues and clients that the strategy
    says it takes (``takes_rules``), and no others.
    """

    group: str
    candidates: tuple[Candidate, ...]
    queues: Mapping[str, tuple[MessageQueue, ...]]
    owners: Mapping[MessageQueue, str] = field(default_factory=dict)
    slots: str = "subscribers"
    options: Mapping[str, Any] = field(default_factory=dict)
    queue_zones: Mapping[MessageQueue, str] = field(default_factory=dict)
    weights: Mapping[MessageQueue, float] = field(default_factory=dict)
    placement: Placement = field(default_factory=Placement)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Who should own what: topic -> client id -> queues in the strategy's order.

    A client that a topic does not name owns nothing of it, as one that it names with (). And the
    topics that failed: of each topic asked for one or the other is said. ``notes``: sentences that
    say in what the answer falls short of what the strategy aims at because it stopped at a limit of
    its own; the answer stands all the same.
    """

    topics: Mapping[str, Mapping[str, tuple[MessageQueue, ...]]]
    failures: Mapping[str, AllocationError] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Strategy(Protocol):
    """An allocation strategy. ``name`` is its name on the wire.

    It may have ``check_options(options)``, which raises AllocationError for options that a rule
    shall not put in force. It is called when such a rule comes. With ``takes_weights = True`` it
    is given what queues weigh, and asked anew when that changes. And ``takes_rules``: the rules of
    single queues and clients that it takes, some of ``pin``, ``ban``, ``weight``, ``capacity``; it
    is given them in the request, and while there are others an alarm says that they do nothing.
    """

    @property
    def name(self) -> str:
        """The name by which rules choose it."""
        ...

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Allocate every topic of the request."""
        ...
