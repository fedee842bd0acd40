"""Reads one part of a member's set as quickly as possible (docs/protocol.md §3.12)."""

from typing import Any, Final, cast

from fairlead.wire.assignment_records import AssignmentPart, HeldEntry
from fairlead.wire.quick_fields import epoch_of, integer_of, member_of, queue_of, text_of

__all__ = ["part_of"]

_STATES: Final = ("held", "draining", "gated")


def part_of(body: dict[str, Any]) -> AssignmentPart:
    """Return one part of a member's set.

    Raises:
        ValueError, KeyError, TypeError, IndexError, AttributeError: the body is not an assignment.
    """
    return AssignmentPart(
        group=text_of(body["group"]),
        member=member_of(body),
        generation=integer_of(body["generation"]),
        epoch=epoch_of(body["epoch"]),
        part=integer_of(body["part"]),
        parts=integer_of(body["parts"]),
        assigned=tuple(_entry(entry) for entry in body["assigned"]),
        at_ms=integer_of(body["at_ms"]),
    )


def _entry(entry: dict[str, Any]) -> HeldEntry:
    state = entry["state"]
    if state not in _STATES:
        raise ValueError("not the state of an entry")
    after = tuple((member_of(each), epoch_of(each["epoch"])) for each in entry.get("after", ()))
    return HeldEntry(queue_of(entry["queue"]), epoch_of(entry["epoch"]), cast("Any", state), after)
