"""Joins the parts of an assignment; an incomplete assignment has no effect."""

from fairlead_client.model import Epoch
from fairlead_client.session.records import Assignment


class AssignmentAssembler:
    """Collects parts until one assignment is complete.

    A part belongs to the assignment only if it has the generation and epoch of part 0. An older
    part never replaces a newer one: the engine repeats an assignment that another one overtook.
    """

    def __init__(self) -> None:
        self._parts: dict[int, Assignment] = {}

    def add(self, record: Assignment) -> tuple[Assignment, ...]:
        """Add one part; return all parts, in order, if it completes the assignment, else ()."""
        if record.parts == 1:
            return (record,)
        known = self._parts.get(record.part)
        if known is not None and _age(known) > _age(record):
            return ()
        self._parts[record.part] = record
        first = self._parts.get(0)
        if first is None:
            return ()
        parts = tuple(
            part
            for index in range(first.parts)
            if (part := self._parts.get(index)) is not None
            and _age(part) == _age(first)
            and part.parts == first.parts
        )
        if len(parts) < first.parts:
            return ()
        self._parts.clear()
        return parts

    def clear(self) -> None:
        """Forget every part, as a new incarnation does."""
        self._parts.clear()


def _age(record: Assignment) -> tuple[int, Epoch]:
    return (record.generation, record.epoch)
