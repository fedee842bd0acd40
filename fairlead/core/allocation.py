"""The contract between the engine and an allocation strategy.

A strategy decides who *should* own which queue, never when. It gets every topic of the group, the
members with their subscriptions and the current owners at once, and must be a pure function of that
request.
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
    """A strategy cannot allocate a topic; ``code`` is stable and stands in the audit record."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def described(error: BaseException) -> str:
    """Return an exception's text without addresses: a replay must write the same record."""
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
    """The rules of single queues and clients that operators set at run time.

    ``pins``: the client that shall own a queue; ``bans``: clients that shall not; ``weights`` of
    queues, 0 or more; ``capacities`` of clients, more than 0. Each overrides the strategy's options
    for the same queue or client.
    """

    pins: Mapping[MessageQueue, str] = field(default_factory=dict)
    bans: Mapping[MessageQueue, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[MessageQueue, float] = field(default_factory=dict)
    capacities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AllocationRequest:
    """Everything a strategy may look at. Candidates and queues come sorted as RocketMQ sorts them.

    ``queues`` maps each topic to its readable queues; ``owners`` maps a queue to the client id that
    holds it now; ``slots`` is ``subscribers`` (subscribers share a topic) or ``group`` (every
    member counts, as in RocketMQ). ``queue_zones`` has the zone of a queue's leader, if known.
    ``weights`` are measured ones, for a strategy that ``takes_weights``: a queue without one weighs
    1, and queues of the group's own retry topic have 0 until they are measured. ``placement`` has
    only the rules of single queues and clients that the strategy knows (``takes_rules``).
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

    A client that a topic does not name owns nothing of it, just as one with (). Each topic of the
    request stands in ``topics`` or in ``failures``. ``notes``: sentences on how the answer falls
    short because the strategy stopped at a limit of its own; the answer counts all the same.
    """

    topics: Mapping[str, Mapping[str, tuple[MessageQueue, ...]]]
    failures: Mapping[str, AllocationError] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Strategy(Protocol):
    """An allocation strategy. ``name`` is its name on the wire.

    It may have ``check_options(options)``, which raises AllocationError for bad options; the engine
    calls it for each new rule. With ``takes_weights = True`` it gets the weights of queues, and the
    engine asks again when they change. ``takes_rules`` names the rules of single queues and clients
    that it knows, some of ``pin``, ``ban``, ``weight``, ``capacity``: it gets them in the request,
    and an alarm says that other ones do nothing.
    """

    @property
    def name(self) -> str:
        """The name by which rules choose it."""
        ...

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Allocate every topic of the request."""
        ...
