"""Reads assignment records: a member's whole set of queues, as the engine wrote it."""

from dataclasses import dataclass
from typing import Literal, cast

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.wire.errors import WireError
from fairlead.wire.fields import Fields, Tally
from fairlead.wire.limits import PARTS_MAX
from fairlead.wire.reasons import Reason
from fairlead.wire.strict_json import read_strict
from fairlead.wire.texts import GROUP

__all__ = ["AssignmentPart", "HeldEntry", "read_assignment"]

_ENTRY = frozenset(("queue", "epoch", "state"))
_GATED = frozenset(("position", "why", "after", "identity"))
"""Fields that only a gated entry has."""
_AFTER = frozenset(("client_id", "incarnation", "epoch"))
_STATES = ("held", "draining", "gated")


@dataclass(frozen=True, slots=True)
class HeldEntry:
    """One queue of a member's set: the epoch of its grant, and the state of its handover.

    ``after``: the grants whose release a gated entry waits for, newest first.
    """

    queue: MessageQueue
    epoch: Epoch
    state: Literal["held", "draining", "gated"]
    after: tuple[tuple[MemberKey, Epoch], ...] = ()


@dataclass(frozen=True, slots=True)
class AssignmentPart:
    """One part of a member's set. ``at_ms``: the append time of the newest record behind it."""

    group: str
    member: MemberKey
    generation: int
    epoch: Epoch
    part: int
    parts: int
    assigned: tuple[HeldEntry, ...]
    at_ms: int


def read_assignment(value: bytes) -> AssignmentPart | None:
    """Return the assignment of a record of the assignments topic; None if it is a notice.

    Raises:
        WireError: the record breaks the protocol.
    """
    body = read_strict(value)
    if type(body) is not dict:
        raise WireError(Reason.NOT_AN_OBJECT, None, "the value is not an object", "send one object")
    fields = Fields(body, Tally())
    if fields.get("kind", "assignment") != "assignment":
        return None
    return AssignmentPart(
        group=fields.text("group", GROUP),
        member=fields.member(),
        generation=fields.integer("generation", 1),
        epoch=fields.epoch("epoch"),
        part=fields.integer("part", 0, PARTS_MAX - 1),
        parts=fields.integer("parts", 1, PARTS_MAX),
        assigned=tuple(_entry(entry) for entry in fields.entries("assigned", _ENTRY, _GATED)),
        at_ms=fields.time_ms("at_ms"),
    )


def _entry(fields: Fields) -> HeldEntry:
    state = cast('Literal["held", "draining", "gated"]', fields.word("state", _STATES))
    after: tuple[tuple[MemberKey, Epoch], ...] = ()
    if state == "gated":
        after = tuple(
            (each.member(), each.epoch("epoch")) for each in fields.entries("after", _AFTER)
        )
    return HeldEntry(fields.queue("queue"), fields.epoch("epoch"), state, after)
